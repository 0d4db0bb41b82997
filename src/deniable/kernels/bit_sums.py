"""Count the set bits of reports that are nothing but bits, per position.

Model: reports of b bytes lie one after the other, so that every lcm(b, 64) bytes of memory the same
positions come again at a multiple of 64 bytes. Memory is read as rows of that length, 15 rows at a
time, each column of 64 bits into planes of its own (kernels/adders.py): no report is copied or
looked at by itself. The bits of a row are then added up report by report.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.kernels._jit import njit
from deniable.kernels.adders import (
    ADDITIONS,
    BLOCK,
    BUFFER,
    ROW,
    ROWS,
    Integers,
    Words,
    add_buffer,
    empty_planes,
)

Bytes = NDArray[np.uint8]

_CHUNK = 2**22
"""Bytes copied at a time where reports do not lie one after the other."""


def sum_bits(packed: Bytes, bits: int) -> Integers:
    """Return how often each bit is set, over all rows of packed reports.

    Guarantees: exact for any number of reports, which are not changed.

    Cost: the time to read the bytes, or nearly; 96 lcm(b, 64) / 8 bytes beside the result. Reports
    that are a part of wider records are copied, 4 MB at a time.

    Args:
        packed: a row of b = ceil(k / 8) bytes per report.
        bits: k.

    Raises:
        InvalidReport: if a padding bit is set.
    """
    width = packed.shape[1]
    table = np.zeros(8 * width, dtype=np.int64)
    if packed.flags.c_contiguous:
        _add_rows(packed, table)
    else:
        step = max(1, _CHUNK // width)
        for start in range(0, len(packed), step):
            _add_rows(np.ascontiguousarray(packed[start : start + step]), table)
    if table[bits:].any():
        raise InvalidReport("record", "The padding bits of the last byte must be zero.")
    return table[:bits]


def _add_rows(packed: Bytes, table: Integers) -> None:
    """Add the bits of reports that lie one after the other to the table."""
    row = math.lcm(packed.shape[1], 64)
    memory: NDArray[Any] = packed.reshape(-1)
    whole = memory.size // (ROWS * row) * (ROWS * row)
    # The last rows, with zeros up to a whole number of additions.
    rest = np.zeros(ROWS * row if whole < memory.size else 0, dtype=np.uint8)
    rest[: memory.size - whole] = memory[whole:]
    sums = np.zeros(8 * row, dtype=np.int64)
    for part in (memory[:whole], rest):
        if part.size:
            words = part if part.ctypes.data % 8 == 0 else part.copy()
            _sum(words.view(np.uint64), row // 64, sums)
    table += sums.reshape(-1, table.size).sum(axis=0)


@njit
def _sum(words: Words, groups: int, sums: Integers) -> None:
    """Add the bits of a whole number of 15 rows, each of `groups` groups of 8 words."""
    blocks = np.zeros((groups, BLOCK), dtype=np.uint64)
    additions = 0
    for start in range(0, words.size, BUFFER * groups):
        for group in range(groups):
            block = blocks[group]
            for row in range(ROWS):
                # Unsigned: Numba checks signed indices for being negative.
                at, to = np.uint64(start + ROW * (row * groups + group)), np.uint64(ROW * row)
                for word in range(ROW):
                    block[to + np.uint64(word)] = words[at + np.uint64(word)]
            add_buffer(block)
        additions += 1
        if additions == ADDITIONS:
            additions = 0
            _empty(blocks, sums)
    _empty(blocks, sums)


@njit
def _empty(blocks: Words, sums: Integers) -> None:
    for group in range(len(blocks)):
        empty_planes(blocks[group], ROW, sums[64 * ROW * group : 64 * ROW * (group + 1)])

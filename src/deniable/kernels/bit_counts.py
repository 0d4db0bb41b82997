"""Count the set bits of reports, per bit position and cohort, with bit-sliced counters.

Model: each cohort has a block of kernels/adders.py: a buffer that reports fill side by side, and
planes to which a full buffer is added. So a report costs a copy and a fraction of an addition,
instead of one addition per bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.kernels._jit import njit
from deniable.kernels.adders import (
    ADDITIONS,
    BLOCK,
    BUFFER,
    ROW,
    Integers,
    add_buffer,
    empty_planes,
)

Bytes = NDArray[np.uint8]

# Indices are unsigned in the inner loop: Numba checks signed ones for being negative.
_0, _1, _2, _3, _4, _5, _6, _7, _8 = (np.uint64(i) for i in range(9))
_FULL = np.uint64(BUFFER)


def count_bits(reports: NDArray[Any], cohorts: int, bits: int) -> tuple[Integers, Integers]:
    """Return the number of reports per cohort, and of set bits per cohort and position.

    Guarantees: exact for any number of reports, which are neither copied nor changed.

    Cost: linear in n and in ceil(k / 64). Per cohort 1.7 kB of memory beside the 8 k bytes of the
    result, and about 2 microseconds if it occurs.

    Args:
        reports: a flat structured array of `cohort` (<u2) and `bits` (u1, ceil(k / 8) of them).
            It may be one field of a wider record.
        cohorts: m.
        bits: k.

    Returns:
        An array of m integers and one of m x k.

    Raises:
        InvalidReport: if a cohort is not below m, or a padding bit is set.
    """
    totals = np.zeros(cohorts, dtype=np.int64)
    table = np.zeros((cohorts, -(-bits // 64) * 64), dtype=np.int64)
    if reports.size:
        _count_all(reports, totals, table)
    if table[:, bits:].any():
        raise InvalidReport("record", "The padding bits of the last byte must be zero.")
    return totals, np.ascontiguousarray(table[:, :bits])


def _count_all(reports: NDArray[Any], totals: Integers, table: Integers) -> None:
    """Write the counts of at least one report, 8 words of its bits at a time."""
    if reports.strides[0] < reports.itemsize:  # reversed or repeated: rare, so copied
        reports = np.ascontiguousarray(reports)
    places = dict(reports.dtype.fields or {})
    cohort_at, bits_at = places["cohort"][1], places["bits"][1]
    width = reports.dtype["bits"].itemsize
    raw = np.asarray(_Memory(reports))
    for start in range(0, width, 8 * ROW):
        size = min(width - start, 8 * ROW)
        where = _Where(reports.size, reports.strides[0], cohort_at, bits_at + start, size)
        columns = np.zeros((totals.size, -(-size // 8) * 64), dtype=np.int64)
        totals[:] = 0
        if not _count(raw, where, totals, columns):
            raise InvalidReport("record", f"The cohort must be below {totals.size}.")
        table[:, 8 * start : 8 * start + columns.shape[1]] = columns


class _Memory:
    """The bytes from the first record of an array to the end of its last, read-only."""

    def __init__(self, reports: NDArray[Any]) -> None:
        self._owner = reports
        self.__array_interface__ = {
            "version": 3,
            "data": (reports.__array_interface__["data"][0], True),
            "shape": ((reports.size - 1) * reports.strides[0] + reports.itemsize,),
            "typestr": "|u1",
        }


class _Where(NamedTuple):
    """Where the kernel finds its bytes.

    Attributes:
        records: how many there are.
        stride: from the start of one to the start of the next.
        cohort_at, bits_at: places in a record.
        size: the number of bytes of bits, 1 to 64.
    """

    records: int
    stride: int
    cohort_at: int
    bits_at: int
    size: int


@njit
def _count(raw: Bytes, where: _Where, totals: Integers, table: Integers) -> bool:
    """Count up to 64 bytes of each record; False if a cohort is outside the table."""
    whole, rest = where.size // 8, where.size % 8
    slot = 1  # words from one record to the next: a power of two, so that records fill rows
    while 8 * slot < where.size:
        slot *= 2
    state = np.zeros((totals.size, BLOCK), dtype=np.uint64)
    filled = np.zeros(totals.size, dtype=np.uint64)
    additions = np.zeros(totals.size, dtype=np.int64)
    for i in range(where.records):
        at = np.uint64(i * where.stride + where.cohort_at)
        c = np.uint64(raw[at]) | (np.uint64(raw[at + _1]) << _8)
        if c >= np.uint64(totals.size):
            return False
        at = np.uint64(i * where.stride + where.bits_at)
        to = filled[c]
        if where.size == 16:  # 128 bits: worth unrolling
            state[c, to] = _word(raw, at)
            state[c, to + _1] = _word(raw, at + _8)
        else:
            for w in range(whole):
                state[c, to + np.uint64(w)] = _word(raw, at + np.uint64(8 * w))
            if rest:
                state[c, to + np.uint64(whole)] = _part(raw, at + np.uint64(8 * whole), rest)
        filled[c] = to + np.uint64(slot)
        if filled[c] == _FULL:
            filled[c] = _0
            additions[c] += 1
            totals[c] += BUFFER // slot
            add_buffer(state[c])
            if additions[c] == ADDITIONS:
                additions[c] = 0
                empty_planes(state[c], slot, table[c])
    for cohort in range(totals.size):
        if filled[cohort] or additions[cohort]:
            state[cohort, np.int64(filled[cohort]) : BUFFER] = 0
            totals[cohort] += np.int64(filled[cohort]) // slot
            add_buffer(state[cohort])
            empty_planes(state[cohort], slot, table[cohort])
    return True


@njit
def _word(raw: Bytes, at: np.uint64) -> np.uint64:
    """Return 8 bytes as a little-endian word, wherever they lie: compiled to one load."""
    word = np.uint64(raw[at]) | (np.uint64(raw[at + _1]) << np.uint64(8))
    word |= np.uint64(raw[at + _2]) << np.uint64(16)
    word |= np.uint64(raw[at + _3]) << np.uint64(24)
    word |= np.uint64(raw[at + _4]) << np.uint64(32)
    word |= np.uint64(raw[at + _5]) << np.uint64(40)
    word |= np.uint64(raw[at + _6]) << np.uint64(48)
    word |= np.uint64(raw[at + _7]) << np.uint64(56)
    return word


@njit
def _part(raw: Bytes, at: np.uint64, count: int) -> np.uint64:
    """Return fewer than 8 bytes as a little-endian word."""
    word = np.uint64(0)
    for i in range(count):
        word |= np.uint64(raw[at + np.uint64(i)]) << np.uint64(8 * i)
    return word

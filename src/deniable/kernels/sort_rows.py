"""Sort rows of bytes by keys, in the memory where they are.

Rows whose keys are spread evenly are put into buckets by the first bits of their keys, each swapped
to where its bucket begins ([MBM93], American flag sort); the few rows of a bucket are then put in
order one by one. A sort of their numbers would need a second copy of all rows to apply it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Bytes = NDArray[np.uint8]
Keys = NDArray[np.uint64]

_MOST_BUCKETS = 20
"""Two to this power: more would not fit into a cache."""
_PER_BUCKET = 3
"""Two to this power rows of a bucket, about."""


def sort_rows(keys: Keys, columns: tuple[Bytes, ...]) -> None:
    """Sort keys and, along with them, the rows of some tables.

    Cost: linear if the keys are spread evenly from 0 to the largest one; else quadratic in the
        rows of the fullest bucket. Eight megabytes.

    Args:
        keys: one per row.
        columns: tables of bytes, a row per key.
    """
    if keys.size < 2:
        return
    bits = min(_MOST_BUCKETS, max(1, keys.size.bit_length() - _PER_BUCKET))
    largest = int(keys.max())
    shift = np.uint64(max(0, largest.bit_length() - bits))
    counts = np.zeros((largest >> int(shift)) + 1, np.int64)
    _flag(keys, columns, shift, counts)
    _insert(keys, columns)


@njit
def _flag(
    keys: Keys, columns: tuple[Bytes, ...], shift: np.uint64, counts: NDArray[np.int64]
) -> None:
    for i in range(keys.size):
        counts[np.int64(keys[i] >> shift)] += 1
    following = np.empty_like(counts)
    total = 0
    for b in range(counts.size):
        following[b] = total
        total += counts[b]
    end = 0
    for b in range(counts.size):
        end += counts[b]
        while following[b] < end:
            i = following[b]
            own = np.int64(keys[i] >> shift)
            if own == b:
                following[b] += 1
                continue
            j = following[own]
            following[own] += 1
            keys[i], keys[j] = keys[j], keys[i]
            for rows in columns:
                for w in range(rows.shape[1]):
                    rows[i, w], rows[j, w] = rows[j, w], rows[i, w]


@njit
def _insert(keys: Keys, columns: tuple[Bytes, ...]) -> None:
    for i in range(1, keys.size):
        j = i
        while j > 0 and keys[j - 1] > keys[j]:
            keys[j - 1], keys[j] = keys[j], keys[j - 1]
            for rows in columns:
                for w in range(rows.shape[1]):
                    rows[j - 1, w], rows[j, w] = rows[j, w], rows[j - 1, w]
            j -= 1

"""The fast Walsh-Hadamard transform, in place.

Model: y_a = sum over b of (-1)^<a, b> x_b, where <a, b> is the number of ones in a & b; the
matrix is Sylvester's, in natural order, without a factor. Applied twice it multiplies by the
length.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.kernels._jit import njit

Numbers = TypeVar("Numbers", NDArray[np.int64], NDArray[np.float64])

_BLOCK = 4096  # numbers that fit the first-level cache


def transform(values: Numbers) -> Numbers:
    """Transform a contiguous array in place, along its last axis, and return it.

    Guarantees: integers are exact as long as the sum of their absolute values is below 2^63.

    Cost: n log2 n additions; no memory.

    Raises:
        InvalidParameter: unless the last axis has a power of two entries and the array is
            C-contiguous, writable, and of 64-bit integers or floats.
    """
    length = values.shape[-1] if values.ndim else 0
    if length < 1 or length & (length - 1):
        raise _validate.invalid("values", "transform", "of a power of two entries", length)
    fits = values.flags.c_contiguous and values.flags.writeable
    if not fits or values.dtype not in (np.int64, np.float64):
        raise InvalidParameter(
            "The transform works in place on contiguous 64-bit integers or floats.",
            "Pass numpy.ascontiguousarray(values, dtype=float).",
        )
    _transform(values.reshape(-1, length))
    return values


@njit
def _transform(rows: Numbers) -> None:
    """Transform each row: first within blocks that fit the cache, then across them."""
    length = rows.shape[1]
    block = min(length, _BLOCK)
    for r in range(rows.shape[0]):
        for start in range(0, length, block):
            _stages(rows[r, start : start + block], 1)
        _stages(rows[r], block)


@njit
def _stages(values: Numbers, half: int) -> None:
    """Run the stages from distance `half` to half the length, two at a time where they fit."""
    length = values.size
    while 4 * half <= length:
        for start in range(0, length, 4 * half):
            _four(values[start : start + 4 * half], half)
        half *= 4
    if 2 * half <= length:
        for i in range(half):
            a, b = values[i], values[i + half]
            values[i], values[i + half] = a + b, a - b


@njit
def _four(values: Numbers, quarter: int) -> None:
    """Run two stages on one group: a butterfly of four."""
    for i in range(quarter):
        a, b = values[i], values[i + quarter]
        c, d = values[i + 2 * quarter], values[i + 3 * quarter]
        values[i], values[i + quarter] = (a + b) + (c + d), (a - b) + (c - d)
        values[i + 2 * quarter], values[i + 3 * quarter] = (a + b) - (c + d), (a - b) - (c - d)

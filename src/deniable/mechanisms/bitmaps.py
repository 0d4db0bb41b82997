"""Reports that are nothing but bits: counting, unpacking and checking them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport

Packed = NDArray[np.uint8]

CHUNK_BITS = 2**22
"""Bits that are held unpacked at once, in a few arrays of one byte per bit."""


def rows_at_once(bits: int) -> int:
    """Return the number of reports that may be unpacked at a time."""
    return max(1, min(2**16, CHUNK_BITS // bits))


def unpacked(packed: Packed, bits: int) -> NDArray[np.uint8]:
    """Return packed reports as rows of 0 and 1."""
    return np.unpackbits(packed, axis=1, count=bits, bitorder="little")


def count_bits(packed: Packed, bits: int) -> NDArray[np.int64]:
    """Return how often each bit is set, over all rows of packed reports.

    Cost: linear in the bytes, nearly as fast as they are read.

    Raises:
        InvalidReport: if a padding bit is set.
    """
    # Imported here because Numba takes most of a second to load and few commands count.
    from deniable.kernels.bit_sums import sum_bits

    return sum_bits(packed, bits)


def check_padding(packed: Packed, bits: int) -> None:
    """Raise InvalidReport if a bit beyond the last one is set."""
    if bits % 8 and np.any(packed[:, -1] >> (bits % 8)):
        raise InvalidReport("record", "The padding bits of the last byte must be zero.")

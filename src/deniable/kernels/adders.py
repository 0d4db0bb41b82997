"""Adding bits side by side: the carry-save adders that the kernels of bits inline.

Model: 15 words added bit by bit give four words, the binary digits of 64 sums, by 11 full adders
of five logical operations each (the carry-save adders of Harley and Seal). A *block* is a buffer
of 15 rows of 512 bits, and behind it twelve rows of digits ("planes") to which a full buffer is
added; every 273 buffers, before 12 digits could overflow, the planes are added to ordinary
integers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]

ROW = 8
"""Words in a row: one vector of 512 bits."""
ROWS = 15
"""Rows in a buffer: their sum has 4 binary digits."""
_PLANES = 12
ADDITIONS = (2**_PLANES - 1) // ROWS
"""Buffers that planes can hold."""
BUFFER = ROWS * ROW
BLOCK = BUFFER + _PLANES * ROW
"""Words in a block."""


@njit
def _full_adder(a: np.uint64, b: np.uint64, c: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the two binary digits of a + b + c, bit by bit: a full adder."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@njit
def add_buffer(block: Words) -> None:
    """Add the 15 rows of a buffer to the planes behind it."""
    for j in range(ROW):
        # Fifteen 1s make one 1 and seven 2s; those, one 2 and three 4s; those, one 4 and one 8.
        one_a, two_a = _full_adder(block[j], block[j + 8], block[j + 16])
        one_b, two_b = _full_adder(block[j + 24], block[j + 32], block[j + 40])
        one_c, two_c = _full_adder(block[j + 48], block[j + 56], block[j + 64])
        one_d, two_d = _full_adder(block[j + 72], block[j + 80], block[j + 88])
        one_e, two_e = _full_adder(block[j + 96], block[j + 104], block[j + 112])
        one_f, two_f = _full_adder(one_a, one_b, one_c)
        ones, two_g = _full_adder(one_d, one_e, one_f)
        two_h, four_a = _full_adder(two_a, two_b, two_c)
        two_i, four_b = _full_adder(two_d, two_e, two_f)
        twos, four_c = _full_adder(two_g, two_h, two_i)
        fours, eights = _full_adder(four_a, four_b, four_c)
        at = j + BUFFER
        carry = block[at] & ones
        block[at] ^= ones
        block[at + 8], carry = _full_adder(block[at + 8], twos, carry)
        block[at + 16], carry = _full_adder(block[at + 16], fours, carry)
        block[at + 24], carry = _full_adder(block[at + 24], eights, carry)
        for plane in range(4, _PLANES):
            digit = block[at + 8 * plane]
            block[at + 8 * plane] = digit ^ carry
            carry &= digit


@njit
def _spread(word: np.uint64, byte: np.uint64) -> np.uint64:
    """Return the bits of one byte of a word as eight bytes of 0 or 1, the highest bit first.

    Copies of the byte, each nine places further, never overlap: none is carried into another. The
    highest bit of byte i is then bit 7 - i.
    """
    bits = (word >> (np.uint64(8) * byte)) & np.uint64(255)
    copies = bits * np.uint64(0x8040201008040201)
    return (copies >> np.uint64(7)) & np.uint64(0x0101010101010101)


@njit
def empty_planes(block: Words, slot: int, row: Integers) -> None:
    """Add the numbers in the planes to a row of counts, eight at a time, and clear them."""
    for j in range(ROW):
        column = 64 * (j % slot)
        if column < row.size:  # not behind the last word, where slots are wider than records
            for byte in range(8):
                place = np.uint64(byte)
                low, high = np.uint64(0), np.uint64(0)
                for plane in range(8):
                    word = block[BUFFER + 8 * plane + j]
                    low |= _spread(word, place) << np.uint64(plane)
                for plane in range(8, _PLANES):
                    word = block[BUFFER + 8 * plane + j]
                    high |= _spread(word, place) << np.uint64(plane - 8)
                for i in range(8):
                    at = np.uint64(8 * i)
                    value = (low >> at) & np.uint64(255)
                    value |= ((high >> at) & np.uint64(255)) << np.uint64(8)
                    row[column + 8 * byte + 7 - i] += np.int64(value)
    block[BUFFER:] = 0

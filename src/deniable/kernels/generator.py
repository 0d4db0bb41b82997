"""Random words for simulations: xoshiro256++ in many lanes, seeded by a NumPy generator.

Clients never use it: their coins come from the operating system or from the pseudo-random
function of the protocol.

The generator of [BV21] has the period 2^256 - 1 and no known failing test.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

State = NDArray[np.uint64]

LANES = 16
_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_32 = np.uint64(32)
_41 = np.uint64(41)
_45 = np.uint64(45)
_LOW = np.uint64(2**32 - 1)


def seeded(rng: np.random.Generator) -> State:
    """Return a state of LANES generators side by side, and one more as the last column.

    Guarantees: the states are independent uniform draws, so that two of them overlap within 2^64
    words with a probability below 2^-180.
    """
    return rng.integers(0, 2**64, size=(4, LANES + 1), dtype=np.uint64)


@njit
def next_word(state: State, lane: int) -> np.uint64:
    """Return the next word of a lane: xoshiro256++."""
    a, b, c, d = state[0, lane], state[1, lane], state[2, lane], state[3, lane]
    total = a + d
    word: np.uint64 = ((total << _23) | (total >> _41)) + a
    shifted = b << _17
    c ^= a
    d ^= b
    state[1, lane] = b ^ c
    state[0, lane] = a ^ d
    state[2, lane] = c ^ shifted
    state[3, lane] = (d << _45) | (d >> _19)
    return word


@njit
def below(state: State, bound: np.uint64) -> np.uint64:
    """Return an integer of 0..bound-1, exactly uniform, by Lemire's rejection; bound < 2^32."""
    product = (next_word(state, LANES) >> _32) * bound
    if (product & _LOW) < bound:
        # least = 2^32 mod bound. Without the products whose lower half is below it, every number
        # has the same count of words, floor(2^32 / bound).
        least = (_LOW + np.uint64(1) - bound) % bound
        while (product & _LOW) < least:
            product = (next_word(state, LANES) >> _32) * bound
    return product >> _32


@njit
def coin(state: State, threshold: np.uint64, flip: np.uint64) -> np.uint64:
    """Return 1 with probability threshold / 2^64, else 0; the reverse if `flip` is all ones."""
    shown = np.uint64(next_word(state, LANES) < threshold)
    return (shown ^ flip) & np.uint64(1)


@njit
def coin_words(state: State, threshold: np.uint64, flip: np.uint64, out: State) -> None:
    """Fill `out` (LANES words) with coins, 64 to a word, each 1 with threshold / 2^64, exactly.

    Each coin compares a 64-bit number with the threshold, a binary digit at a time from the top:
    one random word serves one digit of 64 coins. It stops when every coin is decided, or when
    the rest of the threshold is zero: what is undecided then is not below it.

    Cost: about 12 random words per word of coins; d for a threshold of d binary digits.
    """
    undecided = np.full(LANES, np.uint64(2**64 - 1))
    out[:] = 0
    rest = threshold
    while rest != 0:
        digit = np.uint64(0) - (rest >> np.uint64(63))  # all ones, or zero
        rest <<= np.uint64(1)
        open_coins = np.uint64(0)
        for lane in range(LANES):
            word = next_word(state, lane)
            # Below the threshold: equal so far, then 0 against 1. Undecided: still equal.
            out[lane] |= undecided[lane] & ~word & digit
            undecided[lane] &= ~(word ^ digit)
            open_coins |= undecided[lane]
        if open_coins == 0:
            break
    for lane in range(LANES):
        out[lane] ^= flip

"""Simulate reports of bits from integer codes: 64 coins at a time.

Model: every bit of a report is 1 with probability `zero` / 2^64, except the bits that the answer
sets, which are 1 with probability `one` / 2^64. So each report is filled with words of `zero`
coins, and then the few set bits are drawn again, one by one, with `one` coins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.kernels._jit import njit
from deniable.kernels.generator import LANES, State, below, coin, coin_words, seeded
from deniable.kernels.mixing import hash_word, reduce_to
from deniable.protocol.thresholds import ONE

Bytes = NDArray[np.uint8]
Codes = NDArray[np.int64]
Words = NDArray[np.uint64]
Coin = tuple[np.uint64, np.uint64]

_CHUNK = 2**14  # records that stay in a core's cache between the two passes
_16 = np.uint64(16)


def simulate_bloom(
    words: Words,
    codes: Codes,
    shape: tuple[int, int, int],
    thresholds: tuple[int, int],
    rng: np.random.Generator,
) -> NDArray[Any]:
    """Return one report per code: a uniform cohort, and the bits of a randomised Bloom filter.

    Guarantees: probabilities exact to 2^-64; the same state of `rng`, the same reports.

    Cost: linear in n and in ceil(k / 64), and two mixings per hash function. No table of
    candidates times cohorts is made.

    Args:
        words: fingerprints of the strings, M x 2.
        codes: for each person the row of `words`.
        shape: m cohorts, h hash functions, k bits.
        thresholds: 64-bit thresholds of a reported 1 for a bit that is not set, and for one that
            is, both stages together; 0..2^64.
        rng: gives the seed; it is advanced by a fixed amount.

    Raises:
        InvalidParameter: if a code is not a row of `words`.
    """
    cohorts, hashes, bits = shape
    codes = _checked(codes, 0, len(words))
    reports, raw = _records(codes.size, bits)
    state = seeded(rng)
    family = (np.uint64(cohorts), np.uint64(hashes), np.uint64(bits))
    for start in range(0, codes.size, _CHUNK):
        part = raw[start : start + _CHUNK]
        _fill(part, bits, _coin(thresholds[0]), state)
        chunk = codes[start : start + _CHUNK]
        _set_bloom(part, words, chunk, family, _coin(thresholds[1]), state)
    return reports


def simulate_basic(
    codes: Codes, bits: int, thresholds: tuple[int, int], rng: np.random.Generator
) -> NDArray[Any]:
    """Return one report per code, which sets its own bit; code -1 sets none.

    Guarantees, cost and arguments as `simulate_bloom`; the cohort is 0.

    Raises:
        InvalidParameter: if a code is below -1, or not below k.
    """
    codes = _checked(codes, -1, bits)
    reports, raw = _records(codes.size, bits)
    state = seeded(rng)
    for start in range(0, codes.size, _CHUNK):
        part = raw[start : start + _CHUNK]
        _fill(part, bits, _coin(thresholds[0]), state)
        _set_basic(part, codes[start : start + _CHUNK], _coin(thresholds[1]), state)
    return reports


def _checked(codes: Codes, low: int, high: int) -> Codes:
    """Return contiguous codes in low..high-1: the loops below trust them."""
    if codes.size and not (low <= int(codes.min()) and int(codes.max()) < high):
        raise InvalidParameter(f"Every code must be an integer from {low} to {high - 1}.")
    return np.ascontiguousarray(codes, dtype=np.int64)


def _records(count: int, bits: int) -> tuple[NDArray[Any], Bytes]:
    """Return empty records of cohort and bits, and the same memory as rows of bytes."""
    width = -(-bits // 8)
    reports = np.zeros(count, dtype=[("cohort", "<u2"), ("bits", "u1", (width,))])
    return reports, reports.view(np.uint8).reshape(count, 2 + width)


def _coin(threshold: int) -> Coin:
    """Return a threshold as words; 2^64 does not fit one, so it is never, flipped."""
    return np.uint64(threshold % ONE), np.uint64(2**64 - 1 if threshold == ONE else 0)


@njit
def _fill(raw: Bytes, bits: int, zero: Coin, state: State) -> None:
    """Fill the bits of every record with coins."""
    coins = np.empty(LANES, dtype=np.uint64)
    whole, rest = bits // 64, bits % 64
    mask = (np.uint64(1) << np.uint64(rest)) - np.uint64(1)
    used = LANES
    for i in range(raw.shape[0]):
        record = raw[i]
        for w in range(whole):
            if used == LANES:
                coin_words(state, zero[0], zero[1], coins)
                used = 0
            _store(record, 2 + 8 * w, coins[used])
            used += 1
        if rest:
            if used == LANES:
                coin_words(state, zero[0], zero[1], coins)
                used = 0
            word = coins[used] & mask
            used += 1
            for at in range(2 + 8 * whole, record.size):
                record[at] = np.uint8(word)
                word >>= np.uint64(8)


@njit
def _store(record: Bytes, at: int, word: np.uint64) -> None:
    """Write a word as 8 little-endian bytes."""
    for i in range(8):
        record[at + i] = np.uint8(word >> np.uint64(8 * i))


@njit
def _set_bit(record: Bytes, position: np.uint64, shown: np.uint64) -> None:
    at = np.int64(position >> np.uint64(3)) + 2
    weight = np.uint8(1) << np.uint8(position & np.uint64(7))
    record[at] = (record[at] & ~weight) | (np.uint8(shown) * weight)


@njit
def _set_bloom(
    raw: Bytes,
    words: Words,
    codes: Codes,
    family: tuple[np.uint64, np.uint64, np.uint64],
    one: Coin,
    state: State,
) -> None:
    """Draw the cohort of every record, and again the bits that its answer sets."""
    cohorts, hashes, bits = family
    for i in range(codes.size):
        cohort = below(state, cohorts)
        raw[i, 0] = np.uint8(cohort)
        raw[i, 1] = np.uint8(cohort >> np.uint64(8))
        first, second = words[codes[i], 0], words[codes[i], 1]
        for j in range(hashes):
            # Two functions may choose the same bit: it is drawn twice, and the last one counts.
            index = (cohort << _16) | j
            position = reduce_to(hash_word(first, second, index), bits)
            _set_bit(raw[i], position, coin(state, one[0], one[1]))


@njit
def _set_basic(raw: Bytes, codes: Codes, one: Coin, state: State) -> None:
    """Draw again the bit of every answer that sets one."""
    for i in range(codes.size):
        if codes[i] >= 0:
            _set_bit(raw[i], np.uint64(codes[i]), coin(state, one[0], one[1]))

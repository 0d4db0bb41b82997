"""Count the support of candidates among reports of local hashing.

Model: hash function number `seed` maps a candidate to a symbol below g,

    symbol(v, seed) = reduce_to(hash_word(words_v, 2^40 + seed), g)

and a report (seed, symbol) supports every candidate that its function maps to its symbol. With a
pool of K seeds, 0..K-1, reports are first counted in a K x g histogram; the support of v is then
the sum over the seeds of histogram[seed, symbol(v, seed)]: one hash and one look-up per (seed,
candidate), whatever the number of reports.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.kernels._jit import njit
from deniable.kernels.mixing import hash_word, reduce_to

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]
Unsigned = NDArray[np.unsignedinteger[Any]]

FIRST_INDEX = 2**40
"""Hash functions are numbered from here on; the indices of Bloom bits end below 2^32."""

_FIRST = np.uint64(FIRST_INDEX)
_BLOCK = 1024  # candidates whose words and sums stay in the cache while the seeds pass by
_SEEDS = 4  # seeds per pass over a block


def symbols_of(words: Words, seed: int, symbols: int) -> Integers:
    """Return the symbol of each candidate (a row of `words`) under one seed."""
    result = np.empty(words.shape[0], dtype=np.int64)
    first, second = _columns(words)
    _symbols(first, second, _FIRST + np.uint64(seed), np.uint64(symbols), result)
    return result


def seed_histogram(seeds: Unsigned, reported: Unsigned, pool: int, symbols: int) -> Integers:
    """Return how often each symbol was reported under each seed of a pool, K x g.

    Cost: linear in n; 8 K g bytes.

    Raises:
        InvalidReport: if a seed is not below K or a symbol not below g.
    """
    _check(seeds, pool, "seed")
    _check(reported, symbols, "symbol")
    places = seeds.astype(np.int64) * symbols + reported
    return np.bincount(places, minlength=pool * symbols).reshape(pool, symbols)


def pooled_support(histogram: Integers, words: Words) -> Integers:
    """Return for each candidate the number of reports that support it.

    Cost: K M hashes and look-ups, whatever n; memory for the histogram and the result.

    Args:
        histogram: K x g, as `seed_histogram` makes it; sums of histograms are histograms.
        words: fingerprints of the candidates, M x 2.
    """
    pool, symbols = histogram.shape
    padded = np.zeros((-(-pool // _SEEDS) * _SEEDS, symbols), dtype=np.int64)
    padded[:pool] = histogram
    support = np.zeros(words.shape[0], dtype=np.int64)
    first, second = _columns(words)
    _pooled(padded, first, second, support)
    return support


def private_support(seeds: Unsigned, reported: Unsigned, symbols: int, words: Words) -> Integers:
    """Return for each candidate the number of supporting reports, each with a seed of its own.

    Cost: n M hashes.

    Raises:
        InvalidReport: if a symbol is not below g.
    """
    _check(reported, symbols, "symbol")
    support = np.zeros(words.shape[0], dtype=np.int64)
    first, second = _columns(words)
    numbers = seeds.astype(np.uint64) + _FIRST
    _private(numbers, reported.astype(np.uint64), np.uint64(symbols), first, second, support)
    return support


def supporting_bits(
    seeds: Unsigned, reported: Unsigned, symbols: int, words: Words
) -> NDArray[np.uint8]:
    """Return for each report which candidates it supports, bit v % 8 of byte v // 8.

    Cost: n M hashes; a bit per report and candidate.

    Args:
        seeds: of the reports.
        reported: their symbols.
        symbols: g.
        words: fingerprints of the candidates, M x 2.
    """
    found = np.zeros((len(seeds), -(-len(words) // 8)), dtype=np.uint8)
    first, second = _columns(words)
    numbers = seeds.astype(np.uint64) + _FIRST
    _support(numbers, reported.astype(np.uint64), np.uint64(symbols), first, second, found)
    return found


def _check(values: Unsigned, bound: int, name: str) -> None:
    if values.size and int(values.max()) >= bound:
        raise InvalidReport("record", f"The {name} must be below {bound}.")


def _columns(words: Words) -> tuple[Words, Words]:
    """Return the two words of the fingerprints, each contiguous, as vector loops read them."""
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])


@njit
def _symbols(
    first: Words, second: Words, index: np.uint64, symbols: np.uint64, out: Unsigned | Integers
) -> None:
    for i in range(first.size):
        out[i] = reduce_to(hash_word(first[i], second[i], index), symbols)


@njit
def _pooled(histogram: Integers, first: Words, second: Words, support: Integers) -> None:
    """Add the support of every candidate; the number of seeds is a multiple of 4.

    Hashing runs in vectors and look-ups do not, so they are loops of their own; four seeds at a
    time, so that a sum is read and written once for four look-ups.
    """
    symbols = np.uint64(histogram.shape[1])
    found = np.empty((_SEEDS, _BLOCK), dtype=np.uint32)
    for start in range(0, support.size, _BLOCK):
        stop = min(support.size, start + _BLOCK)
        sums = support[start:stop]
        for seed in range(0, histogram.shape[0], _SEEDS):
            for i in range(_SEEDS):
                index = _FIRST + np.uint64(seed + i)
                _symbols(first[start:stop], second[start:stop], index, symbols, found[i])
            a, b = histogram[seed], histogram[seed + 1]
            c, d = histogram[seed + 2], histogram[seed + 3]
            for i in range(sums.size):
                sums[i] += a[found[0, i]] + b[found[1, i]] + c[found[2, i]] + d[found[3, i]]


@njit
def _private(
    indices: Words,
    reported: Words,
    symbols: np.uint64,
    first: Words,
    second: Words,
    support: Integers,
) -> None:
    """Add the support of every candidate, report by report."""
    for start in range(0, support.size, _BLOCK):
        sums = support[start : start + _BLOCK]
        ones, twos = first[start : start + _BLOCK], second[start : start + _BLOCK]
        for report in range(indices.size):
            index, wanted = indices[report], reported[report]
            for i in range(sums.size):
                sums[i] += reduce_to(hash_word(ones[i], twos[i], index), symbols) == wanted


@njit
def _support(
    indices: Words,
    reported: Words,
    symbols: np.uint64,
    first: Words,
    second: Words,
    found: NDArray[np.uint8],
) -> None:
    """Set a bit for every candidate of every report; hashing runs in vectors, packing does not."""
    same = np.zeros(8 * found.shape[1], dtype=np.uint8)
    for report in range(indices.size):
        index, wanted = indices[report], reported[report]
        for i in range(first.size):
            same[i] = reduce_to(hash_word(first[i], second[i], index), symbols) == wanted
        for j in range(found.shape[1]):
            value = 0
            for i in range(7, -1, -1):
                value = 2 * value + same[8 * j + i]
            found[report, j] = value

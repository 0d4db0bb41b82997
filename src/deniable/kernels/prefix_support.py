"""Extend sequences of symbols, and count the support of millions of them.

Model: the words of a sequence follow from those of its beginning and one more symbol s,

    a' = mix(a + golden (s + 1)),    b' = mix(b ^ a')

as `protocol.prefixes.chained` says. In cohort c hash function `first + c` maps them to one of K
points, and a table holds what every point of every cohort is worth; the support of a sequence is
the sum over the cohorts of the worth of its points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit
from deniable.kernels.mixing import hash_word, mix, reduce_to
from deniable.protocol.hashing import GOLDEN

Words = NDArray[np.uint64]
Worth = NDArray[np.float32]
Floats = NDArray[np.float64]
Points = NDArray[np.int32]

_GOLDEN = np.uint64(GOLDEN)
_ONE = np.uint64(1)
_BLOCK = 2_048  # sequences whose sums stay in the cache while the cohorts pass by


def extended(words: Words, symbols: Words) -> Words:
    """Return the words of every sequence followed by every symbol, N x S x 2."""
    result = np.empty((words.shape[0], symbols.size, 2), dtype=np.uint64)
    _extend(np.ascontiguousarray(words), np.ascontiguousarray(symbols), result)
    return result


def support(words: Words, worth: Worth, first: int) -> Floats:
    """Return for each sequence the sum of the worth of its points.

    Cost: C hashes and look-ups per sequence, some ten nanoseconds each while a cohort's row of the
    table fits into the processor's cache.

    Args:
        words: of the sequences, N x 2.
        worth: of the points, C x K.
        first: the number of the first cohort's hash function.
    """
    sums = np.zeros(words.shape[0], dtype=np.float32)
    ones, twos = np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
    _support(ones, twos, np.ascontiguousarray(worth), np.uint64(first), sums)
    return sums.astype(np.float64)


def points_of(words: Words, cohorts: int, points: int, first: int) -> Points:
    """Return the points of each sequence, N x C."""
    result = np.empty((words.shape[0], cohorts), dtype=np.int32)
    _points(np.ascontiguousarray(words), np.uint64(points), np.uint64(first), result)
    return result


@njit
def _extend(words: Words, symbols: Words, result: Words) -> None:
    for i in range(words.shape[0]):
        for j in range(symbols.size):
            first = mix(words[i, 0] + _GOLDEN * (symbols[j] + _ONE))
            result[i, j, 0] = first
            result[i, j, 1] = mix(words[i, 1] ^ first)


@njit
def _support(ones: Words, twos: Words, worth: Worth, first: np.uint64, sums: Worth) -> None:
    """Add the worth of every sequence's points.

    Hashing runs in vectors and look-ups do not, so they are loops of their own.
    """
    points = np.uint64(worth.shape[1])
    found = np.empty(_BLOCK, dtype=np.uint32)
    for start in range(0, sums.size, _BLOCK):
        one, two = ones[start : start + _BLOCK], twos[start : start + _BLOCK]
        part = sums[start : start + _BLOCK]
        for cohort in range(worth.shape[0]):
            index, row = first + np.uint64(cohort), worth[cohort]
            for i in range(one.size):
                found[i] = reduce_to(hash_word(one[i], two[i], index), points)
            for i in range(one.size):
                part[i] += row[found[i]]


@njit
def _points(words: Words, points: np.uint64, first: np.uint64, result: Points) -> None:
    for i in range(result.shape[0]):
        for cohort in range(result.shape[1]):
            word = hash_word(words[i, 0], words[i, 1], first + np.uint64(cohort))
            result[i, cohort] = reduce_to(word, points)

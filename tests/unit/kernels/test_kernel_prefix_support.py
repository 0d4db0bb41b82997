"""Extending sequences and summing their support agree with the protocol, one by one."""

from __future__ import annotations

import numpy as np

from deniable.kernels.prefix_support import extended, points_of, support
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.prefixes import END, chained, first_index


def test_extensions_are_the_protocols() -> None:
    starts = [(), (5,), (1, 2, 3)]
    symbols = [0, 7, 0x10FFFF, END, 2**20 - 1]
    words = np.array([chained(s) for s in starts], dtype=np.uint64)
    found = extended(words, np.array(symbols, dtype=np.uint64))
    for i, start in enumerate(starts):
        for j, symbol in enumerate(symbols):
            assert tuple(map(int, found[i, j])) == chained((*start, symbol))


def test_support_is_the_sum_over_cohorts(rng: np.random.Generator) -> None:
    words = np.array([chained([i, i + 1]) for i in range(5_000)], dtype=np.uint64)
    worth = rng.normal(size=(3, 101)).astype(np.float32)
    sums = support(words, worth, first_index(4))
    places = points_of(words, 3, 101, first_index(4))
    for i in range(0, 5_000, 97):
        pair = (int(words[i, 0]), int(words[i, 1]))
        expected = [reduce_to(hash_word(pair, first_index(4) + c), 101) for c in range(3)]
        assert places[i].tolist() == expected
        assert np.isclose(sums[i], sum(float(worth[c, p]) for c, p in enumerate(expected)))


def test_nothing_to_support() -> None:
    empty = np.empty((0, 2), dtype=np.uint64)
    assert support(empty, np.zeros((2, 5), dtype=np.float32), 0).shape == (0,)
    assert extended(empty, np.arange(3, dtype=np.uint64)).shape == (0, 3, 2)

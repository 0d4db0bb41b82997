"""Sets drawn by the kernel against Floyd's algorithm on Python's sets, and against all sets."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest

from deniable.kernels.generator import below, seeded
from deniable.kernels.simulate_subsets import simulate_subsets
from deniable.testing.statistics import accept, goodness_of_fit, reject


def drawn(
    codes: np.ndarray, included: np.ndarray, shape: tuple[int, int], seed: int
) -> list[frozenset[int]]:
    """Return the members of every report."""
    bits = np.zeros((codes.size, -(-shape[0] // 8)), dtype=np.uint8)
    simulate_subsets(codes, included, shape, bits, np.random.default_rng(seed))
    unpacked = np.unpackbits(bits, axis=1, bitorder="little")
    assert not unpacked[:, shape[0] :].any()
    return [frozenset(np.flatnonzero(row).tolist()) for row in unpacked]


@pytest.mark.parametrize("shape", [(2, 1), (5, 4), (9, 3), (64, 7), (300, 299), (1_000, 60)])
@pytest.mark.parametrize("n", [0, 1, 20, 200])
def test_sets_are_floyds(shape: tuple[int, int], n: int, rng: np.random.Generator) -> None:
    (answers, size), state = shape, seeded(np.random.default_rng(7))
    codes, included = rng.integers(0, answers, n), rng.random(n) < 0.5
    expected = []
    for code, has in zip(codes.tolist(), included.tolist(), strict=True):
        others: set[int] = set()
        for last in range(answers - 1 - size + has, answers - 1):
            place = int(below(state, np.uint64(last + 1)))
            others.add(last if place in others else place)
        members = {other + (other >= code) for other in others} | ({code} if has else set())
        expected.append(frozenset(members))
    assert drawn(codes, included, shape, 7) == expected
    assert all(len(members) == size for members in expected)


@pytest.mark.parametrize("has", [True, False])
def test_every_set_is_equally_likely(has: bool) -> None:
    n, code = 60_000, 2
    found = Counter(drawn(np.full(n, code), np.full(n, has), (6, 3), 11))
    sets = [frozenset(s) for s in combinations(range(6), 3) if (code in s) == has]
    assert len(sets) == (comb(5, 2) if has else comb(5, 3))
    assert sum(found[s] for s in sets) == n
    counts = np.array([found[s] for s in sets])
    accept(goodness_of_fit(counts, np.full(len(sets), 1 / len(sets))))
    # Noncentrality above 900 with 9 degrees of freedom: a miss is 25 standard errors away.
    tilted = np.linspace(0.8, 1.2, len(sets))
    reject(goodness_of_fit(counts, tilted / tilted.sum()), miss=1e-12)

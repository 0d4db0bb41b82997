"""Several binomial numbers about one share: likelihood, interval and test."""

from __future__ import annotations

import numpy as np
import pytest

from deniable._distributions import binomial_sf
from deniable.groups.likelihood import Supports
from deniable.testing.statistics import Check, accept, reject


def supports(reports: list[float], n: list[float]) -> Supports:
    chance, gap = np.array([0.4, 0.1])[: len(n)], np.array([0.2, 0.8])[: len(n)]
    return Supports(np.array(reports), np.array(n), chance, gap)


def test_one_group_gives_its_own_share_and_a_grid_finds_the_same_maximum() -> None:
    assert supports([50.0], [100.0]).likeliest == pytest.approx(0.5)
    both = supports([45.0, 30.0], [100.0, 100.0])
    grid = np.linspace(0, 1, 2_001)
    best = grid[np.argmax([both.log(share) for share in grid])]
    assert both.likeliest == pytest.approx(best, abs=1e-3)
    low, high = both.interval(0.05)
    inside = [share for share in grid if both.log(share) >= both.log(both.likeliest) - 1.920729]
    assert (low, high) == pytest.approx((inside[0], inside[-1]), abs=1e-3)


def test_ends_of_the_range_and_no_evidence() -> None:
    none = supports([30.0, 5.0], [100.0, 100.0])
    assert none.likeliest == 0.0
    assert none.p_value == 1.0
    assert none.interval(0.05)[0] == 0.0
    every = supports([90.0, 99.0], [100.0, 100.0])
    assert every.likeliest == 1.0
    assert every.interval(0.05)[1] == 1.0
    assert every.p_value < 1e-9


def test_intervals_of_two_levels_cover(rng: np.random.Generator) -> None:
    """alpha 1e-9; the control reads the strict level as if it were the open one."""
    runs, share, n = 2_000, 0.3, np.array([400.0, 900.0])
    chance, gap = np.array([0.4, 0.1]), np.array([0.2, 0.8])
    missed = wrong = 0
    for _ in range(runs):
        reports = rng.binomial(n.astype(int), chance + gap * share).astype(float)
        low, high = Supports(reports, n, chance, gap).interval(0.05)
        missed += not low <= share <= high
        alike = Supports(reports, n, chance[[1, 1]], gap[[1, 1]]).interval(0.05)
        wrong += not alike[0] <= share <= alike[1]
    for check, number in ((accept, missed), (None, wrong)):
        p_value = float(binomial_sf(number - 1, runs, 0.06))
        found = Check("intervals miss with 6% at most", number / runs, p_value)
        if check is not None:
            check(found)
        else:
            reject(found, miss=1e-12)

"""The final test keeps its level: where nobody holds a string, Holm reports one in 5% of runs."""

from __future__ import annotations

import numpy as np

from deniable.decode.significance import holm, holm_adjusted
from deniable.discover.group_estimates import Table
from deniable.discover.verify import null_p_values, verify
from deniable.mechanisms import Prefixes
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
RUNS, TESTED = 150, 200
CROWD = Prefixes(
    epsilon=4.0,
    alphabet="abcdefgh",
    length=8,
    lengths=[8],
    verification=0.5,
    cohorts=4,
    points=1_000,
)
NOBODY = [
    f"{number:08o}".translate(str.maketrans("01234567", "abcdefgh")) for number in range(TESTED)
]


def false_runs(rng: np.random.Generator, sharpen: float = 1.0) -> int:
    """Return how many runs report anything; with `sharpen` errors are taken to be smaller."""
    heavy, false = ["hhhhhhhh", "gggggggg", "hghghghg"], 0
    for _ in range(RUNS):
        codes = rng.choice(3, size=4_000, p=[0.6, 0.3, 0.1])
        table = Table.of(CROWD, CROWD.accumulate(CROWD.simulate(codes, rng, heavy)), 1)
        found = verify([*heavy, *NOBODY], table, 4_000)
        p_values = null_p_values(np.array([row.frequency * sharpen for row in found]), table)
        decisions = [row.holm for row in found] if sharpen == 1.0 else holm(p_values).tolist()
        false += any(d and row.value not in heavy for d, row in zip(decisions, found, strict=True))
    return false


def test_false_discoveries_are_as_rare_as_promised(rng: np.random.Generator) -> None:
    accept(proportion(false_runs(rng), RUNS, 0.035, 0.035), ALPHA)


def test_errors_that_are_too_small_are_noticed(rng: np.random.Generator) -> None:
    """The control: with errors of two thirds of their size most runs report something false."""
    reject(proportion(false_runs(rng, 1.5), RUNS, 0.035, 0.035), ALPHA, miss=1e-12)


def test_adjusted_p_values_are_holms(rng: np.random.Generator) -> None:
    p_values = rng.random(200) ** 4
    adjusted = holm_adjusted(p_values)
    for level in (0.01, 0.05, 0.5):
        assert np.array_equal(adjusted <= level, holm(p_values, level))


def covered(rng: np.random.Generator, shrink: float = 1.0) -> tuple[int, int]:
    """Return how many 95% intervals of held strings hold the true share, and of how many."""
    held, shares = ["hhhhhhhh", "gggggggg", "hghghghg", "abab", ""], [0.4, 0.3, 0.15, 0.1, 0.05]
    inside = total = 0
    for _ in range(RUNS):
        codes = rng.choice(5, size=4_000, p=shares)
        true = np.bincount(codes, minlength=5) / 4_000
        table = Table.of(CROWD, CROWD.accumulate(CROWD.simulate(codes, rng, held)), 1)
        for row in verify([*held, *NOBODY[:20]], table, 4_000):
            if row.value in held:
                half = shrink * (row.interval[1] - row.frequency)
                inside += abs(row.frequency - true[held.index(row.value)]) <= half
                total += 1
    return inside, total


def test_intervals_cover(rng: np.random.Generator) -> None:
    """Estimates of one run share its group, so that the band allows for their dependence."""
    accept(proportion(*covered(rng), 0.95, 0.02), ALPHA)


def test_intervals_that_are_too_short_are_noticed(rng: np.random.Generator) -> None:
    """The control: of half the width they would cover 67%."""
    reject(proportion(*covered(rng, 0.5), 0.95, 0.02), ALPHA, miss=1e-12)

"""Where all people share one hash function, or a few, strings that nobody holds are found no more.

Frequent strings and rare ones share points with strings that nobody holds. Collisions counted by
their variance alone, as a normal number, call such strings found in far more than 5% of runs.
"""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.significance import holm
from deniable.discover.group_estimates import Table
from deniable.discover.random_points import RandomPoints, share_needed
from deniable.discover.verify import null_p_values, verify
from deniable.mechanisms import Prefixes
from deniable.testing.statistics import accept, proportion, reject

ALPHA = 1e-9
RUNS, TESTED, HELD, RARE = 100, 200, 8, 100


def runs_with_false_ones(
    cohorts: int, rng: np.random.Generator, people: int
) -> tuple[int, int, float]:
    """Return how many runs call a string found that nobody holds: ours, and by the variance alone.

    Half of the people hold one of 8 tested strings, the others one of 100 that are not tested. Last
    is the share of the 8 that were found.
    """
    crowd = Prefixes(
        epsilon=8.0, alphabet="abcdefgh", length=6, lengths=[6], verification=0.5, cohorts=cohorts
    )
    ours = before = 0
    found = 0.0
    for _ in range(RUNS):
        codes = rng.choice(8**6, size=HELD + RARE + TESTED, replace=False)
        names = [np.base_repr(code, 8).zfill(6) for code in codes]
        names = [name.translate(str.maketrans("01234567", "abcdefgh")) for name in names]
        held = np.where(
            rng.random(people) < 0.5,
            rng.integers(0, HELD, people),
            rng.integers(HELD, HELD + RARE, people),
        )
        table = Table.of(crowd, crowd.accumulate(crowd.simulate(held, rng, names)), 1)
        rows = verify([*names[:HELD], *names[HELD + RARE :]], table, people)
        nobody = set(names[HELD + RARE :])
        ours += any(row.holm and row.value in nobody for row in rows)
        found += sum(row.holm and row.value not in nobody for row in rows) / HELD / RUNS
        called = holm(null_p_values(np.array([row.frequency for row in rows]), table))
        before += any(c and row.value in nobody for c, row in zip(called, rows, strict=True))
    return ours, before, found


@pytest.mark.parametrize(("cohorts", "people"), [(1, 6_000), (8, 24_000)])
def test_strings_that_nobody_holds_are_rarely_found(
    cohorts: int, people: int, rng: np.random.Generator
) -> None:
    """The control: the test of before, which a band up to 5% refuses."""
    ours, before, found = runs_with_false_ones(cohorts, rng, people)
    accept(proportion(ours, RUNS, 0.025, 0.025), ALPHA)
    reject(proportion(before, RUNS, 0.025, 0.025), ALPHA, miss=1e-9)
    assert found > 0.9


@pytest.mark.parametrize("cohorts", [1, 2, 5])
def test_the_chance_of_random_points_is_that_of_drawn_ones(
    cohorts: int, rng: np.random.Generator
) -> None:
    """The slow twin: points drawn and added up. The control is a threshold a deviation lower."""
    worth = rng.exponential(size=(cohorts, 500)) ** 2
    null = RandomPoints.of(worth)
    drawn = sum(row[rng.integers(0, 500, 40_000)] for row in worth)
    for quantile in (0.5, 0.99):
        least = float(np.quantile(drawn, quantile))
        chance = float(null.tail(np.array([least]))[0])
        seen = int(np.count_nonzero(np.asarray(drawn) >= least))
        accept(proportion(seen, 40_000, chance, 0.004), ALPHA)
        lower = int(np.count_nonzero(np.asarray(drawn) >= least / 2))
        reject(proportion(lower, 40_000, chance, 0.004), ALPHA, miss=1e-12)


def test_one_cohort_never_says_less_than_one_in_its_points() -> None:
    null = RandomPoints.of(np.zeros((1, 100)))
    assert share_needed(null.tail, 1, 100, 0.009) == 1.0
    assert share_needed(null.tail, 1, 100, 0.011) < 1e-6

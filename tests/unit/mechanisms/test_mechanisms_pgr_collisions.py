"""Listed strings that share points: the iterative solution against the matrix, and its effect."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms import PGR
from deniable.mechanisms.pgr_collisions import FEWEST_COHORTS, MOST_LOAD, load_of, separated


def test_the_solution_is_that_of_the_matrix(rng: np.random.Generator) -> None:
    cohorts, points, strings = 12, 31, 60
    cells = rng.integers(0, points, (cohorts, strings))
    weights = rng.dirichlet(np.full(cohorts, 50.0))
    shared = sum(w * (c[:, None] == c[None, :]) for w, c in zip(weights, cells, strict=True))
    matrix = (shared - 1 / points) / (1 - 1 / points)
    np.fill_diagonal(matrix, 1)
    truth = rng.dirichlet(np.ones(strings))
    found = separated(matrix @ truth, lambda i: cells[i], weights, points)
    assert found == pytest.approx(truth, abs=1e-5)


def test_few_cohorts_and_crowded_points_are_left_alone() -> None:
    even = np.full(FEWEST_COHORTS, 1 / FEWEST_COHORTS)
    assert load_of(31, 31, even) == pytest.approx(1 / FEWEST_COHORTS)
    assert load_of(31 * FEWEST_COHORTS, 31, even) is None
    assert load_of(int(31 * FEWEST_COHORTS * MOST_LOAD), 31, even) is not None
    assert load_of(2, 31, np.full(FEWEST_COHORTS - 1, 1 / (FEWEST_COHORTS - 1))) is None


def test_collisions_of_listed_strings_leave_no_trace() -> None:
    """Two common strings and 198 absent ones: a standard error of 0.0008 without collisions."""
    mechanism, rng = PGR(epsilon=3.0, cohorts=16, points=400), np.random.default_rng(3)
    assert mechanism.parameters.points < 1_000
    strings = [f"s{i}" for i in range(200)]
    reports = mechanism.simulate(np.repeat([0, 1], 200_000), rng, strings)
    counts = mechanism.accumulate(reports)
    found = mechanism.estimate(counts, strings)
    truth = np.zeros(200)
    truth[:2] = 0.5
    missing = mechanism.estimate(counts, strings[1:])
    # Collisions alone would move a string by 0.5 / 16 where it meets a common one in one cohort.
    assert np.abs(found.frequency - truth).max() < 0.004
    assert found.std_error[2:].max() < 0.0012
    assert np.abs(missing.frequency - truth[1:]).max() > 0.02
    assert missing.std_error.max() > 0.004

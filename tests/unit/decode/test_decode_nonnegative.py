from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from deniable.decode.nonnegative import nonnegative_least_squares


def by_enumeration(
    gram: np.ndarray, right: np.ndarray, total: float | None, equal: bool
) -> np.ndarray:
    """The obvious twin: the best feasible stationary point over every set of positive entries."""
    best, value = np.zeros(len(right)), 0.0 if not equal else np.inf
    for size in range(1, len(right) + 1):
        for support in itertools.combinations(range(len(right)), size):
            places = list(support)
            part = gram[np.ix_(places, places)]
            tries = [] if equal else [np.linalg.solve(part, right[places])]
            if total is not None:
                ones = np.ones((size, 1))
                bordered = np.block([[part, ones], [ones.T, np.zeros((1, 1))]])
                tries.append(np.linalg.solve(bordered, np.append(right[places], total))[:-1])
            for found in tries:
                if found.min() < 0 or (total is not None and found.sum() > total + 1e-9):
                    continue
                now = found @ part @ found / 2 - right[places] @ found
                if now < value - 1e-15:
                    value, best = now, np.zeros(len(right))
                    best[places] = found
    return best


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(0, 2**32),
    st.sampled_from([None, 0.3, 1.0]),
    st.booleans(),
)
def test_the_minimum_is_that_of_all_supports(size, seed, total, equal):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size + 2, size))
    gram, right = root.T @ root, rng.normal(size=size)
    equal = equal and total is not None
    found = nonnegative_least_squares(gram, right, total=total, equal=equal)
    assert np.allclose(found, by_enumeration(gram, right, total, equal), atol=1e-7)


def test_it_agrees_with_scipy_on_a_larger_problem(rng):
    matrix, y = rng.random((300, 120)), rng.normal(size=300)
    expected, _ = optimize.nnls(matrix, y)
    found = nonnegative_least_squares(matrix.T @ matrix, matrix.T @ y)
    assert np.allclose(found, expected, atol=1e-8)
    assert 0 < np.count_nonzero(found) < 120


def test_a_first_guess_changes_nothing_but_the_time(rng):
    matrix, y = rng.random((60, 30)), rng.normal(size=60)
    gram, right = matrix.T @ matrix, matrix.T @ y
    plain = nonnegative_least_squares(gram, right, total=0.5)
    for start in (np.ones(30), rng.random(30) - 0.5):
        assert np.allclose(
            nonnegative_least_squares(gram, right, total=0.5, start=start), plain, atol=1e-9
        )


def test_dependent_columns_still_have_a_minimum(rng):
    column = rng.random((20, 1))
    matrix, y = np.hstack([column, column, np.zeros((20, 1))]), column[:, 0]
    found = nonnegative_least_squares(matrix.T @ matrix, matrix.T @ y)
    assert found[:2].sum() == pytest.approx(1.0)
    assert (found >= 0).all()


def test_nothing_to_solve_gives_nothing():
    assert nonnegative_least_squares(np.empty((0, 0)), np.empty(0)).size == 0
    assert np.array_equal(nonnegative_least_squares(np.eye(2), np.array([-1.0, 0.0])), [0, 0])

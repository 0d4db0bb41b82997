from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.decode.mixture import expectation_maximisation, fit_mixture
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR


def log_likelihood(table: np.ndarray, x: np.ndarray) -> float:
    return float(np.log(table @ x).sum())


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 2**32))
def test_it_agrees_with_expectation_maximisation(components, rows, seed):
    table = np.random.default_rng(seed).random((rows, components)) + 0.05
    fast = fit_mixture(table)
    slow = expectation_maximisation(table, gap=1e-4, rounds=20_000)
    assert log_likelihood(table, fast.weights) >= log_likelihood(table, slow.weights) - 1e-8
    assert fast.weights.sum() == pytest.approx(1)
    assert fast.weights.min() >= 0
    assert log_likelihood(table, fast.weights) - log_likelihood(table, slow.weights) <= slow.gap


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(5, 40), st.integers(0, 2**32))
def test_the_certificate_bounds_every_other_choice(components, rows, seed):
    rng = np.random.default_rng(seed)
    table = rng.random((rows, components))
    found = fit_mixture(table)
    assert found.gap < 1e-5 * rows
    for other in rng.dirichlet(np.ones(components), 50):
        assert (
            log_likelihood(table, other) <= log_likelihood(table, found.weights) + found.gap + 1e-9
        )


def test_a_poor_fit_says_so():
    rng = np.random.default_rng(1)
    table = rng.random((100, 5))
    early = expectation_maximisation(table, rounds=1)
    best = fit_mixture(table)
    gap = log_likelihood(table, best.weights) - log_likelihood(table, np.full(5, 0.2))
    assert not early.converged
    assert best.converged
    assert early.gap >= gap > 0.01


def test_weights_stand_for_repeated_rows(rng):
    table, times = rng.random((8, 3)), np.array([3, 1, 0, 2, 5, 1, 1, 4])
    grouped = fit_mixture(table, times.astype(float))
    plain = fit_mixture(np.repeat(table, times, axis=0))
    assert np.allclose(grouped.weights, plain.weights, atol=1e-6)


def test_the_scale_of_a_row_does_not_matter(rng):
    table = rng.random((20, 3))
    scaled = table * 10.0 ** rng.integers(-200, 200, (20, 1))
    assert np.allclose(fit_mixture(scaled).weights, fit_mixture(table).weights, atol=1e-7)


def test_it_recovers_a_population_from_its_reports(rng):
    mechanism = KRR(3, epsilon=2.0)
    values = rng.permutation(np.repeat([0, 1, 2], [7_000, 2_000, 1_000]))
    reports = mechanism.simulate(values, rng)
    found = fit_mixture(mechanism.likelihood(reports))
    estimate = mechanism.estimate(mechanism.accumulate(reports))
    # In the interior of the simplex maximum likelihood of k-RR is the unbiased estimate.
    assert np.allclose(found.weights, estimate.frequency, atol=1e-6)


@pytest.mark.parametrize(
    ("table", "weights", "message"),
    [
        (np.array([[0.0, 0.0], [1.0, 1.0]]), None, "only zeros"),
        (np.array([[np.nan, 1.0]]), None, "finite"),
        (np.array([[-1.0, 1.0]]), None, "at least 0"),
        (np.empty((0, 2)), None, "a row per observation"),
        (np.ones((2, 2)), np.ones(3), "one finite number"),
        (np.ones((2, 2)), np.zeros(2), "not all 0"),
        (np.ones((2, 2)), np.array([1.0, -1.0]), "at least 0"),
    ],
)
def test_impossible_likelihoods_are_refused(table, weights, message):
    with pytest.raises(InvalidParameter, match=message):
        fit_mixture(table, weights)


def test_components_that_are_nearly_alike_and_observations_that_stand_alone(rng):
    # Fine grids of atoms: neighbouring columns are almost equal, and the largest observations are
    # explained by the last few columns only. A full Newton step takes these away.
    atoms = np.arange(0.0, 20.0, 0.25)
    values = np.append(rng.normal(size=300), [9.0, 15.0])
    table = np.exp(-0.5 * np.square(values[:, None] - atoms))
    found = fit_mixture(table)
    assert found.converged
    assert found.rounds < 40
    assert found.gap < 1e-6

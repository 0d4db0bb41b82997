from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from deniable.decode.distribution_estimates import (
    Support,
    likely_distribution,
    nearest_in_errors,
    point_estimates,
    support_of,
)
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.decode.simplex import normalise, project
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Counts, Mechanism, Rappor

MECHANISMS = [
    KRR(6, epsilon=1.0),
    Rappor.basic(6, epsilon=1.0),
    Rappor.basic(6, f=0.5, p=0.5, q=0.75),
]


def log_likelihood(support: Support, f: np.ndarray) -> float:
    r = support.oracle.q + support.oracle.gap * f
    value = support.counts @ np.log(r)
    if not support.exclusive:
        value += (support.n - support.counts) @ np.log(1 - r)
    return float(value)


def counts_from(mechanism: Mechanism, people: list[int], rng: np.random.Generator) -> Counts:
    return mechanism.accumulate(mechanism.simulate(np.repeat(np.arange(6), people), rng))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("people", [[500, 0, 0, 0, 0, 0], [3000, 2000, 1000, 0, 0, 0]])
def test_no_distribution_is_likelier(mechanism, people, rng):
    support = support_of(mechanism, counts_from(mechanism, people, rng))
    found = likely_distribution(support)
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0
    best = optimize.minimize(
        lambda f: -log_likelihood(support, f) / support.n,
        np.full(6, 1 / 6),
        bounds=[(0, 1)] * 6,
        constraints={"type": "eq", "fun": lambda f: f.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert log_likelihood(support, found) >= -best.fun * support.n - 1e-6
    for other in rng.dirichlet(np.ones(6), 200):
        assert log_likelihood(support, other) <= log_likelihood(support, found) + 1e-9


def test_in_the_interior_krr_is_likeliest_at_the_unbiased_estimate(rng):
    mechanism = KRR(6, epsilon=3.0)
    counts = counts_from(mechanism, [3000] * 6, rng)
    found = point_estimates(mechanism, counts)
    assert np.allclose(found.likely, mechanism.estimate(counts).frequency, atol=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_all_estimates_stand_side_by_side(mechanism, rng):
    counts = counts_from(mechanism, [6000, 3000, 1000, 0, 0, 0], rng)
    found = point_estimates(mechanism, counts, labels=list("abcdef"))
    estimate = mechanism.estimate(counts)
    assert found.answers == tuple("abcdef")
    assert np.array_equal(found.empirical, estimate.frequency)
    assert np.array_equal(found.projected, project(estimate.frequency))
    assert np.array_equal(found.normalised, normalise(estimate.frequency))
    assert set(np.unique(found.base_cut)) <= {0.0, *estimate.frequency}
    for distribution in (found.normalised, found.projected, found.likely, found.posterior):
        assert distribution.sum() == pytest.approx(1)
        assert distribution.min() >= 0


def test_yes_and_no(rng):
    mechanism = Rappor.basic(f=0.5, p=0.5, q=0.75)
    values = np.repeat([0, 1], [9_000, 1_000])
    found = point_estimates(mechanism, mechanism.accumulate(mechanism.simulate(values, rng)))
    assert found.answers == ("false", "true")
    assert found.empirical.sum() == pytest.approx(1)
    assert np.array_equal(found.likely, project(found.empirical))
    assert found.likely.min() >= 0


@pytest.mark.parametrize("ones", [0, 100])
@pytest.mark.parametrize("mechanism", MECHANISMS[1:], ids=repr)
def test_all_zero_and_all_one_reports_give_the_uniform_distribution(mechanism, ones):
    counts = Counts(np.array([100]), np.full((1, 6), ones))
    found = point_estimates(mechanism, counts)
    assert np.allclose(found.likely, 1 / 6)
    assert np.allclose(found.projected, 1 / 6)


def test_a_single_symbol_in_all_reports():
    mechanism = KRR(6, epsilon=1.0)
    counts = Counts(np.array([100]), np.array([[100, 0, 0, 0, 0, 0]]))
    assert np.allclose(point_estimates(mechanism, counts).likely, [1, 0, 0, 0, 0, 0])


def test_what_cannot_be_estimated_is_refused():
    krr = KRR(6, epsilon=1.0)
    with pytest.raises(InvalidParameter, match="no reports"):
        point_estimates(krr, krr.zero())
    bloom = Rappor(bits=8, cohorts=2, p=0.25, q=0.75)
    with pytest.raises(InvalidParameter, match="no closed domain"):
        support_of(bloom, Counts(np.array([1, 1]), np.zeros((2, 8), dtype=np.int64)))
    with pytest.raises(InvalidParameter, match="has 9 of 5 reports"):
        point_estimates(krr, Counts(np.array([5]), np.array([[9, 0, 0, 0, 0, 0]])))


def test_the_nearest_distribution_in_errors_is_a_quadratic_problem(rng):
    for _ in range(20):
        frequency, error = rng.normal(0.1, 0.3, 8), rng.uniform(0.05, 0.5, 8)
        weights = 1 / error**2
        expected = nonnegative_least_squares(
            np.diag(weights), weights * frequency, total=1.0, equal=True
        )
        assert np.allclose(nearest_in_errors(frequency, error), expected, atol=1e-8)


def test_equal_errors_make_it_the_projection(rng):
    frequency = rng.normal(0.1, 0.3, 30)
    assert np.allclose(nearest_in_errors(frequency, np.full(30, 0.2)), project(frequency))

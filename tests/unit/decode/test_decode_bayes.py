from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.bayes import posterior_mean
from deniable.decode.simplex import project
from deniable.errors import InvalidParameter


def shapes() -> dict[str, np.ndarray]:
    k = np.arange(1, 501)
    return {
        "few": np.where(k <= 5, 0.2, 0.0),
        "zipf": (1 / k) / (1 / k).sum(),
        "geometric": 0.97**k / (0.97**k).sum(),
        "uniform": np.full(500, 1 / 500),
    }


def test_the_posterior_is_bayes_rule_with_the_fitted_prior(rng):
    error = rng.uniform(0.01, 0.02, 60)
    estimates = np.where(np.arange(60) < 6, 0.15, 0.0) + error * rng.normal(size=60)
    found = posterior_mean(estimates, error)
    for i in range(60):
        density = np.exp(-0.5 * ((estimates[i] - found.atoms) / error[i]) ** 2) * found.prior
        assert found.mean[i] == pytest.approx((density * found.atoms).sum() / density.sum())
    assert found.frequency.sum() == pytest.approx(1)
    assert found.frequency.min() >= 0
    assert found.prior.sum() == pytest.approx(1)


@pytest.mark.parametrize("shape", list(shapes()))
def test_it_is_closer_to_the_truth_than_the_projection(rng, shape):
    truth = shapes()[shape]
    error = np.full(500, 0.01)
    ours = theirs = 0.0
    for _ in range(5):
        estimates = truth + error * rng.normal(size=500)
        ours += np.square(posterior_mean(estimates, error).frequency - truth).sum()
        theirs += np.square(project(estimates) - truth).sum()
    assert ours < theirs


def test_estimates_that_are_all_equal_stay_equal():
    found = posterior_mean(np.full(10, 0.1), np.full(10, 0.01))
    assert np.allclose(found.frequency, 0.1)


def test_estimates_that_are_all_negative_become_uniform():
    found = posterior_mean(np.full(4, -0.1), np.full(4, 0.01))
    assert np.allclose(found.frequency, 0.25)


def test_the_grid_stays_small_and_reaches_the_largest_estimate():
    found = posterior_mean(np.array([0.0, 0.9]), np.array([1e-6, 1e-6]))
    assert found.atoms.size <= 202
    assert found.atoms[0] == 0
    assert found.atoms[-1] > 0.9
    assert (np.diff(found.atoms) > 0).all()


@pytest.mark.parametrize(
    ("frequency", "error"),
    [([np.nan, 1.0], [1.0, 1.0]), ([0.5, 0.5], [0.0, 1.0]), ([0.5], [np.nan]), ([], [])],
)
def test_what_is_not_identifiable_is_refused(frequency, error):
    with pytest.raises(InvalidParameter, match="finite frequencies"):
        posterior_mean(np.array(frequency), np.array(error))

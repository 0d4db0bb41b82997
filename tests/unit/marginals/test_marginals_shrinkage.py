"""Empirical Bayes and common causes: they help where there is something, and do no harm else."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.marginals.factors import common_causes, completed
from deniable.marginals.shrinkage import fit_prior, fit_spread


def test_shrunken_values_are_nearer_to_the_truth() -> None:
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(500) < 0.1, rng.normal(size=500) * 0.4, 0.0)
    noise = rng.uniform(0.05, 0.2, size=500)
    values = truth + noise * rng.normal(size=500)
    shrunken = fit_prior(values, noise**2).shrunk(values, noise**2)
    before, after = np.square(values - truth).mean(), np.square(shrunken - truth).mean()
    assert after < before / 2
    assert (np.abs(shrunken) <= np.abs(values)).all()
    assert (shrunken * values >= 0).all()


def test_what_is_certain_is_left_alone(rng: np.random.Generator) -> None:
    values = rng.uniform(-0.8, 0.8, size=50)
    variances = np.full(50, 1e-6)
    assert fit_prior(values, variances).shrunk(values, variances) == pytest.approx(values, abs=1e-3)


def test_pure_noise_is_shrunken_away(rng: np.random.Generator) -> None:
    values = 0.1 * rng.normal(size=400)
    variances = np.full(400, 0.01)
    shrunken = fit_prior(values, variances).shrunk(values, variances)
    assert np.square(shrunken).mean() < 0.1 * np.square(values).mean()


def test_few_values_are_not_shrunken_to_nothing() -> None:
    """Three values of two standard errors: some of it stays."""
    values, variances = np.array([0.2, -0.2, 0.2]), np.full(3, 0.01)
    shrunken = fit_prior(values, variances).shrunk(values, variances)
    assert np.abs(shrunken).min() > 0.05


def test_nothing_measured_is_nothing() -> None:
    values, variances = np.array([3.0, 0.5]), np.array([np.inf, 0.01])
    assert fit_prior(values, variances).shrunk(values, variances)[0] == 0
    prior = fit_prior(values[:1], variances[:1])
    assert prior.shrunk(values[:1], variances[:1]) == pytest.approx([0.0])


def test_one_spread_for_all_is_the_most_likely(rng: np.random.Generator) -> None:
    """The slow twin looks at every variance on a finer grid."""
    noise = rng.uniform(0.01, 0.05, size=300)
    values = np.sqrt(0.03 + noise) * rng.normal(size=300)

    def likelihood(spread: float) -> float:
        total = spread + noise
        return float(-0.5 * np.sum(np.log(total) + values**2 / total))

    finer = np.geomspace(1e-7, 1, 2_000)
    best = finer[int(np.argmax([likelihood(spread) for spread in finer]))]
    assert fit_spread(values, noise) == pytest.approx(best, rel=0.2)
    assert fit_spread(np.append(values, 9.0), np.append(noise, np.inf)) == fit_spread(values, noise)


def test_pure_noise_has_no_spread(rng: np.random.Generator) -> None:
    assert fit_spread(0.05 * rng.normal(size=50), np.full(50, 0.01)) < 1e-6
    assert fit_spread(np.zeros(1), np.full(1, np.inf)) < 1e-6


def test_common_causes_are_found_through_noise() -> None:
    rng = np.random.default_rng(4)
    loadings = rng.normal(size=(24, 2)) * 0.3
    truth = loadings @ loadings.T
    noise = rng.normal(size=(24, 24)) * 0.08
    noise = np.triu(noise, 1) + np.triu(noise, 1).T
    known = ~np.eye(24, dtype=bool)
    variance = np.where(known, 0.08**2, np.inf)
    fitted, left_out = common_causes(truth + noise, variance, known)
    for found, most in ((fitted, 0.6), (left_out, 0.8)):
        error = np.square(found - truth)[known].mean()
        assert error < most * np.square(noise)[known].mean()


def test_noise_has_no_common_causes(rng: np.random.Generator) -> None:
    noise = rng.normal(size=(20, 20)) * 0.8
    noise = np.triu(noise, 1) + np.triu(noise, 1).T
    assert not completed(noise, ~np.eye(20, dtype=bool)).any()


def test_scales_of_rows_do_not_matter(rng: np.random.Generator) -> None:
    scale = rng.uniform(0.2, 3.0, size=12)
    loadings = rng.normal(size=(12, 1))
    known = ~np.eye(12, dtype=bool)
    variance = np.where(known, 0.01, np.inf)
    plain = common_causes(loadings @ loadings.T, variance, known).fitted
    outer = np.outer(scale, scale)
    scaled = common_causes(loadings @ loadings.T * outer, variance * outer**2, known).fitted
    assert scaled == pytest.approx(plain * outer, rel=1e-6)

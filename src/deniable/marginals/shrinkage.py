"""Empirical Bayes: pull noisy effects towards 0, as far as all of them together say.

Model: x_i = effect_i + noise, noise ~ N(0, v_i) with v_i known, and the effects are drawn from a
mixture of normal distributions around 0 with standard deviations on a fixed grid, one of them 0.
The mixture's weights are fitted to all x by maximum likelihood; each effect is then its mean given
x_i. Few large effects among many that are 0 are left almost alone, because the mixture has heavy
tails where the data have. [Ste17].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.decode.mixture import fit_mixture
from deniable.mechanisms.base import Floats

GRID = 16
FINEST = 1 / 8
"""The smallest standard deviation on the grid besides 0, as a share of the least noise."""
DOUBT = 1.0
"""The weight of the Dirichlet prior, in values, that is spread evenly over the grid."""
LARGEST = 1.0
"""The largest standard deviation on the grid: effects are correlations."""
SPREADS = 100
LEAST_VARIANCE = 1e-12
SMALLEST_SPREAD = 1e-7
"""The variances that `fit_spread` tries lie between this and 1, evenly in their logarithm."""


@dataclass(frozen=True)
class Prior:
    """A mixture of normal distributions around 0.

    Attributes:
        deviations: of the components; the first is 0.
        weights: of the components.
        log_likelihood: of the data that the weights were fitted to.
    """

    deviations: Floats
    weights: Floats
    log_likelihood: float

    def shrunk(self, values: Floats, variances: Floats) -> Floats:
        """Return the mean of each effect given its noisy value.

        Guarantees: between 0 and the value. A value of infinite variance gives 0.
        """
        return self.kept(values, variances) * values

    def kept(self, values: Floats, variances: Floats) -> Floats:
        """Return the share of each noisy value that is believed, 0 where the variance is infinite.

        Guarantees: between 0 and 1.
        """
        known = np.isfinite(variances)
        result = np.zeros(values.shape)
        # Of a few reports that all agree the variance is 0, or below it by rounding.
        noise = np.maximum(variances[known], LEAST_VARIANCE)
        log = _log_densities(values[known], noise, self.deviations)
        # P(component | x) by Bayes; within a component of variance s^2 the mean given x is
        # x s^2/(s^2 + v).
        share = np.exp(log - log.max(axis=1, keepdims=True)) * self.weights
        share /= share.sum(axis=1, keepdims=True)
        squares = self.deviations**2
        kept = squares / (squares + noise[:, None])
        result[known] = (share * kept).sum(axis=1)
        return result


def fit_prior(values: Floats, variances: Floats) -> Prior:
    """Fit the mixture's weights to noisy values, by the certified solver of decode/mixture.

    Edge cases: values of infinite variance say nothing and are left out; without any other, all
    weight is on 0.

    Cost: O(values x GRID^2) for each of a few rounds.
    """
    known = np.isfinite(variances)
    values, variances = values[known], np.maximum(variances[known], LEAST_VARIANCE)
    if values.size == 0:
        return Prior(np.zeros(1), np.ones(1), 0.0)
    finest = FINEST * float(np.sqrt(variances.min()))
    steps = np.geomspace(min(finest, LARGEST / 2), LARGEST, GRID)
    deviations = np.concatenate([[0.0], steps])
    log = _log_densities(values, variances, deviations)
    top = log.max(axis=1, keepdims=True)
    likelihood = np.exp(log - top)
    # A Dirichlet prior on the weights, as rows that only one component explains: with few values
    # the likelihood alone would put all weight on one place.
    rows = np.concatenate([likelihood, np.eye(deviations.size)])
    often = np.concatenate([np.ones(values.size), np.full(deviations.size, DOUBT / GRID)])
    weights = fit_mixture(rows, often).weights
    reached = float(np.log(likelihood @ weights).sum() + top.sum())
    return Prior(deviations, weights, reached)


def fit_spread(values: Floats, variances: Floats) -> float:
    """Return the variance of effects of one normal distribution around 0, by maximum likelihood.

    Edge cases: values of infinite variance are left out; without any other, the smallest.

    Cost: a pass over the values for each of a hundred variances.
    """
    known = np.isfinite(variances)
    spreads = np.geomspace(SMALLEST_SPREAD, LARGEST**2, SPREADS)
    noise = np.maximum(variances[known], LEAST_VARIANCE)
    densities = _log_densities(values[known], noise, np.sqrt(spreads))
    return float(spreads[np.argmax(densities.sum(axis=0))])


def _log_densities(values: Floats, variances: Floats, deviations: Floats) -> Floats:
    # Effect and noise are independent normals: x ~ N(0, v + s^2).
    spread = variances[:, None] + deviations**2
    result: Floats = -0.5 * (np.log(2 * np.pi * spread) + values[:, None] ** 2 / spread)
    return result

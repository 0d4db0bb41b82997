"""The empirical-Bayes posterior mean of many frequencies: each shrinks as its crowd suggests.

Model: the true frequencies are draws from an unknown prior with atoms on a grid; an estimate is
normal around the true one with its standard error. The prior is fitted to all estimates together
by maximum likelihood (Kiefer-Wolfowitz), then each estimate is replaced by its posterior mean.
Where most answers are near 0 and a few are large, as is usual, small ones shrink hard and large
ones not at all, which no single threshold can do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.decode.mixture import fit_mixture
from deniable.decode.simplex import project
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

_FINE = 0.5
"""Atoms near 0 are half a standard error apart."""
_NEAR = 6.0
_MOST = 200


@dataclass(frozen=True)
class Posterior:
    """Shrunk frequencies.

    Attributes:
        frequency: posterior means, shifted to sum to 1 and at least 0.
        mean: the posterior means before the shift.
        atoms: the grid of the prior.
        prior: the weight of each atom.
    """

    frequency: Floats
    mean: Floats
    atoms: Floats
    prior: Floats


def posterior_mean(frequency: Floats, std_error: Floats) -> Posterior:
    """Return the empirical-Bayes posterior means.

    Cost: a table of (answers x at most 200 atoms), and some 20 rounds of a quadratic problem.

    Raises:
        InvalidParameter: if a frequency is not finite or a standard error not positive.
    """
    if not (np.isfinite(frequency).all() and np.all(std_error > 0) and frequency.size):
        raise InvalidParameter(
            "The posterior needs finite frequencies and standard errors above 0. Leave out what "
            "is not identifiable first."
        )
    atoms = _atoms(frequency, float(np.median(std_error)))
    log_likelihood = -0.5 * np.square((frequency[:, None] - atoms) / std_error[:, None])
    # A factor per row changes neither the fitted prior nor the posterior; it avoids underflow.
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    prior = fit_mixture(likelihood).weights
    # Bayes: E[f | estimate] = sum_a a L_a prior_a / sum_a L_a prior_a over the atoms a.
    joint = likelihood * prior
    mean = joint @ atoms / joint.sum(axis=1)
    return Posterior(project(mean), mean, atoms, prior)


def _atoms(frequency: Floats, error: float) -> Floats:
    """Return the grid: fine near 0, then as many steps as there is room for, evenly in ratio."""
    top = max(float(frequency.max()), 0.0) + error
    near = np.arange(0.0, min(_NEAR * error, top), _FINE * error)
    if top <= near[-1] + error:
        return np.append(near, top)
    # Far out steps of half a standard error would be too many: let them grow, at most 5% each.
    count = int(min(_MOST - near.size, np.ceil(np.log(top / (near[-1] + error)) / 0.05) + 2))
    return np.concatenate([near, np.geomspace(near[-1] + error / 2, top, max(2, count))])

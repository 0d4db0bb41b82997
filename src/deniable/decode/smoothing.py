"""Binned numbers and ordinals: a smooth distribution beside the raw one.

Model: neighbouring bins usually have similar frequencies. Maximise

    log-likelihood(f) - (strength / 2) sum_i (f_(i-1) - 2 f_i + f_(i+1))^2       on the simplex,

so that a straight line costs nothing. The strength is chosen from the data: the one with the least
Mallows' Cp, an unbiased estimate of the (weighted) squared error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable.decode.distribution_estimates import Gaussian, Support, information_of
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms import Candidate, Counts, Mechanism
from deniable.mechanisms.base import Floats

LARGEST = 2_048
"""The most bins that are smoothed: beyond it the quadratic problems become dear."""
_GRID = np.logspace(-3, 7, 21)
_ROUNDS = 3


@dataclass(frozen=True)
class Smoothed:
    """A smooth distribution over bins in their order.

    Attributes:
        raw: the unbiased frequencies.
        frequency: the smooth ones, at least 0, summing to 1.
        strength: of the smoothing, relative to the information of an average bin.
        effective: how many free parameters the smooth distribution has left.
    """

    raw: Floats
    frequency: Floats
    strength: float
    effective: float


@one_thread
def smooth(
    mechanism: Mechanism,
    counts: Counts,
    labels: Sequence[Candidate] | None = None,
    *,
    strength: float | None = None,
) -> Smoothed:
    """Return the smoothed distribution of a closed domain whose answers are in order.

    Accuracy: for smooth populations the squared error falls by about the ratio of bins to
    effective parameters; for jagged ones the data choose hardly any smoothing.

    Cost: 21 strengths, each three quadratic problems of O(bins^3).

    Edge cases: below 4 bins there is nothing to smooth; strength 0 then.

    Args:
        mechanism: of a closed domain; leave an absent answer out of the bins.
        counts: of the reports.
        labels: what the mechanism is asked about, where its reports are hashed.
        strength: instead of the one that the data choose.

    Raises:
        InvalidParameter: if the domain is not closed, has more than 2,048 bins or a single bit,
            if there are no reports, or if the strength is negative.
    """
    support = information_of(mechanism, counts, labels)
    bins = support.unbiased.size
    if not 2 <= bins <= LARGEST:
        raise InvalidParameter(f"Smoothing needs 2 to {LARGEST:,} bins. Got {bins:,}.")
    if strength is not None and not strength >= 0:
        raise _validate.invalid("strength", "smooth", "a number of at least 0", strength)
    if bins < 4:
        return _smoothed(support, 0.0)[0]
    if strength is not None:
        return _smoothed(support, strength)[0]
    return min((_smoothed(support, float(s)) for s in (0.0, *_GRID)), key=lambda tried: tried[1])[0]


def _smoothed(support: Support | Gaussian, strength: float) -> tuple[Smoothed, float]:
    """Return the distribution at one strength, and its Cp.

    Newton's method with the expected information, as in `likelihood`: each round weighs the bins by
    the last fit.
    """
    raw = support.unbiased
    frequency = np.full(raw.size, 1 / raw.size)
    differences = np.diff(np.eye(raw.size), n=2, axis=0)
    for _ in range(_ROUNDS):
        weights = support.weights(frequency)
        # Penalised least squares: sum w (x - raw)^2 + strength mean(w) |second differences of x|^2.
        penalty = strength * float(weights.mean()) * differences.T @ differences
        gram = np.diag(weights) + penalty
        frequency = nonnegative_least_squares(gram, weights * raw, total=1.0, equal=True)
    free = np.flatnonzero(frequency)
    inner = gram[np.ix_(free, free)]
    # The trace of the matrix that maps observations to fits, less one for the known sum.
    effective = max(0.0, float(np.trace(np.linalg.solve(inner, np.diag(weights[free])))) - 1)
    # Mallows' Cp in units of the noise: misfit + 2 effective parameters.
    misfit = float(weights @ np.square(raw - frequency))
    return Smoothed(raw, frequency, strength, effective), misfit + 2 * effective

"""Sums over binomial distributions, safe in their far tails."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deniable._distributions import binomial_cdf, binomial_sf

Numbers = NDArray[np.float64]

GUARD = 1e-9
"""The relative error that each binomial probability is given, against us."""


def at_least(successes: Numbers, trials: Numbers) -> Numbers:
    """Return P(Bin(trials, 1/2) >= successes), elementwise.

    Accuracy: a relative error far below GUARD, from the incomplete beta function.
    """
    # P(Bin(t, x) >= s) = I_x(s, t - s + 1), the regularised incomplete beta function.
    inside = (successes >= 1) & (successes <= trials)
    a = np.where(inside, successes, 1.0)
    b = np.where(inside, trials - successes + 1, 1.0)
    found: Numbers = special.betainc(a, b, 0.5)
    return np.where(inside, found, np.where(successes < 1, 1.0, 0.0))


def middle(trials: Numbers, probability: float, tail: float) -> tuple[Numbers, Numbers]:
    """Return bounds of each binomial law with at most `tail` of it below, and `tail` above.

    Bernstein's inequality, P(|Bin - mean| >= s) <= exp(-s^2 / (2 (variance + s/3))) on either side,
    solved for s: not the quantiles themselves, whose search fails for very small tails and takes
    very long for very many trials.
    """
    log, chance = -math.log(tail), min(1.0, probability)
    wide = log / 3 + np.sqrt(log * log / 9 + 2 * log * trials * chance * (1 - chance))
    if chance in (0.0, 1.0):
        wide = np.zeros_like(wide)
    first = np.maximum(0.0, np.floor(trials * chance - wide))
    return first, np.minimum(trials, np.ceil(trials * chance + wide))


def one_middle(trials: int, probability: float, tail: float) -> tuple[int, int]:
    """Return the bounds of `middle` for one law, as integers."""
    first, last = middle(np.array(float(trials)), probability, tail)
    return int(first), int(last)


def weights(trials: int, probability: float, ends: NDArray[np.int64]) -> tuple[Numbers, float]:
    """Return P(ends[i] <= Bin < ends[i + 1]) for each i, and the probability outside of all."""
    chance = min(1.0, probability)
    below, above = (tail(ends - 1, trials, chance) for tail in (binomial_cdf, binomial_sf))
    # The difference of the smaller tails, so that neither end loses its digits.
    found = np.where(below[1:] < 0.5, below[1:] - below[:-1], above[:-1] - above[1:])
    return found * (1 + GUARD), float(below[0] + above[-1]) * (1 + GUARD)

"""The error of strings of a list that are fitted together: O-RR, and RAPPOR with Bloom filters.

Model: there are 10 common strings of a tenth each (their squares sum to 0.1, as everywhere in a
plan); the candidate has the share f. In a cohort each common string falls into the candidate's
cell, or sets one of its bits, with probability c. So a share F of the others is there as well, a
tenth of a binomial number. Least squares weighs a cell by the inverse of its variance. The
information of one report is then

    O-RR      I = gap^2 (1 - 1/k) E[ 1 / (move + gap (f + F)) ],
    RAPPOR    I = gap^2 d (1 - d/k) E[ 1 / (f q* (1 - q*) + (1 - f) r (1 - r)) ],   r = p* + gap F,

with d the number of bits that a string sets. The factors before the means are the loss to the
cohort's sum, or to the intercept. Fitting M strings to D numbers widens errors: n Var =
1/I / (1 - M/D). O-RR has (1/I - f (1 - f)) instead of 1/I: its cells count people, whose values are
given.

Accuracy: within 5% of simulations from epsilon 1 to 6 (tests/statistical/test_statistical_plan.py).
"""

from __future__ import annotations

import numpy as np

from deniable._distributions import binomial_pmf
from deniable.authoring.auto import SUM_OF_SQUARES
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import ORRParameters, RapporParameters
from deniable.protocol.thresholds import as_fraction

COMMON = round(1 / SUM_OF_SQUARES)
LEAST_LEFT = 0.01
"""The least share 1 - M/D of numbers left after fitting O-RR; it keeps the error finite."""


def fitted_noise(
    parameters: ORRParameters | RapporParameters, frequency: float, listed: int
) -> float:
    """Return n Var of a string's share, all listed strings fitted together.

    Args:
        parameters: of hashed O-RR, or of RAPPOR with cohorts.
        frequency: the string's share.
        listed: the number of strings that are fitted.
    """
    # Symbols and bits of cohorts are fitted by two models.
    if isinstance(parameters, ORRParameters):
        return _orr(parameters, frequency, listed)
    return _rappor(parameters, frequency, listed)


def _orr(parameters: ORRParameters, f: float, listed: int) -> float:
    k, keep = parameters.symbols, as_fraction(parameters.keep)
    pure = Pure.of(keep, (1 - keep) / (k - 1))
    # I of O-RR and its widening, in the module docstring.
    others, chances = _others(1 / k)
    weighed = float((chances / (pure.q + pure.gap * (f + (1 - f) * others))).sum())
    information = pure.gap**2 * (1 - 1 / k) * weighed
    numbers = parameters.cohorts * (k - 1)
    fitted = min(listed, numbers / 2)  # more are screened first
    left = max(LEAST_LEFT, 1 - fitted / numbers)
    return (1 / information - f * (1 - f)) / left


def _rappor(parameters: RapporParameters, f: float, listed: int) -> float:
    pure, k = Pure.of(*parameters.support), parameters.bits
    # d = k filled, the mean number of different bits that h hash functions hit.
    filled = 1 - (1 - 1 / k) ** parameters.hashes
    others, chances = _others(filled)
    shown = pure.q + pure.gap * others
    variance = f * pure.p * (1 - pure.p) + (1 - f) * shown * (1 - shown)
    information = pure.gap**2 * k * filled * (1 - filled) * float((chances / variance).sum())
    cells = k * parameters.cohorts
    fitted = min(listed, cells // 2)  # more are screened first
    return 1 / information / (1 - fitted / cells)


def _others(chance: float) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """Return the shares of people that common strings can put into a cell, and their chances."""
    count = np.arange(COMMON + 1)
    return count / COMMON, binomial_pmf(count, COMMON, chance)

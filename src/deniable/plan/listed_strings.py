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

Longer lists are screened (`decode/screening.py`). Each half of the cohorts is fitted with the S
strings that the other half chose, and a candidate is one more column. A random column loses the
share S / (D/2) of its information to S others, so that D / (2 S) stands for D / M. Of O-RR

    S = min( 10 + (M - 10) Phi(-2), a fifth of a half's cells ):

the common strings, and of the others those that pass two standard errors by chance. That the
common strings are found, and nothing else is held, is assumed: strings too rare to be chosen
stay in the residuals and widen errors by what the estimate calls its dispersion.

Accuracy: within 5% of simulations from epsilon 1 to 6 (tests/statistical/test_statistical_plan.py).
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from deniable._distributions import binomial_pmf, normal_sf
from deniable.authoring.auto import SUM_OF_SQUARES
from deniable.decode.screening import CHOSEN, FULL, PENALTY
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import ORRParameters, Parameters, RapporParameters
from deniable.protocol.thresholds import as_fraction

COMMON = round(1 / SUM_OF_SQUARES)
ASSUMED = (
    "So many strings are screened: the detection limit assumes ten common strings of a tenth each, "
    "which are found; strings that are common but too rare to be found widen it."
)
"""The sentence about what planned errors of a screened list take for granted."""
LEAST_LEFT = 0.01
"""The share of information left where nothing can be told; it keeps the error finite."""


def of_symbols(parameters: Parameters) -> TypeGuard[ORRParameters]:
    """Tell whether a report is one of a cohort's symbols."""
    # Symbols of O-RR are fitted as they are, and screened only where they cannot be told apart.
    return isinstance(parameters, ORRParameters)


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
    return (1 / information - f * (1 - f)) / _left(parameters, listed)


def _left(parameters: ORRParameters, listed: int) -> float:
    """Return the share of information that fitting leaves: 1 - M/D, or 1 - S/(D/2) if screened."""
    numbers = parameters.cohorts * (parameters.symbols - 1)
    if not screened(parameters, listed):
        return 1 - listed / numbers
    if not splits(parameters):
        return LEAST_LEFT
    half_cells = parameters.cohorts * parameters.symbols / 2
    # S of the module docstring; the elastic net keeps what passes PENALTY standard errors.
    by_chance = float(normal_sf(PENALTY)) * max(0, listed - COMMON)
    return 1 - min(COMMON + by_chance, CHOSEN * half_cells) / (numbers / 2)


def screened(parameters: ORRParameters, listed: int) -> bool:
    """Tell whether a list is too long for its symbols to be fitted at once."""
    return listed > FULL * _equations(parameters)


def splits(parameters: ORRParameters) -> bool:
    """Tell whether there are cohorts enough to split: else a long list tells nothing."""
    return _equations(parameters) >= 2 * parameters.symbols


def _equations(parameters: ORRParameters) -> int:
    # Symbols of a cohort sum to 1; one of these equations is the intercept's own.
    return parameters.cohorts * (parameters.symbols - 1) + 1


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

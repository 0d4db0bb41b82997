"""Multiple testing: family-wise error, false discovery rate, and intervals after selection.

Every procedure takes a plain array of p-values (NaN: not tested) and returns decisions in the same
order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable._distributions import t_isf
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

Decisions = NDArray[np.bool_]
_LAMBDA = 0.5
"""p-values above this are taken to come from absent candidates [Sto02]."""


@dataclass(frozen=True)
class Discoveries:
    """Decisions that keep the false share below a level.

    Attributes:
        decisions: True for a discovery.
        absent: the estimated share of candidates that nobody holds (pi0).
        expected_false: the expected number of false ones among the discoveries.
    """

    decisions: Decisions
    absent: float
    expected_false: float


def bonferroni(p_values: Floats, alpha: float = 0.05) -> Decisions:
    """Reject where p <= alpha / M: P(any false discovery) <= alpha, whatever the dependence."""
    p, tested = _checked(p_values, alpha)
    return p <= alpha / max(1, tested)


def holm(p_values: Floats, alpha: float = 0.05) -> Decisions:
    """Reject the smallest p-values while the i-th is at most alpha / (M - i + 1) [Holm79].

    Guarantees: P(any false discovery) <= alpha, whatever the dependence; never fewer discoveries
    than Bonferroni.
    """
    p, tested = _checked(p_values, alpha)
    order = np.argsort(p, kind="stable")[:tested]
    # The i-th smallest is compared with alpha / (M - i + 1); the first that fails ends it.
    fails = np.flatnonzero(p[order] > alpha / (tested - np.arange(tested)))
    return _first(order, fails[0] if fails.size else tested, p.size)


def benjamini_hochberg(p_values: Floats, alpha: float = 0.05) -> Decisions:
    """Reject the R smallest, R the largest i with p_(i) <= alpha i / M [1995].

    Guarantees: the expected false share is at most alpha for independent p-values, and for those
    that depend positively.
    """
    p, tested = _checked(p_values, alpha)
    return _step_up(p, tested, alpha)


def absent_share(p_values: Floats) -> float:
    """Return Storey's estimate of the share of absent candidates, at most 1.

    pi0 = (1 + #{p > 1/2}) / (M / 2): absent candidates have uniform p-values, and above 1/2 there
    is hardly anything else.
    """
    p, tested = _checked(p_values, 0.5)
    if tested == 0:
        return 1.0
    above = np.count_nonzero((p > _LAMBDA) & np.isfinite(p))
    return min(1.0, float((1 + above) / ((1 - _LAMBDA) * tested)))


def storey(p_values: Floats, alpha: float = 0.05) -> Discoveries:
    """Benjamini-Hochberg at level alpha / pi0, among p-values of at most alpha.

    Where nearly every candidate is held pi0 is small, and the procedure would mark them all,
    however weak each one's own evidence: nothing is marked that would not pass by itself.

    Guarantees: the expected false share is at most alpha for independent p-values of absent
    candidates [STS04, theorem 3].
    """
    p, tested = _checked(p_values, alpha)
    absent = absent_share(p_values)
    decisions = _step_up(p, tested, alpha / absent) & (p <= alpha)
    # pi0 M absent candidates have uniform p-values: pi0 M t of them fall below a cut t.
    cut = float(p[decisions].max()) if decisions.any() else 0.0
    return Discoveries(decisions, absent, absent * tested * cut)


def holm_adjusted(p_values: Floats) -> Floats:
    """Return p-values adjusted by [Holm79], which control the family-wise error."""
    order = np.argsort(p_values, kind="stable")
    # p_(i) (M - i + 1), then the running maximum: adjusted p-values must not fall.
    raised = p_values[order] * np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raised))
    return adjusted


def bh_adjusted(p_values: Floats) -> Floats:
    """Return p-values adjusted by [BH95], which control the false discovery rate."""
    order = np.argsort(p_values)[::-1]
    # p_(i) M / i from the largest down, with the running minimum: the step-up rule.
    raised = p_values[order] * p_values.size / np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised))
    return adjusted


def selected_level(discoveries: int, tested: int, alpha: float = 0.05) -> float:
    """Return the level of intervals of discoveries: 1 - alpha R / M.

    Guarantees: intervals at this level of the R discoveries miss with an expected share of at most
    alpha [BY05]. An ordinary interval of a string that just passed its
    test misses more often, since what passed was over-estimated.

    Raises:
        InvalidParameter: unless 0 <= discoveries <= tested and tested is at least 1.
    """
    _level(alpha)
    tested = _validate.integer("tested", "selected_level", tested, 1, 2**63 - 1)
    count = _validate.integer("discoveries", "selected_level", discoveries, 0, tested)
    return 1 - alpha * max(count, 1) / tested


def half_width(level: float, degrees: float) -> float:
    """Return how many standard errors an interval extends to each side (Student's t)."""
    return float(t_isf((1 - level) / 2, max(degrees, 1)))


def _step_up(p: Floats, tested: int, alpha: float) -> Decisions:
    order = np.argsort(p, kind="stable")[:tested]
    # [BH95]: the largest i with p_(i) <= alpha i / M, whatever smaller i do.
    passes = np.flatnonzero(p[order] <= alpha * np.arange(1, tested + 1) / max(1, tested))
    return _first(order, passes[-1] + 1 if passes.size else 0, p.size)


def _first(order: NDArray[np.intp], count: int, size: int) -> Decisions:
    decisions = np.zeros(size, dtype=np.bool_)
    decisions[order[:count]] = True
    return decisions


def _checked(p_values: Floats, alpha: float) -> tuple[Floats, int]:
    """Return the p-values with infinity for those not tested, and how many were tested."""
    _level(alpha)
    p = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(p)
    if p.ndim != 1 or not np.all((p[known] >= 0) & (p[known] <= 1)):
        raise InvalidParameter("p-values must be a flat array of numbers from 0 to 1, or NaN.")
    return np.where(known, p, np.inf), int(known.sum())


def _level(alpha: float) -> None:
    if not 0 < _validate.probability("alpha", "significance", alpha) < 1:
        raise _validate.invalid("alpha", "significance", "a number between 0 and 1", alpha)

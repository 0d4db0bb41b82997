"""The joint distribution of two or more variables, with its error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.associate.variable import Variable
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Joint:
    """A table of probabilities, one axis per variable.

    Attributes:
        names: of the variables.
        labels: of each axis, "(other)" last where there is one.
        probability: the maximum-likelihood table; at least 0, summing to 1.
        std_error: one standard deviation of each cell, as if no cell had a bound at 0.
        low: of each cell's interval.
        high: of each cell's interval.
        covariance: cells x cells (C order), on the tangent of the simplex and the active set: cells
            at 0 have none. None for tables that are too large to keep it.
        n: reports.
        gap: no table has a log-likelihood larger by more: the certificate.
        rounds: of the solver.
        solver: "sqp", "squarem" or "em".
        patterns: distinct rows of likelihoods after grouping.
        informative: whether some cell is known better than the marginals alone determine it.
        notes: what a reader must know.
        level: of the intervals.
        unbounded: the table one Newton step from the maximum without the bounds at 0; nearly
            unbiased, may be negative, and the centre of the intervals.
        unbounded_covariance: of `unbounded`, on the tangent of the simplex alone.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    probability: Floats
    std_error: Floats
    low: Floats
    high: Floats
    covariance: Floats | None
    n: int
    gap: float
    rounds: int
    solver: str
    patterns: int
    informative: bool
    notes: tuple[str, ...] = ()
    level: float = 0.95
    unbounded: Floats = field(default_factory=lambda: np.empty(0))
    unbounded_covariance: Floats | None = None


def estimate_joint(
    variables: Sequence[Variable], *, solver: str = "sqp", level: float = 0.95
) -> Joint:
    """Return the maximum-likelihood joint distribution of the variables."""
    raise NotImplementedError

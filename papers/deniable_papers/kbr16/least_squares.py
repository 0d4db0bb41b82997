"""Least squares on cohorts, without their matrix: H has a column per answer, a row per cell.

Two decoders of the shares y of the cells. The paper's solves H'H f = H'y by conjugate gradients
and projects f on the simplex. Ours minimises |H f - y| on the simplex itself, by accelerated
projected gradients [BT09]. The two are the same where the columns of H are
orthogonal, as in k-RR and k-RAPPOR; where there are hardly more equations than answers the
second does not pay for separating answers that are not there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.decode.simplex import project
from deniable.kernels._jit import njit
from deniable.mechanisms.base import Floats
from deniable_papers.kbr16.cohorts import Cells, Cohorts

_EXACT = 1e-6
"""Conjugate gradients stop when the residual is so much smaller than the right-hand side."""
_MOST_STEPS = 200
_MOVED = 1e-4
"""Projected gradients stop when a step moves less than this share of the people."""


def _spread(frequency: Floats, cells: Cells, out: Floats) -> None:
    out[:] = 0.0
    for s in range(cells.shape[0]):
        for place in cells[s]:
            out[place] += frequency[s]


def _gather(values: Floats, cells: Cells, out: Floats) -> None:
    for s in range(cells.shape[0]):
        total = 0.0
        for place in cells[s]:
            total += values[place]
        out[s] = total


_fast_spread: Callable[[Floats, Cells, Floats], None] = njit(_spread)
_fast_gather: Callable[[Floats, Cells, Floats], None] = njit(_gather)


@dataclass(frozen=True)
class Decoded:
    """Two distributions from the same reports.

    Attributes:
        projected: least squares, then projected on the simplex, as in the paper.
        simplex: least squares on the simplex.
    """

    projected: Floats
    simplex: Floats


def against(cohorts: Cohorts, shares: Floats) -> Floats:
    """Return H' y: for each answer, the sum of the shares of its cells."""
    found = np.empty(cohorts.answers)
    _fast_gather(np.append(shares.ravel(), 0.0), cohorts.cells, found)
    return found


def normal(cohorts: Cohorts, frequency: Floats) -> Floats:
    """Return H'H f."""
    shares = np.empty(cohorts.count * cohorts.size + 1)
    _fast_spread(frequency, cohorts.cells, shares)
    return against(cohorts, shares[:-1])


def solved(cohorts: Cohorts, wanted: Floats) -> Floats:
    """Return the solution of H'H f = wanted with the smallest norm.

    Cost: two passes over the cells per step; 5 to 20 steps where there are twice as many
    equations as answers.

    Edge cases: where H has dependent columns the smallest solution is the limit of these steps,
    as in any least squares by pseudo-inverse.
    """
    found = np.zeros_like(wanted)
    residual, direction = wanted.copy(), wanted.copy()
    before = start = float(residual @ residual)
    for _ in range(_MOST_STEPS):
        image = normal(cohorts, direction)
        step = before / float(direction @ image)
        found += step * direction
        residual -= step * image
        after = float(residual @ residual)
        if after <= _EXACT**2 * start:
            break
        direction = residual + after / before * direction
        before = after
    return found


def on_simplex(cohorts: Cohorts, wanted: Floats, start: Floats, scale: float) -> Floats:
    """Return the distribution that minimises |H f - y|, where `wanted` is H'y.

    Args:
        cohorts: H.
        wanted: H'y.
        start: a distribution.
        scale: the largest eigenvalue of H'H, or more.
    """
    here = looking = start
    pace = 1.0
    for _ in range(_MOST_STEPS):
        there = project(looking - (normal(cohorts, looking) - wanted) / scale)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        looking = there + (pace - 1) / faster * (there - here)
        moved = float(np.abs(there - here).sum())
        here, pace = there, faster
        if moved < _MOVED:
            break
    return here


def largest_eigenvalue(cohorts: Cohorts) -> float:
    """Return a bound of the largest eigenvalue of H'H on directions that sum to 0.

    A few power steps from a fixed start come within a few percent from below; a third on top
    makes the gradient steps safe.
    """
    vector = np.cos(np.arange(cohorts.answers) ** 2 / 7.0)
    value = 1.0
    for _ in range(8):
        vector = vector - vector.mean()
        vector /= np.linalg.norm(vector)
        image = normal(cohorts, vector)
        value, vector = float(vector @ image), image
    return value * 4 / 3


def decoded(cohorts: Cohorts, shares: Floats, scale: float) -> Decoded:
    """Return both decoders' distributions of the shares of the cells."""
    wanted = against(cohorts, shares)
    first = project(solved(cohorts, wanted))
    return Decoded(first, on_simplex(cohorts, wanted, first, scale))

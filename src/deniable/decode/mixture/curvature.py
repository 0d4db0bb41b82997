"""The curvature of a fit: from some of the rows, corrected by what the steps show of all of them.

Model: f has the curvature H(x) = L' diag(u / (Lx)^2) L. Of every s-th row alone it is off by a part
of the square root of (components / rows), in every direction, and a round leaves that part of the
way to the minimum. The gradients of two rounds are those of all rows. With the step d between them
and the change y of the gradient, the mean curvature B along d has B d = y, and the nearest matrix
to H that has it, still positive definite since y'd > 0 for a convex f, is [NW06, 6.19]

    H - (H d)(H d)' / (d'H d) + y y' / (y'd).

It costs nothing beside a gradient, and each direction is corrected once it has been gone.

Where few rows are most of the curvature, as where a mechanism lets few reports tell, a part of the
rows has none of them in some directions, and there are too many directions to go: after a few
rounds without much success the part becomes larger.
"""

from __future__ import annotations

import numpy as np

from deniable.decode.mixture.rows import Rows
from deniable.mechanisms.base import Floats

_RIDGE = 1e-10
_TRIED = 4
"""Rounds that a sampled curvature has, with its corrections, before it may be given up."""
_SERVES = 0.25
"""It is kept longer while a round leaves no more than this share of the violation."""
_ENOUGH = 0.05
"""It has helped if it left no more than this share of the violation in all its rounds."""
_FINER = 4
"""The factor by which more rows are taken if it has not."""


class Curvature:
    """The curvature of f from every s-th row, kept from round to round until it is forgotten.

    Args:
        rows: the likelihoods.
        every: s; with 1 it is exact where it was taken, and is not corrected.

    Attributes:
        every: s; it becomes smaller where a part of the rows does not show the way.
        fresh: whether it was taken at the weights that it was last asked for.
    """

    def __init__(self, rows: Rows, every: int) -> None:
        self.every, self.fresh = every, False
        self._rows, self._kept = rows, np.empty(0)
        self._last: tuple[Floats, Floats] | None = None
        self._rounds, self._begun, self._before = 0, np.inf, np.inf

    def forget(self) -> None:
        """Take it anew at the next weights."""
        self._kept = np.empty(0)

    def judge(self, off: float) -> None:
        """Keep what is known, or take it anew, from more rows where it did not help.

        Args:
            off: by how much the weights violate the conditions of a minimum.
        """
        tried = self._rounds >= _TRIED and off > _SERVES * self._before
        if self.every == 1 or tried:
            if off > _ENOUGH * self._begun:
                self.every = max(1, self.every // _FINER)
            self.forget()
        if self._kept.size == 0:
            self._rounds, self._begun = 0, off
        self._rounds, self._before = self._rounds + 1, off

    def learn(self, x: Floats, slope: Floats) -> None:
        """Correct what is kept by the gradient at these weights and at those told before."""
        last, self._last = self._last, (x, slope)
        if last is not None and self.every > 1 and self._kept.size:
            self._kept = corrected(self._kept, x - last[0], slope - last[1])

    def at(self, mixed: Floats) -> Floats:
        """Return the curvature, at weights of this Lx if there is none yet.

        A tiny ridge keeps the model solvable where components are nearly alike.
        """
        self.fresh = self._kept.size == 0
        if self.fresh:
            # u / (Lx)^2, in place: an array of all rows is among the largest that a fit has.
            weights = mixed * mixed
            hessian = self._rows.curvature(
                np.divide(self._rows.shares, weights, out=weights), self.every
            )
            hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / len(hessian)
            self._kept = hessian
        return self._kept


def corrected(hessian: Floats, step: Floats, change: Floats) -> Floats:
    """Return the curvature with `change` along `step`, and as it was across it.

    Edge cases: where rounding leaves no positive curvature along the step it stays as it is.
    """
    along, before = float(change @ step), hessian @ step
    if not (along > 0 and float(before @ step) > 0):
        return hessian
    kept = hessian - np.outer(before, before) / float(before @ step)
    return np.asarray(kept + np.outer(change, change) / along)

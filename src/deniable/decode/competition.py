"""Tests of candidates that are many for the cells: each against what the others cannot explain.

Where candidates are a good part of the cells, one regression on all of them inflates every error,
and splitting the cohorts leaves few cells to each half. What helps is that nobody holds a negative
share. So the likeliest non-negative shares of *all* candidates are the model, and the statistic of
a candidate v is by how much it improves the best fit of the others,

    T_v = sqrt( (D(others) - D(others and v)) / phi(others) ),

with D the weighted sum of squared residuals at the non-negative optimum and phi = D / degrees of
the others' own fit; below 0, for a candidate that the optimum leaves out, it is the score.

The null distribution is that of decoys (`decoys`): a random column that is added to all candidates
goes through the same computation. An absent candidate is such a column. What is exchanged is not
quite the same, M - 1 candidates for M, and phi, which is of each one's own base, takes care of the
largest part of that: a lucky absent candidate shrinks the residuals that decoys see.

References: the idea of comparing with decoys that compete is that of target-decoy searches [EG07].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from deniable.decode.decoys import PER_CANDIDATE, Tail
from deniable.decode.design import Design
from deniable.decode.likelihood import Likely
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.decode.observed import Observed
from deniable.mechanisms.base import Floats

_DENSE = 0.25
"""Candidates per cell from which on the others' non-negative fit is worth its time."""
_MOST = 400
"""The most candidates: each positive one costs a fit of all others."""
_ROOM = 64
"""The fewest cells: in fewer, random columns are too often those of candidates."""
_FEWEST = 20_000
"""Decoys at least: Holm asks for tails that fewer would have to be extended to."""
_BLOCK = 4_000
_DEPENDENT = 1e-3
"""The least share of a column that counts as not explained by the model."""


@dataclass(frozen=True)
class _Base:
    """The non-negative fit of some columns, an even rest among them.

    Attributes:
        gram, right: of the weighted normal equations.
        x: the shares.
        misfit: D, the weighted sum of squared residuals.
        degrees: cells less positive shares, at least 1.
    """

    gram: Floats
    right: Floats
    x: Floats
    misfit: float
    degrees: int

    @property
    def dispersion(self) -> float:
        """The mean square of a residual, in units of the noise."""
        return max(self.misfit / self.degrees, 1e-300)


def competes(candidates: int, cells: int, reports: int) -> bool:
    """Tell whether candidates are tested this way: a good part of the cells, and not too many.

    With fewer reports than candidates the scores of decoys are a handful of distinct numbers, and
    a candidate that improves the fit by a little more than all of them would seem impossible.
    """
    dense = _DENSE * cells < candidates <= _MOST and cells >= _ROOM
    return dense and reports > candidates


def competing_p_values(
    observed: Observed, design: Design, likely: Likely, rng: np.random.Generator
) -> tuple[Floats, Tail]:
    """Return P(a column that nobody holds improves the fit as much), and the decoys' tail.

    Guarantees: p-values of absent candidates are uniform up to the difference of one candidate,
    whatever people hold that is not listed; measured in `tests/statistical`.

    Cost: a non-negative fit per candidate with a positive share: half a second for 200 candidates.

    Args:
        observed: the counts.
        design: the candidates.
        likely: their likeliest shares.
        rng: where decoys come from.
    """
    weights = observed.weights(likely.share)
    filled = observed.shape.distinct / observed.shape.bits
    columns = np.column_stack([design.matrix().T.toarray(), np.full(design.rows, filled)])
    whole = float(weights @ np.square(observed.y))
    weighted = columns * weights[:, None]
    start = np.append(likely.frequency, likely.other)
    cells = observed.equations
    base = _fit(columns.T @ weighted, weighted.T @ observed.y, start, whole, cells)
    z = _scores(base, base.gram[:-1], base.gram.diagonal()[:-1], base.right[:-1])
    for place in np.flatnonzero(base.x[:-1] > 0):
        others = np.arange(len(base.x)) != place
        without = _fit(
            base.gram[np.ix_(others, others)], base.right[others], base.x[others], whole, cells
        )
        z[place] = math.sqrt(max(0.0, without.misfit - base.misfit) / without.dispersion)
    tail = _tail(observed, columns, weights, base, max(_FEWEST, PER_CANDIDATE * len(design)), rng)
    return np.minimum(1.0, tail.p_values(z)), tail


def _fit(gram: Floats, right: Floats, start: Floats, whole: float, cells: int) -> _Base:
    x = nonnegative_least_squares(gram, right, total=1.0, start=start)
    # |y - Xx|^2 = y'Wy - 2 x'X'Wy + x'X'WX x.
    misfit = max(0.0, whole - 2 * float(right @ x) + float(x @ gram @ x))
    return _Base(gram, right, x, misfit, max(1, cells - int(np.count_nonzero(x))))


def _scores(base: _Base, shared: Floats, own: Floats, right: Floats) -> Floats:
    """Return the improvement by each further column, signed: its score given the positive ones.

    Args:
        base: the fit.
        shared: a row per column, its products with the columns of the fit.
        own: its product with itself.
        right: its product with what was observed.
    """
    used: NDArray[np.intp] = np.flatnonzero(base.x > 0)
    inverse = linalg.pinvh(base.gram[np.ix_(used, used)])
    slope = base.right - base.gram @ base.x
    # Where the shares reach their sum of 1, a further one takes its share from the others.
    price = float(slope[used].mean()) if base.x.sum() > 1 - 1e-9 and used.size else 0.0
    part = shared[:, used]
    # The Schur complement: what of the column the positive ones do not explain.
    left = np.maximum(own - np.einsum("ij,ij->i", part @ inverse, part), _DEPENDENT * own)
    score = right - shared @ base.x - price
    return np.asarray(score / np.sqrt(np.maximum(left, 1e-300) * base.dispersion))


def _tail(
    observed: Observed,
    columns: Floats,
    weights: Floats,
    base: _Base,
    total: int,
    rng: np.random.Generator,
) -> Tail:
    scores = []
    for start in range(0, total, _BLOCK):
        drawn = observed.shape.random(min(_BLOCK, total - start), rng).matrix()
        weighted = drawn.multiply(weights[None, :]).tocsr()
        own = np.asarray(weighted.sum(axis=1)).ravel()
        scores.append(_scores(base, weighted @ columns, own, weighted @ observed.y))
    return Tail(total, np.sort(np.concatenate(scores)))

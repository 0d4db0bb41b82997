"""Joint distribution of the n-grams at two places, by maximum likelihood.

Model: a person who reports places g and h has n-gram i at g and j at h with probability x_ij, and
given them both parts of the report are independent,

    P(report) = sum_ij x_ij A_i B_j,

A_i and B_j the likelihoods of the two parts; the last of each is that of any other n-gram. This is
the mixture of decode/mixture. With u_ij = (1/n) sum over reports of A_i B_j / P(report), a cell
can raise the likelihood only if u_ij > 1, and no table at all has a log-likelihood larger by more
than n max(u_ij - 1).

Of hundreds of cells few are above 0 in the solution. Each round therefore takes one Newton step on
the cells that are above 0 and those that would raise the likelihood most. Its curvature needs only
some reports per cell, however many there are, while u is always that of all reports: a rough
curvature changes the number of rounds, never what they lead to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.decode import Product
from deniable.decode.mixture import searched
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.mechanisms.base import Floats

ENOUGH = 0.5
"""Fitting ends when no table has a log-likelihood larger by more than this. A table that lies one
standard error off in some direction is behind by 0.5: more rounds would fit noise."""
_ROUNDS = 100
_ADDED = 40
"""Cells that are added at once."""
_PER_CELL = 50
"""Reports per cell from which a curvature is taken."""
_PATIENCE = 10
"""Rounds after which a curvature is taken from more reports."""
_FEW = 2_000
"""Reports that are too few to be fitted before all of them are."""
_RIDGE = 1e-7
"""Of the mean curvature; the curvature is computed in single precision."""

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
Lines = Floats | NDArray[np.float32]


@dataclass(frozen=True)
class Joint:
    """A fitted joint distribution.

    Attributes:
        table: shares of the people; the last row and column are for all other n-grams.
        gap: no table at all has a log-likelihood larger by more.
        rounds: Newton steps that were taken.
    """

    table: Floats
    gap: float
    rounds: int = 0


def fit_pairs(first: Lines, second: Lines, possible: Mask) -> Joint:
    """Fit the joint distribution of two parts of the same reports.

    Guarantees: the gap holds whether or not the fit was finished; of factors in single precision to
        n / 10^7, which is far below `ENOUGH`.

    Cost: about ten rounds of O(n a b), and of O(c^3) for the c cells that are worked on; in single
        precision two thirds of the time.

    Args:
        first: A, a line per n-gram, the last for any other one, and a column per report, whose
            scale changes nothing; of either precision.
        second: B, of the same.
        possible: which pairs of lines can occur together.
    """
    n = first.shape[1]
    rows, allowed = Product((first, second), _even(n), float(n)), possible.ravel()
    x, done = np.zeros(rows.cells), 0
    x[-1] = 1.0
    for every in _strides(rows.rows):
        x, gap, more = _fit(_thinned(rows, every), allowed, x)
        done += more
    return Joint(x.reshape(possible.shape), gap, done)


def _strides(n: int) -> list[int]:
    """Return the strides of the parts that are fitted one after the other; the last is 1, for all.

    A solution of an eighth of the reports is so near that few rounds with all of them are left.
    """
    found = [1]
    while n // (8 * found[-1]) >= _FEW:
        found.append(8 * found[-1])
    return found[::-1]


def _thinned(rows: Product, every: int) -> Product:
    lines: tuple[Any, ...] = tuple(np.ascontiguousarray(part[:, ::every]) for part in rows.factors)
    n = lines[0].shape[1]
    return Product(lines, _even(n), float(n))


def _fit(rows: Product, allowed: Mask, x: Floats) -> tuple[Floats, float, int]:
    """Return the shares of the cells, the gap and the number of rounds, from a first guess on."""
    mixed, per_cell = rows.mixed(x), _PER_CELL
    gap, done = np.inf, 0
    while True:
        # u = L'(1/n / Lx); n max(u - 1) bounds what any other table could gain.
        gains = np.where(allowed, rows.pulled(rows.shares / mixed), 0.0)
        gap = rows.n * max(0.0, float(gains.max()) - 1)
        if gap <= ENOUGH or done == _ROUNDS:
            break
        done += 1
        cells = _worth_a_step(x, gains)
        every = max(1, rows.rows // (per_cell * len(cells)))
        target = _target(rows, (x, mixed, 1 - gains), cells, every)
        moved = searched(rows, (x, mixed, 1 - gains), target)
        if moved is None or done % _PATIENCE == 0:  # too few reports to show the way
            per_cell *= 4
        if moved is None and every == 1:  # rounding errors: no step is better any more
            break
        if moved is None:
            continue
        total = moved[0].sum()  # the certificate is one of shares that sum to 1
        x, mixed = moved[0] / total, moved[1] / total
    return x, gap, done


def _even(n: int) -> Floats:
    """Return the share of each of n reports."""
    return np.broadcast_to(1 / n, n)


def _worth_a_step(x: Floats, gains: Floats) -> Places:
    """Return the cells above 0, and those that would raise the likelihood most."""
    best = np.argsort(-gains, kind="stable")[:_ADDED]
    return np.union1d(np.flatnonzero(x), best[gains[best] > 1])


def _target(rows: Product, at: tuple[Floats, Floats, Floats], cells: Places, every: int) -> Floats:
    """Return the minimum of the second-order model over these cells; the others stay at 0."""
    x, mixed, slope = at
    a, b = (factor[:, ::every] for factor in rows.factors)
    i, j = np.divmod(cells, len(b))
    # H = mean over reports of v v', v_ij = A_i B_j / P(report).
    part = (a / mixed[::every].astype(a.dtype))[i] * b[j]
    hessian = (part @ part.T).astype(np.float64) / part.shape[1]
    hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / len(cells)
    # g'(t - x) + (t - x)'H(t - x)/2 is t'Ht/2 - (Hx - g)'t and a constant.
    right = hessian @ x[cells] - slope[cells]
    target = np.zeros_like(x)
    target[cells] = nonnegative_least_squares(hessian, right, start=x[cells])
    return target

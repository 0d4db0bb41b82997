"""Which n-grams at one place go with which at another: a joint distribution by likelihood.

Model: a person who reports places g and h has n-gram i at g and j at h with probability x_ij, and
given them both parts of the report are independent,

    P(report) = sum_ij x_ij A_i B_j,

A_i and B_j the likelihoods of the two parts; the last of each is that of any other n-gram. This is
a mixture, which `decode.mixture.fit_mixture` solves with a certificate. Of hundreds of cells few
are above 0 in the solution, so that it is solved on a growing set of cells: with
u_ij = (1/n) sum over reports of A_i B_j / P(report), a cell can raise the likelihood only if
u_ij > 1, and no weights at all have a log-likelihood larger by more than n max(u_ij - 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.decode import fit_mixture
from deniable.mechanisms.base import Floats

ENOUGH = 0.5
"""Fitting ends when no weights have a log-likelihood larger by more than this."""
ROUNDS = 30
_ADDED = 40
"""Cells that are added at once."""
_GONE = 1e-9
_STEPS = 25
"""Iterations on one set of cells: more are rarely needed, and the next set begins again anyway."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Joint:
    """A fitted joint distribution.

    Attributes:
        table: shares of the people; the last row and column are for all other n-grams.
        gap: no table at all has a log-likelihood larger by more.
    """

    table: Floats
    gap: float


def fit_pairs(first: Floats, second: Floats, possible: Mask) -> Joint:
    """Fit the joint distribution of two parts of the same reports.

    Guarantees: the gap holds whether or not the fit was finished.

    Cost: a few rounds of O(n a b), and of `fit_mixture` on some tens of cells.

    Args:
        first: ln A, a row per report, a column per n-gram, the last for any other one.
        second: ln B.
        possible: which pairs of columns can occur together.
    """
    a, b = (np.exp(part - part.max(axis=1, keepdims=True)) for part in (first, second))
    n, weights = len(a), np.zeros(possible.shape)
    weights[-1, -1] = 1.0
    cells = np.array([weights.size - 1])
    gap = np.inf
    for _ in range(ROUNDS):
        shares = weights.ravel()[cells]
        rows, columns = np.divmod(cells, possible.shape[1])
        mixed = (a[:, rows] * b[:, columns]) @ shares
        gains = np.where(possible, a.T @ (b / mixed[:, None]) / n, 0.0).ravel()
        gap = n * max(0.0, float(gains.max()) - 1)
        if gap <= ENOUGH:
            break
        best = np.argsort(-gains, kind="stable")[:_ADDED]
        cells = np.union1d(cells[shares > _GONE], best[gains[best] > 1])
        rows, columns = np.divmod(cells, possible.shape[1])
        found = fit_mixture(a[:, rows] * b[:, columns], most=_STEPS).weights
        weights = np.zeros(possible.shape)
        weights[rows, columns] = found
    return Joint(weights, gap)

"""Non-negative least squares from the normal equations, optionally with a bound on the sum.

    minimise  x'Gx / 2 - c'x     subject to  x >= 0,  and  sum x <= total (or = total)

A non-negative elastic net is the same problem: add its ridge to the diagonal of G and subtract its
l1 penalty from c.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from deniable.mechanisms.base import Floats

_TOLERANCE = 1e-10
_ROUNDS = 1_000


def nonnegative_least_squares(
    gram: Floats,
    right: Floats,
    *,
    total: float | None = None,
    equal: bool = False,
    start: Floats | None = None,
) -> Floats:
    """Return the minimiser, by block principal pivoting [KP11].

    All entries that break their sign condition change sides at once; when that has not helped
    three times running, only the last of them does (Murty's rule), which cannot cycle.

    Guarantees: x >= 0 exactly, and the gradient is at least -1e-8 of its scale where x = 0.

    Cost: one Cholesky factorisation of the positive part per round, usually fewer than 15 rounds.

    Edge cases: a tiny ridge (1e-12 of the diagonal) makes a singular G solvable.

    Args:
        gram: G, symmetric, positive semi-definite.
        right: c.
        total: an upper bound of the sum; none by default.
        equal: whether the sum must be the total.
        start: a first guess of the solution; only its support is used.
    """
    scale = np.sqrt(np.maximum(gram.diagonal(), 1e-300))
    # With a sum to reach, the empty support has no price: begin with every entry free instead.
    free: NDArray[np.bool_] = np.full(len(right), equal) if start is None else start > 0
    least, chances = len(right) + 1, 3
    x = np.zeros(len(right))
    for _ in range(_ROUNDS):
        x, price = _on_support(gram, right, free, total, equal)
        # The gradient of the Lagrangian; at the minimum it is 0 where x > 0, else at least 0.
        slope = (gram @ x - right + price) / scale
        limit = _TOLERANCE * max(1.0, float(np.abs(right / scale).max(initial=0.0)))
        broken = np.flatnonzero((free & (x * scale < 0)) | (~free & (slope < -limit)))
        if broken.size == 0:
            break
        if broken.size < least:
            least, chances = broken.size, 3
        elif chances > 0:
            chances -= 1
        else:
            broken = broken[-1:]
        free[broken] = ~free[broken]
    return np.maximum(x, 0.0)


def _on_support(
    gram: Floats, right: Floats, free: NDArray[np.bool_], total: float | None, equal: bool
) -> tuple[Floats, float]:
    """Return the minimiser with the free entries only, and the price of the bound on the sum.

    The bound binds where the plain solution sums to more: then Gx = c - price on the free entries
    and the sum is the total, both linear in the price.
    """
    x = np.zeros(len(right))
    places = np.flatnonzero(free)
    if places.size == 0:
        return x, 0.0
    part = gram[np.ix_(places, places)]
    # The ridge that makes a singular part solvable.
    part[np.diag_indices_from(part)] *= 1 + 1e-12
    sides = np.column_stack([right[places], np.ones(places.size)])
    try:
        plain, ones = linalg.cho_solve(linalg.cho_factor(part, overwrite_a=True), sides).T
    except linalg.LinAlgError:  # dependent columns: the solution of least norm is as good as any
        plain, ones = linalg.lstsq(gram[np.ix_(places, places)], sides)[0].T
    price = 0.0
    if total is not None and ones.sum() > 0 and (equal or plain.sum() > total):
        # Lagrange: G x = c - price 1 gives x = plain - price G^-1 1, whose sum must be the total.
        price = float((plain.sum() - total) / ones.sum())
    x[places] = plain - price * ones
    return x, price

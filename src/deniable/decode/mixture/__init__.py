"""Maximum likelihood of mixture weights, with a certificate of how good they are.

Model: observation i, seen w_i times, has likelihood L_ij under component j; find weights x on the
simplex that maximise sum_i w_i log (Lx)_i. The problem is concave. With u = w / sum w it has the
same solution as

    minimise  f(x) = -sum_i u_i log (Lx)_i + sum_j x_j      over x >= 0,

because at the minimum sum x = sum u = 1 (multiply x by a constant to see it). With
g = 1 - L'(u / Lx), concavity bounds the log-likelihood of any other weights on the simplex: it is
larger by at most n max_j(-g_j), the certificate.

This file has the default solver, sequential quadratic programming; `em.py` has EM and
SQUAREM, and `rows.py` what L can be.
"""

from __future__ import annotations

import numpy as np

from deniable.decode.mixture.curvature import Curvature
from deniable.decode.mixture.em import Mixture, run_em
from deniable.decode.mixture.rows import Rows, Table
from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats

__all__ = ["Mixture", "expectation_maximisation", "fit_mixture", "fit_rows"]

_TOLERANCE = 1e-9
_ROUNDS = 200
_KEPT = 0.95
_SAMPLED = 2**31
"""Multiplications beyond which a curvature is taken from a part of the rows."""
_BLOCK = 2**16
_PER_CELL = 100
"""The least number of rows per cell that a curvature is taken from."""


@one_thread
def fit_mixture(
    likelihood: Floats, weights: Floats | None = None, *, most: int = _ROUNDS
) -> Mixture:
    """Fit by sequential quadratic programming.

    Each round minimises the second-order model of f over x >= 0 (non-negative least squares) and
    searches along that direction (Armijo).

    Guarantees: the returned gap holds whether or not the stopping rule was met.

    Cost: 5 to 30 rounds of O(rows x components^2).

    Args:
        likelihood: a row per observation, a column per component; rows may be scaled freely.
        weights: how often each observation was seen; once by default.
        most: iterations after which it stops, converged or not.

    Raises:
        InvalidParameter: if a number is negative or not finite, or a row has only zeros.
    """
    return fit_rows(Table.of(likelihood, weights), most=most)


@one_thread
def expectation_maximisation(
    likelihood: Floats, weights: Floats | None = None, *, gap: float = 0.01, rounds: int = 100_000
) -> Mixture:
    """Fit by EM, the readable reference: see `em.run_em`."""
    return run_em(Table.of(likelihood, weights), gap=gap, rounds=rounds)


@one_thread
def fit_rows(rows: Rows, start: Floats | None = None, *, most: int = _ROUNDS) -> Mixture:
    """Fit by sequential quadratic programming, to a table or to a product of factors.

    Very large problems take the curvature from a part of the rows, keep it while it serves,
    correct it by what every step shows of all rows, and take more rows where that does not help.
    The gradient is always that of all rows, so that only the number of rounds changes, never what
    they lead to.

    Cost: beside the likelihoods two numbers per row.

    Args:
        rows: the likelihoods.
        start: a first guess, at least 0; it must give every row a likelihood. Uniform by default.
        most: rounds.
    """
    x = np.full(rows.cells, 1 / rows.cells) if start is None else start
    model, mixed, done = Curvature(rows, sampling(rows)), rows.mixed(x), 0
    while done < most:
        done += 1
        # The gradient of f, g = 1 - L'(u / Lx) (docs/mathematics.md, section 3).
        slope = 1 - rows.pulled(rows.shares / mixed)
        off = _off(x, slope)
        if off < _TOLERANCE:
            break
        model.judge(off)
        model.learn(x, slope)
        moved = _step(rows, (x, mixed, slope), model)
        if moved is None and model.every > 1:  # a part of the rows no longer shows the way
            model = Curvature(rows, 1 if model.fresh else model.every)
            moved = _step(rows, (x, mixed, slope), model)
        if moved is None:  # rounding errors: no step improves f any more
            break
        x, mixed = moved
    total = x.sum()
    mixed /= total
    return _finished(rows, x / total, mixed, done)


def sampling(rows: Rows, worth: int = 1) -> int:
    """Return s so that every s-th block of rows is enough for a curvature.

    Only where every row stands for one observation: grouped rows are sorted and of all weights.

    Args:
        rows: the likelihoods.
        worth: how many times the work of a round the curvature may take.
    """
    if rows.shares.strides != (0,):
        return 1
    count = rows.shares.size
    most = worth * _SAMPLED
    return max(1, min(count * rows.effort // most, count // (_PER_CELL * rows.cells)))


def _finished(rows: Rows, x: Floats, mixed: Floats, done: int) -> Mixture:
    slope = 1 - rows.pulled(rows.shares / mixed)
    # The certificate: no weights on the simplex gain more than n max_j(-g_j).
    gap = rows.n * max(0.0, float(-slope.min()))
    return Mixture(x, gap, done, _off(x, slope) < _TOLERANCE)


def _off(x: Floats, slope: Floats) -> float:
    """Return the largest violation of the conditions of a minimum."""
    # Karush-Kuhn-Tucker: g >= 0, and x g = 0 in every component.
    return float(max(-slope.min(), np.abs(x * slope).max()))


def _step(
    rows: Rows, at: tuple[Floats, Floats, Floats], model: Curvature
) -> tuple[Floats, Floats] | None:
    """Return weights with a smaller f and their Lx, towards the minimum of the model; or None."""
    x, mixed, slope = at
    hessian = model.at(mixed)
    # g'(t - x) + (t - x)'H(t - x)/2 is t'Ht/2 - (Hx - g)'t and a constant.
    target = nonnegative_least_squares(hessian, hessian @ x - slope, start=x)
    return searched(rows, at, target)


def searched(
    rows: Rows, at: tuple[Floats, Floats, Floats], target: Floats
) -> tuple[Floats, Floats] | None:
    """Return the first of x + t d, t = t0, t0 / 2, ... that decreases f enough, or None.

    The second-order model holds while no (Lx)_i changes by a large factor. A full step may take
    the last weight from an observation, which f, logarithmic, hardly minds, but from where no later
    step finds back: t0 leaves every observation a twentieth of its likelihood.
    """
    x, mixed, slope = at
    direction = target - x
    promised = float(slope @ direction)
    if not promised < 0:
        return None
    # L(x + t d) = Lx + t Ld: one product serves the whole search.
    change = rows.mixed(direction)
    change /= mixed
    loss = float(-change.min())
    step = 1.0 if loss <= _KEPT else _KEPT / loss
    while step > 1e-10:
        # f(x + t d) - f(x) = t sum(d) - sum u log(1 + t Ld/Lx); Armijo asks for 1e-4 of t g'd.
        if step * direction.sum() - _gained(rows.shares, change, step) <= 1e-4 * step * promised:
            # In place: these are the largest arrays that a fit has.
            change *= step
            change += 1
            change *= mixed
            return np.maximum(x + step * direction, 0.0), change
        step /= 2
    return None


def _gained(shares: Floats, change: Floats, step: float) -> float:
    """Return sum u log(1 + t c), some rows at a time: an array of all would be the third."""
    total = 0.0
    for start in range(0, change.size, _BLOCK):
        some = slice(start, start + _BLOCK)
        factors = step * change[some]
        total += float(shares[some] @ np.log1p(factors, out=factors))
    return total

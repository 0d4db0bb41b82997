"""Maximum likelihood of mixture weights, with a certificate of how good they are.

Model: observation i, seen w_i times, has likelihood L_ij under component j; find weights x on the
simplex that maximise sum_i w_i log (Lx)_i. The problem is concave. With u = w / sum w it has the
same solution as

    minimise  f(x) = -sum_i u_i log (Lx)_i + sum_j x_j      over x >= 0,

because at the minimum sum x = sum u = 1 (multiply x by a constant to see it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.decode.nonnegative import nonnegative_least_squares
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

_TOLERANCE = 1e-9
_ROUNDS = 200
_KEPT = 0.95
_RIDGE = 1e-10


@dataclass(frozen=True)
class Mixture:
    """Fitted mixture weights.

    Attributes:
        weights: of the components, at least 0, summing to 1.
        gap: no weights at all have a log-likelihood (summed over observations) larger by more.
        rounds: iterations used.
        converged: whether the stopping rule was met.
    """

    weights: Floats
    gap: float
    rounds: int
    converged: bool


def fit_mixture(
    likelihood: Floats, weights: Floats | None = None, *, most: int = _ROUNDS
) -> Mixture:
    """Fit by sequential quadratic programming.

    Each round minimises the second-order model of f over x >= 0 (non-negative least squares) and
    searches along that direction (Armijo). With g = 1 - L'(u / Lx), concavity bounds the
    log-likelihood of any other weights: it is larger by at most n max_j(-g_j), the certificate.

    Guarantees: the returned gap holds whether or not the stopping rule was met.

    Cost: 5 to 30 rounds of O(rows x components^2).

    Args:
        likelihood: a row per observation, a column per component; rows may be scaled freely.
        weights: how often each observation was seen; once unless said.
        most: iterations after which it stops, converged or not.

    Raises:
        InvalidParameter: if a number is negative or not finite, or a row has only zeros.
    """
    table, u, n = _checked(likelihood, weights)
    x = np.full(table.shape[1], 1 / table.shape[1])
    rounds = 0
    while rounds < most:
        rounds += 1
        slope = 1 - table.T @ (u / (table @ x))
        if _optimal(x, slope):
            break
        moved = _step(table, u, x, slope)
        if moved is None:  # rounding errors: no step improves f any more
            break
        x = moved
    x = x / x.sum()
    slope = 1 - table.T @ (u / (table @ x))
    return Mixture(x, n * max(0.0, float(-slope.min())), rounds, _optimal(x, slope))


def expectation_maximisation(
    likelihood: Floats, weights: Floats | None = None, *, gap: float = 0.01, rounds: int = 100_000
) -> Mixture:
    """Fit by EM, the readable reference: x_j <- x_j sum_i u_i L_ij / (Lx)_i.

    It stops by the same certificate as `fit_mixture`. Stopping when steps become small instead
    leaves weights that are wrong by thousands of times the step.

    Cost: up to tens of thousands of rounds where components are hard to tell apart.
    """
    table, u, n = _checked(likelihood, weights)
    x = np.full(table.shape[1], 1 / table.shape[1])
    reached, done = np.inf, 0
    while done < rounds and reached > gap:
        ratio = table.T @ (u / (table @ x))
        reached = n * max(0.0, float(ratio.max() - 1))
        x = x * ratio if reached > gap else x
        done += 1
    return Mixture(x, reached, done, reached <= gap)


def _optimal(x: Floats, slope: Floats) -> bool:
    return bool(slope.min() >= -_TOLERANCE and np.abs(x * slope).max() < _TOLERANCE)


def _step(table: Floats, u: Floats, x: Floats, slope: Floats) -> Floats | None:
    """Return weights with a smaller f, towards the minimum of its second-order model; or None.

    A tiny ridge keeps the model solvable where components are nearly alike.
    """
    scaled = table * (np.sqrt(u) / (table @ x))[:, None]
    hessian = scaled.T @ scaled
    hessian[np.diag_indices_from(hessian)] += _RIDGE * np.trace(hessian) / len(x)
    target = nonnegative_least_squares(hessian, hessian @ x - slope, start=x)
    return _searched(table, u, x, slope, target)


def _searched(table: Floats, u: Floats, x: Floats, slope: Floats, target: Floats) -> Floats | None:
    """Return the first of x + t d, t = t0, t0 / 2, ... that decreases f enough, or None.

    The second-order model holds while no (Lx)_i changes by a large factor. A full step may take
    the last weight from an observation, which f, logarithmic, hardly minds, but from where no later
    step finds back: t0 leaves every observation a twentieth of its likelihood.
    """
    direction = target - x
    promised = float(slope @ direction)
    if not promised < 0:
        return None
    loss = float(np.max(-(table @ direction) / (table @ x)))
    value = _objective(table, u, x)
    step = 1.0 if loss <= _KEPT else _KEPT / loss
    while step > 1e-10:
        moved = x + step * direction
        if _objective(table, u, moved) <= value + 1e-4 * step * promised:
            return moved
        step /= 2
    return None


def _objective(table: Floats, u: Floats, x: Floats) -> float:
    mixed = table @ x
    if not mixed[u > 0].min() > 0:
        return float("inf")
    return float(-(u[u > 0] @ np.log(mixed[u > 0])) + x.sum())


def _checked(likelihood: Floats, weights: Floats | None) -> tuple[Floats, Floats, float]:
    """Return the rows that were seen, scaled to a maximum of 1, their shares and their number."""
    table = np.asarray(likelihood, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not (np.isfinite(table).all() and table.min() >= 0):
        raise InvalidParameter(
            "A likelihood must be a table of finite numbers of at least 0, a row per observation "
            "and a column per component."
        )
    w = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (len(table),) or not (np.isfinite(w).all() and w.min() >= 0 and w.sum() > 0):
        raise InvalidParameter(
            "The weights must be one finite number of at least 0 per observation, not all 0."
        )
    table, w = table[w > 0], w[w > 0]
    largest = table.max(axis=1)
    if not largest.min() > 0:
        raise InvalidParameter(
            "Every observation must be possible under some component: a row has only zeros. "
            "Compute it from logarithms, less the row's largest."
        )
    return table / largest[:, None], w / w.sum(), float(w.sum())

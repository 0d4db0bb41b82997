"""EM and its acceleration SQUAREM: the readable references, and the way for thousands of cells.

Both need only L x and L' r, never a matrix of cells x cells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.decode.mixture.rows import Rows
from deniable.kernels.one_thread import one_thread
from deniable.mechanisms.base import Floats


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


@one_thread
def run_em(
    rows: Rows, *, gap: float = 0.01, rounds: int = 100_000, start: Floats | None = None
) -> Mixture:
    """Fit by EM [FPE16, section 3.1]: x_j <- x_j sum_i u_i L_ij / (Lx)_i, from a uniform start.

    The E step is the posterior x_j L_ij / (Lx)_i of each observation, the M step its mean. Unlike
    the paper it stops by the certificate: stopping when steps become small leaves weights that are
    wrong by thousands of times the step.

    Cost: up to tens of thousands of rounds of O(rows x cells) where components are hard to tell
    apart.

    Args:
        rows: the likelihoods.
        gap: the certificate to reach.
        rounds: the most iterations.
        start: the first weights; uniform by default.
    """
    x = np.full(rows.cells, 1 / rows.cells) if start is None else start
    reached, done = np.inf, 0
    while done < rounds and reached > gap:
        ratio = _ratio(rows, x)
        reached = _gap(rows, ratio)
        x = x * ratio if reached > gap else x
        done += 1
    return Mixture(x, reached, done, reached <= gap)


@one_thread
def run_squarem(
    rows: Rows, *, gap: float = 0.01, rounds: int = 100_000, start: Floats | None = None
) -> Mixture:
    """Fit by SQUAREM [VR08, scheme S3]: EM with squared extrapolation.

    Two EM steps r = F(x) - x and v = (F(F(x)) - F(x)) - r give the step length
    a = -|r| / |v|, the point x - 2 a r + a^2 v, made non-negative, is mapped by F once more, and
    taken if it is at least as likely as F(F(x)).

    Guarantees: the log-likelihood never falls.

    Args:
        rows: the likelihoods.
        gap: the certificate to reach.
        rounds: the most applications of F.
        start: the first weights; uniform by default.
    """
    x = np.full(rows.cells, 1 / rows.cells) if start is None else start
    ratio, done = _ratio(rows, x), 1
    while done < rounds and _gap(rows, ratio) > gap:
        once = x * ratio
        twice = once * _ratio(rows, once)
        done += 2
        jumped = _extrapolated(x, once, twice)
        if jumped is None or _likely(rows, jumped) < _likely(rows, twice):
            x = twice
        else:
            x = jumped * _ratio(rows, jumped)
            done += 1
        ratio = _ratio(rows, x)
        done += 1
    reached = _gap(rows, ratio)
    return Mixture(x / x.sum(), reached, done, reached <= gap)


def _ratio(rows: Rows, x: Floats) -> Floats:
    """Return L'(u / Lx), the factor of an EM step on each weight."""
    return rows.pulled(rows.shares / rows.mixed(x))


def _gap(rows: Rows, ratio: Floats) -> float:
    # -g = L'(u / Lx) - 1: the certificate n max_j(-g_j) (docs/mathematics.md, section 3).
    return rows.n * max(0.0, float(ratio.max() - 1))


def _extrapolated(x: Floats, once: Floats, twice: Floats) -> Floats | None:
    r = once - x
    v = (twice - once) - r
    length = float(np.linalg.norm(v))
    if not length > 0:
        return None
    # a = -1 gives F(F(x)) itself: a step is never shorter than two of EM.
    a = min(-1.0, -float(np.linalg.norm(r)) / length)
    # A weight of exactly 0 would stay there for ever: every weight keeps a little of its last.
    jumped = np.maximum(x - 2 * a * r + a * a * v, 1e-3 * twice)
    return np.asarray(jumped / jumped.sum())


def _likely(rows: Rows, x: Floats) -> float:
    return float(rows.shares @ np.log(rows.mixed(x)))

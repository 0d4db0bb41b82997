"""A line through shares over epochs: the local level, as a picture only.

Model: y_t = m_t + e_t with known error variances, m_t = m_(t-1) + u_t, Var(u_t) = s the same for
all. s is the likeliest one; the line is E[m_t | all y] (Kalman filter and smoother).
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from deniable.mechanisms.base import Floats


def local_level(shares: Floats, variance: Floats) -> Floats:
    """Return the smoothed line.

    Edge cases: of one or two epochs, or where something is unknown, the shares as they are.
    """
    if shares.size < 3 or not np.isfinite(shares).all() or not (variance > 0).all():
        return shares.copy()
    scale = max(float(np.var(shares)), float(variance.mean()))

    def unlikely(log_step: float) -> float:
        return _filtered(shares, variance, scale * np.exp(log_step))[0]

    found = optimize.minimize_scalar(unlikely, bounds=(-14.0, 3.0), method="bounded")
    step = scale * float(np.exp(found.x))
    _, level, spread = _filtered(shares, variance, step)
    line = level.copy()
    for t in range(shares.size - 2, -1, -1):
        line[t] += spread[t] / (spread[t] + step) * (line[t + 1] - level[t])
    return np.asarray(line)


def _filtered(y: Floats, variance: Floats, step: float) -> tuple[float, Floats, Floats]:
    """Return -2 log-likelihood, and the level and its variance given the past."""
    level, spread = np.empty_like(y), np.empty_like(y)
    level[0], spread[0] = y[0], variance[0]  # nothing is known before the first
    unlikely = 0.0
    for t in range(1, y.size):
        before = spread[t - 1] + step
        total = before + variance[t]
        off = y[t] - level[t - 1]
        unlikely += float(np.log(total) + off**2 / total)
        level[t] = level[t - 1] + before / total * off
        spread[t] = before * variance[t] / total
    return unlikely, level, spread

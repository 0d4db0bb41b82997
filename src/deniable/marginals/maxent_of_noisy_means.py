"""The distribution of largest entropy whose means are known up to noise.

Model: of all distributions p over some cells, take the one that minimises

    KL(p | r) + sum_j (F_j p - x_j)^2 / (2 q_j)

where r is a reference distribution, F_j a function of the cell, x_j its mean as measured and q_j
the *slack* that is left to it. Without slack the means are met exactly, as far as any distribution
has them; with much, p stays at r. The minimum is p = r exp(sum_j eta_j F_j)/Z, where eta minimises

    log Z(eta) - sum_j eta_j x_j + sum_j q_j eta_j^2 / 2,

a smooth and strictly convex function of as many numbers as there are means. [DPS07].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deniable.mechanisms.base import Floats

STEPS = 200
TOLERANCE = 1e-12
"""The Newton decrement, in nats, at which the minimum counts as found."""
SMALLEST = 1e-300
"""The least cell of the reference; smaller ones are raised to it."""
ENOUGH = 1e-4
"""The share of its promised decrease that a step must keep (Armijo)."""
HALVINGS = 60


class Relaxed(NamedTuple):
    """A distribution, and how hard each mean pulls it away from the reference.

    Attributes:
        cells: at least 0, of sum 1.
        eta: of every mean, (means - functions @ cells)/slack at the minimum.
    """

    cells: Floats
    eta: Floats


def relaxed_entropy(
    reference: Floats,
    functions: Floats,
    means: Floats,
    slack: Floats,
    start: Floats | None = None,
) -> Relaxed:
    """Return the distribution nearest to a reference whose means are nearly the given ones.

    Guarantees: cells are at least 0 and sum to 1; those that are 0 in the reference are (nearly) 0.

    Edge cases: means that no distribution has are met as far as their slack says. Without means,
    the reference.

    Cost: O(cells means^2) for each of about ten Newton steps.

    Args:
        reference: the cells of a distribution.
        functions: a row per mean, a column per cell.
        means: as measured.
        slack: of each mean, above 0.
        start: a first guess of eta; 0 by default.
    """
    log = np.log(np.maximum(reference, SMALLEST))
    eta = np.zeros(len(means)) if start is None else start
    value, cells = _dual(log, functions, means, slack, eta)
    for _ in range(STEPS):
        now = functions @ cells
        # Gradient E_p[F] - x + q eta, and second derivative Cov_p(F) + diag(q), of the dual.
        slope = now - means + slack * eta
        curve = (functions * cells) @ functions.T - np.outer(now, now) + np.diag(slack)
        step = np.linalg.solve(curve, -slope)
        promised = -float(slope @ step)
        if promised < TOLERANCE:
            break
        length = 1.0
        for _ in range(HALVINGS):
            tried, there = _dual(log, functions, means, slack, eta + length * step)
            if tried <= value - ENOUGH * length * promised:
                break
            length /= 2
        else:
            break  # as near as floating-point numbers come
        eta, value, cells = eta + length * step, tried, there
    return Relaxed(cells, eta)


def _dual(
    log: Floats, functions: Floats, means: Floats, slack: Floats, eta: Floats
) -> tuple[float, Floats]:
    """Return the function that eta minimises, and the distribution of eta."""
    exponent = log + eta @ functions
    top = float(exponent.max())
    weights = np.exp(exponent - top)
    total = float(weights.sum())
    value = top + np.log(total) - float(eta @ means) + float(slack @ eta**2) / 2
    return float(value), weights / total

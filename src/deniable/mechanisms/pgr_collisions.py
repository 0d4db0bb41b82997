"""Taking listed strings apart that share a point of a hashed geometry in some cohorts.

The same holds of answers that share a bucket of a count-mean sketch in some rows (`sketch_shares`).

Model: with cohorts of weight w_c (their share of the reports) and K points, the estimate y of a
string, which counts others as if they were spread evenly, has the expectation B f,

    B_uv = (S_uv - 1/K) / (1 - 1/K),    S_uv = sum of w_c over cohorts where u and v share a point,

and B_vv = 1. Solving B f = y removes what listed strings add to each other. B is near the identity:
its eigenvalues lie near (1 +- sqrt(M / (C K)))^2, so that a few steps of conjugate gradients are
enough and the variance grows by 1 / (1 - M / (C K)) on average.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats

Places = Callable[[int], NDArray[np.integer]]
"""The points of all listed strings in cohort number i of those with reports."""

MOST_LOAD = 0.25
"""Strings per cell of all cohorts, above which they are not taken apart."""
FEWEST_COHORTS = 8
"""With fewer, two strings may share their point in most cohorts."""
_EXACT = 1e-6
_MOST_STEPS = 50


def load_of(strings: int, points: int, weights: Floats) -> float | None:
    """Return M / (C K), or None where the strings cannot be taken apart.

    C is the number of cohorts with equal weights that would have the same sum of squares.
    """
    # C equal weights 1/C have the sum of squares 1/C.
    cohorts = 1 / float((weights**2).sum())
    load = strings / (cohorts * points)
    return load if cohorts >= FEWEST_COHORTS and load <= MOST_LOAD else None


def separated(estimate: Floats, places: Places, weights: Floats, points: int) -> Floats:
    """Return the solution of B f = y by conjugate gradients.

    Cost: a pass over cohorts and strings per step; about 5 steps.
    """

    def product(x: Floats) -> Floats:
        together = np.zeros_like(x)
        for i, weight in enumerate(weights):
            cells = places(i)
            # (S x)_u: the weights of all strings that share u's point in this cohort.
            together += weight * np.bincount(cells, x, minlength=points)[cells]
        # (B x)_u = x_u + sum over v != u of (S_uv - 1/K) / (1 - 1/K) x_v; S_uu = 1 is taken out.
        return np.asarray(x + (together - x - (x.sum() - x) / points) / (1 - 1 / points))

    found = estimate.copy()
    residual = estimate - product(found)
    direction = residual.copy()
    before = float(residual @ residual)
    enough = _EXACT**2 * float(estimate @ estimate)
    for _ in range(_MOST_STEPS):
        if before <= enough:
            break
        image = product(direction)
        step = before / float(direction @ image)
        found += step * direction
        residual -= step * image
        after = float(residual @ residual)
        direction = residual + after / before * direction
        before = after
    return found

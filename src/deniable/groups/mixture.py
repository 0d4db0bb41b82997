"""The upper tail of a weighted sum of squares of standard normal variables.

Model: X = sum lambda_i Z_i^2, with K(t) = -1/2 sum log(1 - 2 t lambda_i) its cumulant generating
function. The tail is the saddlepoint approximation of Lugannani and Rice [Kuo99]: with K'(t) = x,
w = sign(t) sqrt(2 (t x - K(t))) and v = t sqrt(K''(t)), P(X > x) = Phi(-(w + log(v / w) / w)).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from deniable._distributions import chi2_sf, normal_sf
from deniable.mechanisms.base import Floats

_NEAR = 1e-2
"""Nearer to the mean than this the saddlepoint is 0 by 0; two moments say it as well."""


def weighted_chi2_sf(x: float, weights: Floats) -> float:
    """Return P(sum lambda_i Z_i^2 > x).

    Accuracy: exact where all weights are equal; otherwise its error is a few hundredths of the tail
    for tails of 0.001 to 0.5 (tests/unit/groups).

    Edge cases: weights of 0 add nothing; without any weight the sum is 0.
    """
    lam = weights[weights > 1e-12 * max(1e-300, float(weights.max(initial=0.0)))]
    if lam.size == 0:
        return 0.0 if x > 0 else 1.0
    if np.ptp(lam) < 1e-9 * lam[0]:
        return float(chi2_sf(x / lam[0], lam.size))
    if x <= 0:
        return 1.0

    def slope(t: float) -> float:
        return float((lam / (1 - 2 * t * lam)).sum()) - x

    top = 0.5 / float(lam.max())
    # K' rises from 0 at minus infinity to infinity at `top`.
    low = -lam.size / x
    while slope(low) > 0:
        low *= 2
    t = float(optimize.brentq(slope, low, top * (1 - 1e-12), xtol=1e-14, rtol=1e-12))
    k = -0.5 * float(np.log1p(-2 * t * lam).sum())
    w = math.copysign(math.sqrt(max(0.0, 2 * (t * x - k))), t)
    if abs(w) < _NEAR:
        scale = float((lam**2).sum() / lam.sum())
        return float(chi2_sf(x / scale, float(lam.sum()) / scale))
    v = t * math.sqrt(2 * float(((lam / (1 - 2 * t * lam)) ** 2).sum()))
    return float(normal_sf(w + math.log(v / w) / w))

"""One share from several binomial numbers of supporting reports: the levels of a question.

Model: of group g, k_g of n_g reports support the answer, Binomial(n_g, q_g + gap_g f), independent
of the other groups, since different people chose different levels. The likelihood of f is the
product; its interval holds every f in 0..1 whose log-likelihood is within chi2(1 - alpha, 1) / 2 of
the largest. Where numbers vary phi times as much, k / phi of n / phi are read [KG98].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from deniable._distributions import normal_isf, normal_sf
from deniable.mechanisms.base import Floats

_EDGE = 1e-12


@dataclass(frozen=True)
class Supports:
    """The supporting reports of one answer, an entry per group."""

    reports: Floats
    n: Floats
    chance: Floats
    gap: Floats

    def log(self, share: float) -> float:
        """Return the log-likelihood of a share."""
        r = np.clip(self.chance + self.gap * share, _EDGE, 1 - _EDGE)
        return float((self.reports * np.log(r) + (self.n - self.reports) * np.log1p(-r)).sum())

    def _slope(self, share: float) -> float:
        r = np.clip(self.chance + self.gap * share, _EDGE, 1 - _EDGE)
        return float((self.gap * (self.reports / r - (self.n - self.reports) / (1 - r))).sum())

    @property
    def likeliest(self) -> float:
        """The share in 0..1 of the largest likelihood, which is concave in it."""
        if self._slope(0.0) <= 0:
            return 0.0
        if self._slope(1.0) >= 0:
            return 1.0
        return float(optimize.brentq(self._slope, 0.0, 1.0, xtol=1e-14))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the 1 - alpha interval."""
        top = self.likeliest
        least = self.log(top) - float(normal_isf(alpha / 2)) ** 2 / 2

        def short(share: float) -> float:
            return self.log(share) - least

        low = 0.0 if short(0.0) >= 0 else float(optimize.brentq(short, 0.0, top))
        high = 1.0 if short(1.0) >= 0 else float(optimize.brentq(short, top, 1.0))
        return low, high

    @property
    def p_value(self) -> float:
        """P(such reports | nobody holds the answer): the signed root of the likelihood ratio."""
        top = self.likeliest
        root = math.sqrt(max(0.0, 2 * (self.log(top) - self.log(0.0))))
        return float(normal_sf(root)) if top > 0 else 1.0

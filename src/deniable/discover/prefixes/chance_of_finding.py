"""The chance that prefix growth finds a string of a given share, among its competitors.

Model: at each level the estimate of a string's beginning is normal around its share f. It is kept
if the evidence of all levels so far (`evidence.py`) exceeds that of the last beginning that is kept
anyway; the string is found if it is kept at every level, and passes the test of those who verify,

    P(found) = E[ kept at all levels ] Phi((f - z sd(0)) / sd(f)),      z = Phi^-1(1 - 0.05 / M).

Evidence adds up over the levels and has no closed form: the mean is taken over `DRAWS` paths of
normal numbers, the same ones for every share, so that the chance rises with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from deniable._distributions import normal_cdf, normal_isf
from deniable.discover.prefixes.evidence import Beliefs
from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import Pure

_DRAWS = 400
_SEED = 16


@dataclass(frozen=True)
class Group:
    """The reports of a level, or of those who verify.

    Attributes:
        n: how many.
        pure: p and q.
        collisions: the variance that strings of the same hash add.
    """

    n: float
    pure: Pure
    collisions: float = 0.0

    @property
    def noise(self) -> float:
        """The standard error of a string that nobody reports."""
        return float(np.sqrt(float(self.variance(0.0))))

    def variance(self, frequency: Floats | float) -> Floats:
        """Return the variance of estimates at given frequencies, given the people's values."""
        return np.asarray(self.pure.variance(1, frequency)) / self.n + self.collisions

    def deviation(self, frequency: float) -> float:
        """Return the standard deviation at a frequency, with that of drawing the group's people."""
        # `variance` is given the people's values; drawing them adds f (1 - f)/n.
        drawn = frequency * (1 - frequency) / self.n
        return math.sqrt(float(self.variance(frequency)) + drawn)


@dataclass(frozen=True)
class Hurdle:
    """A level that a string must pass.

    Attributes:
        group: its reports.
        extensions: of one beginning that are tested; 1 where the string has ended before.
        odds: log odds above which a beginning is kept.
    """

    group: Group
    extensions: int
    odds: float


@dataclass(frozen=True)
class Way:
    """All that a string must pass to be found.

    Attributes:
        levels: in order.
        last: those who verify.
        tested: how many strings they test.
        needed: the least share that a string must show in the test, for its collisions.
    """

    levels: Sequence[Hurdle]
    last: Group
    tested: int
    needed: float = 0.0

    def chance(self, frequency: float, alpha: float) -> float:
        """Return the probability that a string of some share is found.

        Args:
            frequency: the share.
            alpha: the level of the test, for all strings together.
        """
        rng, alive = np.random.default_rng(_SEED), np.ones(_DRAWS, dtype=np.bool_)
        beliefs = Beliefs.first(self.levels[0].group.noise).rows(np.zeros(_DRAWS, dtype=np.int64))
        for level in self.levels:
            errors = level.group.deviation(frequency) * rng.standard_normal(_DRAWS)
            extensions = np.full(_DRAWS, level.extensions)
            rows = np.arange(_DRAWS)
            odds, beliefs = beliefs.update(rows, extensions, frequency + errors, level.group)
            alive &= odds > level.odds
        # The detection limit of the test, z sd(0) with Bonferroni's z over M strings.
        limit = float(normal_isf(alpha / max(1, self.tested))) * self.last.noise
        limit = max(limit, self.needed)
        passed = float(normal_cdf((frequency - limit) / self.last.deviation(frequency)))
        return float(alive.mean()) * passed

    def half(self, alpha: float) -> float:
        """Return the detection limit, the share with a chance of 1/2; NaN where there is none.

        Cost: about ten chances, each `DRAWS` paths: a few tenths of a second.
        """
        low = math.log(self.last.noise / 100)

        def over(log_share: float) -> float:
            return self.chance(math.exp(log_share), alpha) - 0.5

        if low >= 0 or over(0.0) < 0 or over(low) > 0:
            return float("nan")
        return math.exp(float(optimize.bisect(over, low, 0.0, xtol=0.005)))

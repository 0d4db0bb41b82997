"""The shuffled crowd of a two-level mechanism, by its privacy blanket.

Model [Balle, Bell, Gascón, Nissim, CRYPTO 2019, section 5]: an attacker who is told which reports
do not belong to the blanket sees those of the blanket with the one that counts among them, and

    delta(eps) = (1/n) E[ max(0, S) ],    S = sum over n people of (law under x - e^eps law under z)
                                              / blanket, where the person's report belongs to it,

so that with a, z, b and v for how many of n fall into the cells of `two_level.py`, g = e^eps,

    S = a (E - g) - z (g E - 1) - (g - 1) (E b + v).

Given t = a + z, a is Bin(t, 1/2), and sums of a over a >= a0 are binomial tails again:
sum a P(a) = (t/2) P(Bin(t - 1, 1/2) >= a0 - 1). b and v, which only help, are put at low quantiles;
the probability of less is added to delta times the most that S/n can be, E.

(Of m reports in the blanket, drawn alike but for one, each is the odd one with probability 1/m, and
P(Bin(n - 1, r) = m - 1)/m = P(Bin(n, r) = m)/(r n): hence the 1/n.) For yes or no nothing but t is
left, and delta is exact for an attacker who is told who kept to the truth.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.privacy.tails import GUARD, at_least, middle, weights
from deniable.privacy.two_level import Levels

MOST_TERMS = 20_000
"""Of the sum over t: the standard deviations of some ten million people."""
_OUTSIDE = 1e-4
"""The share of delta that is given away to what the sums leave out."""


class Blanket:
    """delta as a function of epsilon, for one mechanism and crowd.

    Args:
        levels: of the mechanism.
        people: n.
        delta: what is aimed at; says how much the sums may leave out.
    """

    def __init__(self, levels: Levels, people: int, delta: float) -> None:
        self._ratio, low = float(levels.ratio), float(levels.low)
        self._people = people
        tail = delta * _OUTSIDE / (8 * self._ratio)
        first, last = middle(people, 2 * low, tail)
        self.terms = last + 1 - first
        if self.terms > MOST_TERMS:
            return
        self._pairs = np.arange(first, last + 1, dtype=np.float64)
        self._weights, outside = weights(people, 2 * low, np.arange(first, last + 2))
        both = middle(people, float(levels.both), tail)[0] if levels.both else 0
        neither = middle(people, float(levels.neither), tail)[0] if levels.neither else 0
        self._hiding = max(0.0, self._ratio * both + neither)
        self._outside = self._ratio * (outside + 2 * tail)

    @property
    def computable(self) -> bool:
        """Whether the sum is short enough to be computed."""
        return self.terms <= MOST_TERMS

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at an epsilon."""
        g, e, t = math.exp(epsilon), self._ratio, self._pairs
        if g >= e:
            return 0.0
        gain, loss = (e - 1) * (1 + g), g * e - 1
        cost = t * loss + (g - 1) * self._hiding
        first = np.floor(cost / gain) + 1
        up = gain * t / 2 * at_least(first - 1, t - 1) * (1 + GUARD)
        down = cost * at_least(first, t) * (1 - GUARD)
        total = float(self._weights @ np.maximum(0.0, up - down))
        return total / self._people + self._outside

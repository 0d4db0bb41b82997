"""The shuffled crowd of a two-level mechanism, bounded numerically by its privacy blanket.

Model [BBGN19, section 5]: an attacker is told which reports do not belong to the blanket of
`two_level.py`, and sees all others, the victim's report among them ("the one that counts"). Let c
others fall into the cells X and Z, t = c + 1, a ~ Bin(t, 1/2), g = e^eps. H is the weight of the
reports in "both" and "neither" that hide the one that counts (E for each in "both", 1 in
"neither"). Then

    delta(eps) = 2 low E over c, H of psi(t, H),      c ~ Bin(n - 1, 2 low),
    psi(t, H)  = E[ max(0, (E - 1)(1 + g) a/t - (g E - 1) - (g - 1) H/t ) ].

(Of n reports drawn alike, each is the odd one with probability 1/n, and t P(Bin(n, 2 low) = t)/n is
2 low P(Bin(n - 1, 2 low) = t - 1).) Sums of a over a >= a0 are binomial tails again:
sum a P(a) = (t/2) P(Bin(t - 1, 1/2) >= a0 - 1).

Given c, H is at most as spread as s Bin(n - 1 - c, pi), pi = (both + neither/E or neither)/(1 - 2
low), s = E where "both" exists and 1 elsewhere: of all ways to hide with a given mean within 0..s,
the extremes are the most spread, and psi is convex in H. (Where "both" is empty it is the same.)

Two answers come out, on either side of the truth:

- `delta`: never below it. psi is replaced by its chords between places of H, which are above it.
- `attained`: of k-RR with a third answer, never above it. Others who all hold one third answer say
  X and Z with probability low each; an attacker who sees only how many X, Z and others there are
  has the psi above at the mean of H, pi (n - 1 - c), exactly.

That mean alone, (A + D1, C - A + D2) of [FMT23], is no upper bound:
for k-RR of three answers at E = 5/2, e^eps = 23/10 and two people it has delta 0.0099, and a crowd
of two reaches 0.0247. The errata of that paper (arXiv 2208.04591) say that the proof of its lemma
3.5 fails where low < 1/(E + 1), which is everywhere but for yes or no.

Numerically: c between two places, the probability outside added to delta; where there are very
many c, several share the fewest clones and the least hiding; tails are taken 1e-9 against us.
"""

from __future__ import annotations

import math

import numpy as np

from deniable._distributions import binomial_pmf, binomial_sf
from deniable.privacy.shuffling.binomial_tails import (
    GUARD,
    Numbers,
    at_least,
    middle,
    one_middle,
    weights,
)
from deniable.privacy.shuffling.two_level import Levels

_OUTSIDE = 1e-4
"""The share of delta that is given away to the terms outside of the sums."""
_CELLS = 2_048
"""The largest number of different c that are evaluated."""
_EVALUATED = 8_192
"""The largest number of pairs of c and H, about."""


class Blanket:
    """delta as a function of epsilon, for one mechanism and crowd.

    Cost: some 16,000 incomplete beta functions for each epsilon, whatever n.

    Args:
        levels: of the mechanism.
        people: n.
        delta: the target; it sets the probability that the sums may leave out.
    """

    def __init__(self, levels: Levels, people: int, delta: float) -> None:
        self._ratio, self._twice = float(levels.ratio), float(2 * levels.low)
        tail = delta * _OUTSIDE / 8
        first, last = one_middle(people - 1, self._twice, tail)
        steps = min(_CELLS, last + 1 - first) + 1
        ends = np.unique(np.linspace(first, last + 1, steps).astype(np.int64))
        self._chances, outside = weights(people - 1, self._twice, ends)
        # t = c + 1 of a cell's first and last c, and the others who are left then.
        self._fewest = (ends[:-1] + 1).astype(np.float64)
        self._most = ends[1:].astype(np.float64)
        self._others = people - self._most
        self._place(levels, tail)
        self._outside = self._twice * (self._ratio - 1) * (outside + 2 * tail)

    def _place(self, levels: Levels, tail: float) -> None:
        """Choose the places of H for every c, and their weights."""
        # s and pi of the module docstring: given c, H is at most as spread as s Bin(n - 1 - c, pi).
        both, neither, rest = levels.both, levels.neither, 1 - 2 * levels.low
        self._scale = self._ratio if both else 1.0
        hidden = both + neither / levels.ratio if both else neither
        self._share = float(hidden / rest) if rest else 0.0
        trials = self._others[:, None]
        lowest, highest = middle(trials, self._share, tail)
        widest = float((highest - lowest).max())
        count = min(widest, max(2, _EVALUATED // len(self._others)))
        step = max(1.0, math.ceil(widest / count)) if count else 1.0
        self._places = lowest + step * np.arange(1.0 + math.ceil(widest / step))[None, :]
        self._parts = _chord_weights(self._places, trials, self._share)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at an epsilon, which no crowd of n exceeds."""
        hiding = self._scale * self._places / self._most[:, None]
        found = self._psi(epsilon, self._fewest[:, None], hiding, GUARD)
        total = float(self._chances @ (self._parts * found).sum(axis=1))
        return self._twice * total * (1 + GUARD) + self._outside

    def attained(self, epsilon: float) -> float:
        """Return a delta that a crowd of n really has, where there is a third answer of k-RR."""
        mean = self._share * (self._others + self._most - self._fewest)
        found = self._psi(epsilon, self._most, self._scale * mean / self._fewest, -GUARD)
        return self._twice * float(self._chances @ found) * (1 - 4 * GUARD)

    def _psi(self, epsilon: float, t: Numbers, hiding: Numbers, guard: float) -> Numbers:
        """Return psi, for t and H/t."""
        # psi(t, H) of the module docstring: the terms are positive for a >= `first`, and
        # sum a P(a) over those is (t/2) P(Bin(t - 1, 1/2) >= first - 1).
        g, e = math.exp(epsilon), self._ratio
        gain, cost = (e - 1) * (1 + g), (g * e - 1) + (g - 1) * hiding
        first = np.floor(t * (cost / gain)) + 1
        up = gain / 2 * at_least(first - 1, t - 1 + 0 * hiding) * (1 + guard)
        down = cost * at_least(first, t + 0 * hiding) * (1 - guard)
        return np.maximum(0.0, up - down)


def _chord_weights(places: Numbers, trials: Numbers, share: float) -> Numbers:
    """Return the weight of each place when a convex function of Bin is replaced by its chords.

    The weights are the expectations of hat functions, second differences of E max(0, B - c), for
    which de Moivre's identity gives c (1 - share) P(B = c) + (mean - c) P(B >= c) without
    cancellation. Beyond the last place the function falls; the caller adds the probability below
    the first.
    """
    at, from_on = binomial_pmf(places, trials, share), binomial_sf(places - 1, trials, share)
    above = places * (1 - share) * at + (trials * share - places) * from_on
    falls = np.diff(above) / np.diff(places)
    rows = len(places), 1
    slopes = np.concatenate([np.full(rows, -1.0), falls, np.zeros(rows)], axis=1)
    return np.maximum(0.0, np.diff(slopes))

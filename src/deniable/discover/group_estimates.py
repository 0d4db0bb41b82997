"""Estimates from the reports of one group: the frequency of any sequence of symbols.

Model: in cohort c, of n_c of the group's n reports, point v has the support s_c(v). Its worth is
(s_c(v) - n_c q) / (n (p - q)), so that the sum over the cohorts of the worth of a sequence's points
is its unbiased frequency.

Frequent sequences hide rare ones that share a point with them in some cohort, and lift false ones:
one of frequency f adds f / C to everything it collides with. So the frequent ones are *peeled*:
found one after the other, the most frequent first, and their worth taken out of their points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import Counts, Prefixes
from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.hashing import Words
from deniable.protocol.prefixes import first_index

_PEELED_FROM = 5.0
"""Sequences this many standard errors above 0 are peeled."""
_MOST_PEELED = 1_000


@dataclass
class Table:
    """The worth of every point of one group.

    Attributes:
        n: the group's reports.
        worth: cohorts x points.
        weights: each cohort's share of the reports.
        first: the number of the first cohort's hash function.
        pure: p and q.
        squares: the sum of squares of the frequencies that are not peeled, each cohort's estimate
            of it weighed by the square of the cohort's share of the reports.
    """

    n: int
    worth: NDArray[np.float32]
    weights: Floats
    first: int
    pure: Pure
    squares: float

    @classmethod
    def of(cls, mechanism: Prefixes, counts: Counts, group: int) -> Self:
        """Return the table of one group.

        Cost: a transform of q^t numbers per cohort.
        """
        own, pure = mechanism.group(counts, group), mechanism.pure
        n = own.n
        worth = np.zeros(own.table.shape, dtype=np.float32)
        squares = 0.0
        for cohort in np.flatnonzero(own.reports):
            sums = mechanism.oracle.geometry.hyperplane_sums(own.table[cohort])
            reports = int(own.reports[cohort])
            # (C/n - q)/(p - q) of a pure oracle (docs/mathematics.md, section 2), by cohort.
            worth[cohort] = (sums - reports * pure.q) / (n * pure.gap)
            squares += (reports / n) ** 2 * mechanism.oracle.squares(sums, reports)
        weights = own.reports / max(1, n)
        return cls(n, worth, weights, first_index(group), pure, max(0.0, squares))

    @property
    def collisions(self) -> float:
        """The variance that what is not peeled adds to every frequency."""
        # Another sequence of share f shares the point with probability 1/K in each cohort.
        return max(0.0, self.squares) / float(self.worth.shape[1] - 1)

    def variance(self, frequency: Floats | float) -> Floats:
        """Return the variance of estimates at given frequencies, given the people's values.

        Without reports it is the variance of a single report: nothing follows from such noise.
        """
        return np.asarray(self.pure.variance(max(1, self.n), frequency)) + self.collisions

    @property
    def noise(self) -> float:
        """The standard error of a sequence that nobody reports."""
        return float(np.sqrt(float(self.variance(0.0))))

    def estimate(self, words: Words) -> Floats:
        """Return the frequency of each sequence, a row of two words each."""
        from deniable.kernels.prefix_support import support

        return support(words, self.worth, self.first)

    def peel(self, words: Words, estimates: Floats) -> Floats:
        """Peel the frequent ones of these sequences; return everybody's frequency without them.

        A peeled sequence gets back what was taken out for it. With one cohort so does every other
        one that shares its point: nothing tells which of them was reported.

        Guarantees: the same table and sequences give the same result; ties go by their order.
        """
        from deniable.kernels.prefix_support import points_of

        # Collisions not yet peeled count as noise, so that their shadows are not taken for real.
        floor = _PEELED_FROM * float(np.sqrt(self.pure.variance(self.n, 0.0)))
        order = np.argsort(-estimates, kind="stable")[:_MOST_PEELED]
        order = order[estimates[order] > floor]
        places = points_of(words[order], len(self.worth), self.worth.shape[1], self.first)
        rows = np.arange(self.worth.shape[0])
        taken = np.zeros(len(words))
        for row, sequence in enumerate(order):
            frequency = float(self.worth[rows, places[row]].sum())
            if frequency > floor:
                self.worth[rows, places[row]] -= (frequency * self.weights).astype(np.float32)
                # A peeled sequence collides no more: its f^2 leaves the variance of all others.
                self.squares -= frequency**2 * float((self.weights**2).sum())
                taken[sequence] = frequency
        used = np.flatnonzero(self.weights)
        if len(used) == 1:
            points = points_of(words, len(self.worth), self.worth.shape[1], self.first)[:, used[0]]
            given = np.zeros(self.worth.shape[1])
            np.maximum.at(given, points, taken)
            taken = given[points]
        return self.estimate(words) + taken

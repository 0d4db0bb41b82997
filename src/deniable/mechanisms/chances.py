"""The chance that a report supports an answer, as a straight line in the answer's share.

Model: people are drawn independently from a population in which a share f holds the answer. Then
one report supports it with probability

    r = chance + gap f,

and of n reports of as many people, Binomial(n, r) support it: exactly, at any n. Hash functions
that everybody shares make the number of supporters vary more than that; `shared` is the variance
that they add to the estimated share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Estimate, Floats
from deniable.mechanisms.closed_form import Pure

Of = Literal["population", "reporters"]
"""The subject of an error: people like those who report, or those who reported alone."""


@dataclass(frozen=True)
class Chances:
    """The chances that link a share with its supporting reports; each entry is of one answer.

    Attributes:
        chance: P(a report supports the answer | its sender does not hold it).
        gap: what holding it adds to that.
        shared: the variance of the estimated share that shared hash functions add; 0 where the
            number of supporting reports is binomial.
    """

    chance: Floats
    gap: Floats
    shared: Floats

    @classmethod
    def of(cls, pure: Pure, answers: int, shared: float | Floats = 0.0) -> Chances:
        """Return those of a pure oracle, the same for every answer."""
        alike = np.ones(answers)
        return cls(pure.q * alike, pure.gap * alike, np.maximum(0.0, shared) * alike)

    @classmethod
    def around(cls, pure: Pure, frequency: Floats, variance: Floats, n: int) -> Chances:
        """Return those of a fit to many cells, whose variance need not be a pure oracle's.

        What the variance has beyond a pure oracle's counts as shared.
        """
        alone = pure.variance_observed(pure.q + pure.gap * frequency, n)
        return cls.of(pure, frequency.size, variance - alone)

    def supported(self, frequency: Floats) -> Floats:
        """Return r, the share of reports that support answers of these shares."""
        return self.chance + self.gap * frequency

    def at(self, rows: NDArray[np.intp]) -> Chances:
        """Return those of some answers."""
        return Chances(*(np.asarray(each[rows]) for each in (self.chance, self.gap, self.shared)))


def estimated(
    pure: Pure, share: Floats, n: int, labels: tuple[str, ...], covariance: Floats | None
) -> Estimate:
    """Return the estimate of a pure oracle from the shares of n reports that support answers."""
    errors, chances = np.sqrt(pure.variance_observed(share, n)), Chances.of(pure, len(labels))
    return Estimate(labels, pure.frequency(share), errors, covariance, n, chances=chances)

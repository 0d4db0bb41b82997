"""Closed forms of a pure oracle: frequency and variance from two probabilities.

Model: a report supports the answer of its sender with probability p, any other answer with
probability q. With r the share of reports that support an answer of frequency f,

    f_hat = (r - q) / (p - q)
    n Var(f_hat) = q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)      given the people's values
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from deniable import _validate
from deniable.mechanisms.base import Estimate, Floats
from deniable.protocol import Categories, Strings
from deniable.protocol.domain import MAX_CATEGORIES

NO_REPORTS = "There are no reports: nothing can be learned."


@dataclass(frozen=True)
class Pure:
    """The two probabilities of a pure oracle, and their exact difference.

    Attributes:
        p: P(a report supports its sender's answer).
        q: P(a report supports a given other answer).
        gap: p - q, rounded once: never 0, however close the two are.
    """

    p: float
    q: float
    gap: float

    @classmethod
    def of(cls, p: Fraction, q: Fraction) -> Self:
        """Return the oracle of two exact probabilities."""
        return cls(float(p), float(q), float(p - q))

    @property
    def least(self) -> float:
        """The ratio (1-p) q / (p (1-q)) of a bit's likelihood ratios, not set over set."""
        return (1 - self.p) * self.q / (self.p * (1 - self.q))

    def frequency(self, share: Floats) -> Floats:
        """Return the unbiased frequency of answers supported by a share of the reports."""
        # E[r] = f p + (1 - f) q, solved for f (docs/mathematics.md, section 2).
        return (share - self.q) / self.gap

    def variance(self, n: int, frequency: float | Floats) -> Floats:
        """Return the variance of an estimate from n reports, at known frequencies.

        Raises:
            InvalidParameter: unless n is at least 1 and the frequencies lie in 0..1.
        """
        n, f = checked(n, frequency)
        # A holder supports with variance p (1 - p), anybody else with q (1 - q); the mixture
        # f p (1 - p) + (1 - f) q (1 - q) is q (1 - q) + f (p - q) (1 - p - q).
        rare = self.q * (1 - self.q) / self.gap**2
        return np.asarray((rare + f * (1 - self.p - self.q) / self.gap) / n)

    def variance_observed(self, share: Floats, n: int) -> Floats:
        """Return the variance of an estimate from n reports, at the observed shares.

        `variance` at f = f_hat is (p q + r (1 - p - q)) / (n (p - q)^2). It is linear in r, so
        unbiased, and lies between p q at r = 0 and (1 - p)(1 - q) at r = 1: never negative.
        """
        # q (1 - q) + (r - q)(1 - p - q) = p q + r (1 - p - q): f_hat = (r - q)/(p - q) put in.
        return (self.p * self.q + share * (1 - self.p - self.q)) / (n * self.gap**2)


def checked(n: int, frequency: float | Floats) -> tuple[int, Floats]:
    """Return a number of reports and frequencies that can be, else raise InvalidParameter."""
    n = _validate.integer("n", "variance", n, 1, 2**63 - 1)
    f = np.asarray(frequency, dtype=np.float64)
    if not np.all((f >= 0) & (f <= 1)):
        raise _validate.invalid("frequency", "variance", "from 0 to 1", frequency)
    return n, f


def categories_domain(owner: str, answers: int) -> Categories:
    """Return a closed domain whose answers are named by their codes.

    Raises:
        InvalidParameter: unless `answers` is an integer from 2 to 65,537 (one may be absent).
    """
    k = _validate.integer("answers", owner, answers, 2, MAX_CATEGORIES + 1)
    return Categories(tuple(str(code) for code in range(k)))


def strings_or_closed(owner: str, answers: int | None) -> Strings | Categories:
    """Return the closed domain of some answers, or that of strings where no number is given."""
    return Strings() if answers is None else categories_domain(owner, answers)


def nothing_learned(labels: tuple[str, ...]) -> Estimate:
    """Return the estimate without reports: NaN everywhere, and a note that says why."""
    unknown = np.full(len(labels), np.nan)
    return Estimate(labels, unknown, unknown.copy(), None, 0, (NO_REPORTS,))


def sign_variance(gap: float, share: float, n: int, frequency: float | Floats) -> Floats:
    """Return the variance of an estimated yes/no share f, given the people's values.

    Args:
        gap: keep - move of the reports on the attribute.
        share: the share of the n reports that are on the attribute.
        n: the number of reports.
        frequency: f.
    """
    n, f = checked(n, frequency)
    # A reported half has r = (1 + gap theta)/2, theta = 1 - 2 f up to its sign. So r (1 - r)/gap^2
    # is (1 - (gap theta)^2)/(4 gap^2), over n share reports; less the sampling of people.
    with_sampling = (1 - (gap * (1 - 2 * f)) ** 2) / (4 * share * gap**2)
    return np.asarray((with_sampling - f * (1 - f)) / n)

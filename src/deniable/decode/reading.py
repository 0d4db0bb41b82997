"""The one way from an estimate to its interval: its subject, its form, its arithmetic.

Of the *population*: the people who reported are a sample of people like them, so that an interval
holds both the noise of their reports and the error of the sample, f (1 - f) / n. It does not hold
people who did not agree to report, if they differ. Of the *reporters*: of those who did report,
noise alone; what the papers' standard errors mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, get_args

import numpy as np
from scipy import special

from deniable import _validate
from deniable._distributions import normal_isf, normal_sf, t_isf
from deniable.decode.binomial import FORMS, Form, few_people, limits, tail
from deniable.decode.lasting import Lasting
from deniable.mechanisms import Estimate
from deniable.mechanisms.base import Floats
from deniable.mechanisms.chances import Chances, Of

FEW = 20.0
"""Supporting reports, expected or not, below which a normal interval stops to be honest."""
_LEAST = 1e-9
_SEARCHED = 12
"""Rounds of the search for the ends of intervals; two or three are the rule."""


@dataclass(frozen=True)
class Reading:
    """How an estimate is read.

    Attributes:
        of: what its intervals are of, "population" or "reporters".
        form: "mid-p", or "exact" for Clopper and Pearson's intervals.
        noise: the factor of the noise's variance: above 1 where permanent noise recurs. Where
            `lasting` is given, the largest one.
        people: the factor of the sample's variance: above 1 where the same people report again.
        lasting: what of the noise the same people repeat, by the share that holds an answer.

    Raises:
        InvalidParameter: naming the attribute and what is allowed.
    """

    of: Of = "population"
    form: Form = "mid-p"
    noise: float = 1.0
    people: float = 1.0
    lasting: Lasting | None = None

    def __post_init__(self) -> None:
        if self.of not in get_args(Of):
            raise _validate.invalid("of", "a reading", "'population' or 'reporters'", self.of)
        if self.form not in FORMS:
            raise _validate.invalid("form", "a reading", "'mid-p' or 'exact'", self.form)

    def variance(self, noise: Floats, frequency: Floats, n: float) -> Floats:
        """Return the variance of an estimated share, from that of its noise."""
        held = np.clip(np.nan_to_num(frequency), 0.0, 1.0)
        exact = replace(self, noise=1.0)
        return exact.together(self.factor(held) * noise, held * (1 - held) / max(n, 1))

    def factor(self, frequency: Floats) -> Floats:
        """Return the factor of the noise's variance, where such shares hold the answers."""
        if self.lasting is None:
            return np.full_like(frequency, self.noise)
        # Of Var = (kept S + fresh N) / N^2 (docs/mathematics.md, section 10), S / N is `people`.
        return 1 + (self.people - 1) * self.lasting.share(frequency)

    def together(self, noise: Floats, sample: Floats) -> Floats:
        """Return variances or covariances, from those of the noise and those of the sample."""
        counted = self.people if self.of == "population" else 0.0
        return np.asarray(self.noise * noise + counted * sample)


READING = Reading()
"""Of the population, in the mid-P form, of one report per person."""
REPORTERS = Reading(of="reporters")
"""Of those who reported alone: what the papers' standard errors mean."""


class Shares(Protocol):
    """Shares of answers with their error: what every table is made of."""

    @property
    def reading(self) -> Reading:
        """The subject of the intervals: the population, or those who reported."""

    @property
    def frequency(self) -> Floats:
        """The unbiased shares."""

    @property
    def std_error(self) -> Floats:
        """One standard deviation of each."""

    @property
    def p_values(self) -> Floats:
        """P(an estimate as large | nobody holds the answer); NaN where nothing is known."""

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the ends of the 1 - alpha intervals, within 0..1."""

    def limit(self, alpha: float) -> float:
        """Return the detection limit of as many tests as there are answers; see `critical`."""


def critical(tests: int, alpha: float = 0.05) -> float:
    """Return Q = Phi^-1(1 - alpha / M), the critical value of one of M tests.

    The detection limit is the share that is found every second time: Q standard errors of an answer
    that nobody holds, with the family-wise error alpha of all M tests (Bonferroni).
    """
    return float(normal_isf(alpha / max(1, tests)))


def by_error(error: float, n: int, tests: int, alpha: float = 0.05) -> float:
    """Return the detection limit where no single count says all about an answer.

    Q standard errors of an answer that nobody holds, and no less than the share that somebody of n
    people holds every second time: 1 - (1 - f)^n = 1/2.
    """
    return min(1.0, max(critical(tests, alpha) * error, -math.expm1(-math.log(2) / max(n, 1))))


def detection_limit(
    chance: float, gap: float, variance: float, n: int, tests: int, alpha: float = 0.05
) -> float:
    """Return the share that is found every second time, at most 1, at any number of reports.

    Model: of n reports c support an answer that nobody holds with a variance phi times a binomial
    one's; c / phi of n / phi are read as binomial, as in `Counted`. The test asks for the least c
    whose tail is at most alpha / M. The limit is the share at which the median reaches that c. Of
    many reports it is Q standard errors of an answer that nobody holds (`critical`); of few, more,
    since somebody has to hold the answer at all.

    Args:
        chance: P(a report supports an answer that its sender does not hold), above 0.
        gap: what holding it adds.
        variance: of the estimated share of an answer that nobody holds.
        n: reports.
        tests: M, the number of answers tested.
        alpha: the family-wise error of all tests.
    """
    phi = max(variance * n * gap**2 / (chance * (1 - chance)), _LEAST)
    wanted, low, high = alpha / max(1, tests), 0, n
    if float(tail(n / phi, n / phi, chance)) > wanted:
        return 1.0
    while high - low > 1:  # the tail at `high` is small enough, at `low` it is not
        middle = (low + high) // 2
        small = float(tail(middle / phi, n / phi, chance)) <= wanted
        low, high = (low, middle) if small else (middle, high)
    half = float(special.betaincinv(high / phi, (n - high) / phi + 1, 0.5))
    return min(1.0, max(0.0, (half - chance) / gap))


@dataclass(frozen=True)
class _Estimated:
    found: Estimate
    reading: Reading

    @property
    def frequency(self) -> Floats:
        """The unbiased shares."""
        return self.found.frequency

    def variance(self, frequency: Floats) -> Floats:
        """Return the variance of the estimates, with the sample's at these shares."""
        return self.reading.variance(self.found.variance, frequency, self.found.n)

    @property
    def std_error(self) -> Floats:
        """One standard deviation, of the sample too if it is of the population."""
        known = np.isfinite(self.found.frequency)
        return np.asarray(np.where(known, np.sqrt(self.variance(self.frequency)), np.nan))

    def limit(self, alpha: float) -> float:
        """Return the detection limit, from the typical error of the noise; NaN if none is known."""
        error = np.sqrt(self.reading.noise) * self.found.std_error
        known = error[np.isfinite(error)]
        if not known.size:
            return float("nan")
        return by_error(float(np.median(known)), self.found.n, known.size, alpha)


@dataclass(frozen=True)
class Counted(_Estimated):
    """Shares whose reports support or do not support each answer: exact tests and intervals.

    Model: `reports` of the n people support an answer. Where their number varies phi times as much
    as a binomial one (shared hash functions, the same people again), it is read as reports / phi of
    n / phi [KG98]. phi is taken at the share in question: at 0 for the test, at the end of the
    interval for the interval.
    """

    chances: Chances

    def variance(self, frequency: Floats) -> Floats:
        """Return the variance of the estimates, if these were the shares."""
        n, chances = self.found.n, self.chances
        share = np.clip(frequency, 0.0, 1.0)
        # Given the people's values a pure oracle has q (1 - q) + f gap (1 - p - q), p = q + gap.
        q, gap = chances.chance, chances.gap
        noise = (q * (1 - q) + share * gap * (1 - gap - 2 * q)) / (n * gap**2) + chances.shared
        return self.reading.variance(np.maximum(noise, 0.0), share, n)

    def spread(self, frequency: Floats) -> Floats:
        """Return phi: the variance over that of a binomial number of supporting reports."""
        r = self.chances.supported(np.clip(frequency, 0.0, 1.0))
        # Var of (K/n - q)/gap with K ~ Binomial(n, r), all of it, sample included.
        binomial = r * (1 - r) / (self.found.n * self.chances.gap**2)
        phi = self.variance(frequency) / np.maximum(binomial, 1e-300)
        # Rounding must not make a whole count a broken one.
        return np.asarray(np.where(np.abs(phi - 1) < _LEAST, 1.0, np.maximum(phi, _LEAST)))

    @property
    def reports(self) -> Floats:
        """The number of supporting reports of each answer, from 0 to n."""
        count = self.found.n * self.chances.supported(self.found.frequency)
        whole = np.rint(count)
        count = np.where(np.abs(count - whole) < 1e-6 * (1 + np.abs(whole)), whole, count)
        return np.asarray(np.clip(count, 0.0, self.found.n))

    @property
    def p_values(self) -> Floats:
        """P(at least as many supporting reports | nobody holds the answer), exact at any n."""
        phi = self.spread(np.zeros_like(self.found.frequency))
        return tail(self.reports / phi, self.found.n / phi, self.chances.chance)

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the 1 - alpha intervals of the shares, within 0..1.

        Fewer supporters than q n say no more than q n of them about how large a share may be: the
        upper end is not taken lower than that of an estimate of 0, nor the lower end higher than
        that of 1 (power-constrained limits, [CCGV11]). So no interval is empty, and none covers
        less.
        """
        n, chances = self.found.n, self.chances
        most = np.maximum(self.reports, np.floor(n * chances.chance))
        least = np.minimum(self.reports, np.ceil(n * (chances.chance + chances.gap)))
        return self._end(least, alpha, 0), self._end(most, alpha, 1)

    def _end(self, reports: Floats, alpha: float, which: int) -> Floats:
        """Return the lower ends (0) or the upper ones (1) of the intervals.

        An end is a share under which that many reports would be rare, and phi is that of the end:
        if nobody of 20 people holds an answer in 12 epochs, there are still 20 people, not 240.
        The larger one of phi at the end and at the estimate is taken, and the search ends where
        the ends stand still; where phi is 1 everywhere they do at once.
        """
        n, chances = self.found.n, self.chances
        share = np.clip(self.found.frequency, 0.0, 1.0)
        phi = self.spread(share)
        for _ in range(_SEARCHED):
            ends = limits(reports / phi, n / phi, alpha, self.reading.form)[which]
            share = np.clip((ends - chances.chance) / chances.gap, 0.0, 1.0)
            before, phi = phi, np.maximum(phi, self.spread(share))
            if not np.any(phi > 1.001 * before):
                break
        return share

    def limit(self, alpha: float) -> float:
        """Return the detection limit of an answer with the typical error."""
        known = np.isfinite(self.frequency)
        if not known.any():
            return float("nan")
        alone = self.variance(np.zeros_like(self.frequency))[known]
        q, gap = (float(np.median(each[known])) for each in (self.chances.chance, self.chances.gap))
        n, tests = self.found.n, int(known.sum())
        return detection_limit(q, gap, float(np.median(alone)), n, tests, alpha)


@dataclass(frozen=True)
class Normal(_Estimated):
    """Shares with normal noise: where no single count says all about an answer.

    Of the population, the sample's part of an interval is exact at any number of people.
    """

    @property
    def p_values(self) -> Floats:
        """P(an estimate as large | nobody holds the answer)."""
        error = np.sqrt(self.reading.noise) * self.found.std_error
        return normal_sf(self.found.frequency / error)

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the 1 - alpha intervals of the shares, within 0..1; never empty."""
        share, error = self.found.frequency, self.std_error
        if self.reading.of != "population" or not self.found.n:
            return around(share, normal_isf(alpha / 2) * error)
        # In several epochs the same people tell about other attributes: no fewer tell about each.
        told = self.found.n if self.found.told is None else np.maximum(self.found.told, 1)
        people = np.minimum(told, self.found.n / self.reading.people)
        below, above = few_people(np.clip(share, 0.0, 1.0), error, people, 1 - alpha)
        return around(share, below)[0], around(share, above)[1]


@dataclass(frozen=True)
class Fitted(_Estimated):
    """Shares from a fit of many candidates to many cells, with Student's t.

    The estimate is a sum over cells of many cohorts. Where fewer than `FEW` reports support an
    answer, or do not, a sum of so few is not normal: there the interval is that of a binomial
    number with the same variance, if that is wider.

    Attributes:
        tests: the p-values, which the fit knows better.
        degrees: of freedom, of the residuals.
        chances: of a single cell.
    """

    tests: Floats
    degrees: float
    chances: Chances

    @property
    def p_values(self) -> Floats:
        """P(an estimate as large | nobody holds the answer)."""
        return self.tests

    def interval(self, alpha: float) -> tuple[Floats, Floats]:
        """Return the 1 - alpha intervals of the shares, within 0..1; never empty."""
        share, variance = self.frequency, self.variance(self.frequency)
        half = float(t_isf(alpha / 2, max(self.degrees, 1.0))) * np.sqrt(variance)
        low, high = around(share, half)
        r = self.chances.supported(np.clip(share, 0.0, 1.0))
        # As many reports of one cell as have this variance: n = r (1 - r) / (gap^2 Var).
        n = r * (1 - r) / (self.chances.gap**2 * variance)
        few = np.isfinite(n) & (n * np.minimum(r, 1 - r) < FEW)
        if few.any():
            ends = limits((n * r)[few], n[few], alpha, self.reading.form)
            q, gap = self.chances.chance[few], self.chances.gap[few]
            low[few] = np.minimum(low[few], np.clip((ends[0] - q) / gap, 0.0, 1.0))
            high[few] = np.maximum(high[few], np.clip((ends[1] - q) / gap, 0.0, 1.0))
        return low, high


def around(share: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Return intervals around shares, cut to 0..1; one of a share below 0 is that of 0."""
    low, high = np.minimum(share, 1.0) - half, np.maximum(share, 0.0) + half
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def read(found: Estimate, reading: Reading = READING) -> Counted | Normal:
    """Return the tests and intervals of an estimate: exact where its reports can be counted."""
    if found.chances is None:
        return Normal(found, reading)
    return Counted(found, reading, found.chances)

"""Mechanisms that report one sign of a drawn coefficient of the profile.

Model: coefficient a, a product of functions of some attributes with values in -1..1, is drawn with
probability w_a; the reported sign has the mean g v, v the coefficient's value for the profile and
g = 2 keep - 1. With m_a the mean of the n_a signs of coefficient a,

    theta_a = m_a / g,        Var theta_a = (1 - m_a^2)/(n_a g^2),

given n_a, sampling included; in the variance m_a is clipped to -g..g, where its mean must lie.
Reports about different coefficients come from different people, so that the estimates are
uncorrelated; the table of a set of attributes follows from those of its subsets by one small
matrix.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
from numpy.random import Generator

from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.closed_form import sign_variance
from deniable.mechanisms.contrast_matrices import inverse
from deniable.mechanisms.moments import Subset, design, subsets_of
from deniable.mechanisms.profile_base import FEW, ProfileMechanism, Reader, Reading
from deniable.mechanisms.profile_numbering import CoefficientNumbers
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.protocol import thresholds
from deniable.protocol.profile_selection import Selection
from deniable.protocol.profile_sign import SignParameters

IMAGINED = 4
"""Signs that are added to those of each coefficient where there are few, for errors [AC98]."""


class SignMechanism(ProfileMechanism):
    """A sign of one drawn coefficient.

    Its counts have a row per sign, +1 first, and a column per coefficient.
    """

    parameters: SignParameters

    @property
    @abstractmethod
    def _selection(self) -> Selection:
        """The choices of attributes and functions, by the number of functions of each attribute."""

    @abstractmethod
    def _matrix(self, attribute: int) -> Floats:
        """Return 1 and the functions of an attribute, a row each, over its inner answers."""

    @abstractmethod
    def _drawn(self, count: int, rng: Generator) -> Codes:
        """Return `count` drawn coefficients."""

    @property
    @abstractmethod
    def _share_of_first(self) -> float:
        """P(a given coefficient of one attribute is drawn)."""

    @property
    def gap(self) -> float:
        """g = 2 keep - 1, rounded once."""
        return float(2 * thresholds.as_fraction(self.parameters.keep) - 1)

    @cached_property
    def coefficients(self) -> CoefficientNumbers:
        """The numbering of the coefficients."""
        return CoefficientNumbers(self._selection, self.parameters.order)

    @property
    def _count(self) -> int:
        return self.coefficients.firsts[-1]

    @cached_property
    def _values(self) -> Floats:
        """Return a table of function values: attribute, function (the last is 1), answer."""
        matrices = [self._matrix(i) for i in range(len(self.answers))]
        shape = (len(matrices), max(map(len, matrices)), max(m.shape[1] for m in matrices))
        table = np.ones(shape)
        for i, matrix in enumerate(matrices):
            table[i, : len(matrix) - 1, : matrix.shape[1]] = matrix[1:]
        return table

    def _value(self, drawn: Codes, codes: Codes) -> Floats:
        """Return the value of a coefficient for a profile, row by row."""
        attributes, functions = self.coefficients.listed
        result, rows = np.ones(drawn.size), np.arange(drawn.size)
        for place in range(self.parameters.order):
            attribute = attributes[drawn, place]
            result *= self._values[attribute, functions[drawn, place], codes[rows, attribute]]
        return result

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the sign of a drawn coefficient."""
        drawn = self._drawn(len(codes), rng)
        plus = 0.5 + self.gap * self._value(drawn, codes) / 2
        minus = rng.random(len(codes)) >= plus
        reports["symbol"] = 2 * drawn + minus

    def zero(self) -> Counts:
        """Return the counts of no reports."""
        return Counts(np.zeros(1, dtype=np.int64), np.zeros((2, self._count), dtype=np.int64))

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each coefficient was reported with either sign.

        Cost: linear; a few megabytes and two integers per coefficient.

        Raises:
            InvalidReport: if a symbol is out of range.
        """
        symbols = self.records(reports)["symbol"]
        table = count_symbols(symbols, 2 * self._count).reshape(-1, 2).T
        return Counts(np.array([symbols.size], dtype=np.int64), np.ascontiguousarray(table))

    def reader(self, counts: Counts) -> Reader:
        """Return tables from the moments of their subsets.

        Cost: O(c^2) for a table of c cells.
        """
        return self._reader(counts, 0)

    def _steady(self, counts: Counts) -> Reader | None:
        reports = counts.table.sum(axis=0)
        seen = reports[reports > 0]
        return self._reader(counts, IMAGINED) if seen.size and int(seen.min()) < FEW else None

    def _reader(self, counts: Counts, imagined: int) -> Reader:
        """Return a reader whose means are those of the reports and some imagined signs.

        Half of the imagined signs of each coefficient are +1. A variance is that of as many reports
        as there are: two signs that agree are no certainty.
        """
        reports = counts.table.sum(axis=0).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            # E[sign] = g theta; a sign has variance 1 - mean^2 (docs/mathematics.md, section 5).
            # The clip holds |theta| to at most 1, so that few reports do not look certain.
            mean = (counts.table[0] - counts.table[1]) / (reports + imagined)
            theta = mean / self.gap
            variance = (1 - np.clip(mean, -self.gap, self.gap) ** 2) / (reports * self.gap**2)
        variance = np.where(reports > 0, variance, np.nan)

        def read(attributes: Subset) -> Reading:
            matrices = [self._matrix(i) for i in attributes]
            shape = [len(matrix) for matrix in matrices]
            moments, noise = np.ones(shape), np.zeros(shape)
            for subset in subsets_of(attributes):
                place = tuple(slice(1, None) if i in subset else 0 for i in attributes)
                numbers = self.coefficients.numbers(subset)
                moments[place], noise[place] = theta[numbers], variance[numbers]
            # cells = U moments, U = (F_1 x ... x F_k)^-1. Each report is about one coefficient,
            # so that the moments are uncorrelated and the covariance is U diag(noise) U'.
            undo = design([inverse(matrix) for matrix in matrices])
            # A moment that nobody reported makes every cell unknown: NaN spreads by itself.
            cells = undo @ moments.reshape(-1)
            return cells, (undo * noise.reshape(-1)) @ undo.T

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols = self.records(reports)["symbol"].astype(np.int64)
        every = self.every_profile()
        result = np.empty((symbols.size, len(every)))
        for column, codes in enumerate(every):
            value = self._value(symbols // 2, np.broadcast_to(codes, (symbols.size, codes.size)))
            sign = 1 - 2 * (symbols % 2)
            # P(sign) = 1/2 + g value sign / 2, so that E[sign] = g value.
            result[:, column] = (1 + sign * self.gap * value) / 2
        result *= self._probability(symbols // 2)[:, None]
        return np.log(result) if log else result

    @abstractmethod
    def _probability(self, drawn: Codes) -> Floats:
        """Return the probability that each coefficient is drawn."""

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        (1 - (g theta)^2)/(4 n w g^2) - f (1 - f)/n, theta = 1 - 2 f, w the probability that the
        attribute's coefficient is drawn.

        Guarantees: given the people's values, and exact for n w reports on it.
        """
        return sign_variance(self.gap, self._share_of_first, n, frequency)

"""Bases of the pure frequency oracles: a report supports each answer with one of two chances.

A report supports its sender's answer with probability p and any given other one with probability q;
everything that follows from p and q alone stands here and in `closed_form.Pure`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable.authoring import resolve
from deniable.errors import InvalidParameter
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    LARGEST_COVARIANCE,
    Candidates,
    Codes,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import no_counts
from deniable.mechanisms.chances import estimated
from deniable.mechanisms.closed_form import Pure, nothing_learned
from deniable.mechanisms.hashing import Words
from deniable.mechanisms.packed import PackedAnswers
from deniable.protocol import (
    Domain,
    HCMSParameters,
    KRRParameters,
    ORRParameters,
    OUEParameters,
    Parameters,
    PGRParameters,
    SubsetParameters,
)

__all__ = ["ClosedOracle", "HashedOrClosed", "Held", "PureOracle", "Words"]

Held = tuple[slice | NDArray[np.intp], NDArray[np.bool_]]
"""Places of reports, and which answers each of these reports holds."""


class PureOracle(Mechanism):
    """A mechanism whose reports support answers with the two chances of its parameters.

    A mechanism of its own says what its counts are (`simulate`, `zero`, `accumulate`), and three
    things about support: `_supported`, `_held` and `_two_chances`; and `_covariance` where the
    supports of two answers depend on each other.
    """

    @cached_property
    def pure(self) -> Pure:
        """The two chances."""
        return Pure.of(*self.parameters.support)

    @classmethod
    def _resolved(cls, domain: Domain, **given: float | None) -> Parameters:
        """Return the integers for what a constructor was given; None is left out."""
        wanted: dict[str, object] = {name: x for name, x in given.items() if x is not None}
        return resolve(cls.parameters_type, wanted, domain, absent=False)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)].

        Guarantees: exact, given the people's values; a sample adds f (1 - f) / n.
        """
        return self.pure.variance(n, frequency)

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of every answer, from the reports that support it.

        Guarantees: variances and covariances are linear in the estimated frequencies, so unbiased,
        given the people's values.

        Edge cases: without reports everything is NaN, with a note. Above 4,096 answers the
        covariance is None.

        Args:
            counts: of this mechanism.
            candidates: labels, one per answer; "0", "1", ... by default.

        Raises:
            InvalidParameter: if answers are hashed: they share hash values.

        Example:
            >>> import numpy as np
            >>> from deniable.mechanisms import KRR, Counts
            >>> counts = Counts(np.array([100]), np.array([[60, 40]]))
            >>> KRR(2, keep=0.75).estimate(counts).frequency.round(6).tolist()
            [0.7, 0.3]
        """
        if self.hashed:
            raise InvalidParameter(
                f"{self.parameters.mechanism} must have an 'estimate' of its own: strings that "
                "share a hash value add a variance, which no pure oracle knows."
            )
        self._check_counts(counts)
        (labels, words), n = self._asked(candidates), counts.n
        if n == 0:
            return nothing_learned(labels)
        share = self._supported(counts, len(labels), words)
        kept = self._covariance(share, n) if len(labels) <= LARGEST_COVARIANCE else None
        return estimated(self.pure, share, n, labels, kept)

    def _supported(self, counts: Counts, answers: int, words: Words) -> Floats:
        """Return the share of reports that support each answer: of counts with a column for it."""
        return np.asarray(counts.table[0] / counts.n)

    def _covariance(self, share: Floats, n: int) -> Floats:
        """Return the covariance of frequencies: diagonal, where supports are independent."""
        return np.diag(self.pure.variance_observed(share, n))

    def _asked(self, candidates: Candidates) -> tuple[tuple[str, ...], Words]:
        """Return a label per answer, "0", "1", ... by default; of strings, their fingerprints."""
        return names.answers_asked(getattr(self.parameters, "answers", 0), candidates)

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        """Yield some reports and which answers each of them holds, a row per report."""
        raise NotImplementedError

    def _two_chances(self) -> tuple[float, float, int]:
        """Return P(report | an answer that it holds), P(report | another one), both times a number.

        The last is that number: of the public parts that a report may have, equally likely.
        """
        raise NotImplementedError

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | candidate): one of two chances, as the report holds it or not.

        Cost: a row of numbers per report, one per candidate.
        """
        records, (labels, words) = self._checked(reports), self._asked(candidates)
        near, far, public = self._two_chances()
        chances = np.array([far, near]) / public
        result = np.empty((0, len(labels)))
        for rows, held in self._held(records, len(labels), words):
            if isinstance(rows, slice) and len(held) == records.size:  # all at once: no copy
                result = np.where(held, chances[1], chances[0])
                break
            if not result.size:
                result = np.empty((records.size, len(labels)))
            if isinstance(rows, slice):
                np.take(chances, held.view(np.uint8), out=result[rows], mode="clip")
            else:
                result[rows] = np.where(held, chances[1], chances[0])
        return np.log(result) if log else result

    def _packed(self, reports: Records, candidates: Candidates) -> PackedAnswers:
        """Return a bit per answer and report: 1 if the report holds it."""
        records, (labels, words) = self._checked(reports), self._asked(candidates)
        packed = np.empty((records.size, -(-len(labels) // 8)), dtype=np.uint8)
        for rows, held in self._held(records, len(labels), words):
            packed[rows] = np.packbits(held, axis=1, bitorder="little")
        near, far, _ = self._two_chances()
        return PackedAnswers.of_bits(packed, len(labels), far / near)


class ClosedOracle(PureOracle):
    """An oracle of a closed domain whose counts have a column per answer."""

    parameters: KRRParameters | OUEParameters | SubsetParameters

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per answer."""
        return no_counts(1, self.parameters.answers)


class HashedOrClosed(PureOracle):
    """An oracle of strings, known by their hash, or of a closed domain, known by their codes."""

    parameters: HCMSParameters | ORRParameters | PGRParameters

    @property
    def hashed(self) -> bool:
        """Strings are known by their hash alone; a closed domain's answers by their codes."""
        return not self.parameters.answers

    def _people(self, values: Values, candidates: Candidates) -> tuple[Words, Codes]:
        """Return the strings' fingerprints, none if closed, and which of them each person has."""
        if self.parameters.answers:
            return names.NO_WORDS, names.codes_of(values, self.parameters.answers, candidates)
        return names.words_of(values, candidates)

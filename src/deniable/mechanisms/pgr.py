"""Projective geometry response for whole populations; the model stands in protocol/pgr.py.

A report supports the answers whose hyperplanes hold its point. The support of all K points at once
is one Fourier transform per cohort, whatever the number of reports and candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.mechanisms.base import (
    Candidates,
    Counts,
    Estimate,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import by_cohort, count_cells, counted_by_row, no_counts
from deniable.mechanisms.chances import Chances, estimated
from deniable.mechanisms.closed_form import Pure, nothing_learned, strings_or_closed
from deniable.mechanisms.coins import as_generator, coins
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.pgr_collisions import Places, load_of, separated
from deniable.mechanisms.projective import Geometry, Integers, geometry_of
from deniable.mechanisms.pure_oracles import HashedOrClosed, Held
from deniable.protocol import PGRParameters
from deniable.protocol.pgr import FIRST_INDEX

_CHUNK = 2**18
_KEPT_PLACES = 2**26
"""The most points of strings in cohorts, 256 MB, that are kept while collisions are solved."""
_COVARIANCE_CELLS = 2**22
"""The most points times answers for which a covariance is made."""


class PGR(HashedOrClosed):
    """Projective geometry response of a closed domain, or of strings.

    Args:
        answers: the number of answers of a closed domain, an absent one included; leave it out
            for strings.
        epsilon: what one report may spend.
        cohorts: C, for strings; 32 by default.
        points: the least number of points that strings are hashed into; 16,384 by default.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import PGR
        >>> rng = np.random.default_rng(1)
        >>> m = PGR(epsilon=2.0)
        >>> words = ["news", "mail", "maps"]
        >>> reports = m.simulate(rng.choice(words, size=50_000, p=[0.5, 0.3, 0.2]), rng)
        >>> found = m.estimate(m.accumulate(reports), words)
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = PGRParameters
    parameters: PGRParameters

    def __init__(
        self,
        answers: int | None = None,
        *,
        epsilon: float,
        cohorts: int | None = None,
        points: int | None = None,
    ) -> None:
        domain = strings_or_closed("PGR", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, cohorts=cohorts, points=points))

    @cached_property
    def geometry(self) -> Geometry:
        """The points and hyperplanes."""
        return geometry_of(self.parameters.prime, self.parameters.dimension)

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value, each of another person in a uniform cohort.

        Guarantees: each probability is the client's, exactly.

        Cost: O(n t) time; the reports and some 50 MB.

        Args:
            values: strings, or codes of `candidates`; closed: codes, or labels with their list.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """
        rng = as_generator(rng)
        shape = self.parameters
        words, codes = self._people(values, candidates)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part, true = reports[start : start + _CHUNK], codes[start : start + _CHUNK]
            if self.hashed:
                part["cohort"] = rng.integers(0, shape.cohorts, size=part.size, dtype=np.uint16)
                true = self._hashed(words[true], part["cohort"].astype(np.uint64))
            part["point"] = self.reported(np.asarray(true, dtype=np.int64), rng)
        return reports

    def reported(self, own: Integers, rng: Generator) -> Integers:
        """Return randomised points of people whose answers have these points.

        Cost: O(n t), a third of it where equal points come one after the other.
        """
        shape, choices = self.parameters, np.empty(own.size, dtype=np.int64)
        kept = coins(rng, shape.keep, own.size)
        inside = int(np.count_nonzero(kept))
        choices[kept] = rng.integers(0, shape.inner, inside)
        choices[~kept] = rng.integers(0, shape.outer, own.size - inside)
        return self.geometry.moved(own, kept, choices)

    def _hashed(self, words: Words, cohorts: Words) -> Integers:
        """Return the points of strings in cohorts."""
        hashed = hash_words(words, cohorts + np.uint64(FIRST_INDEX))
        return reduced(hashed, self.parameters.points).astype(np.int64)

    def places(self, cohort: int, words: Words) -> Integers:
        """Return the points of all answers in a cohort."""
        if not self.hashed:
            return np.arange(self.parameters.answers)
        return self._hashed(words, np.full(len(words), cohort, dtype=np.uint64))

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per cohort, a column per point."""
        return no_counts(self.parameters.cohorts, self.parameters.points)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each point was reported in each cohort.

        Cost: linear; the counts and a few megabytes.

        Raises:
            InvalidReport: if a point is not below K, or a cohort not below C.
        """
        shape = self.parameters

        def cell(records: Reports) -> Integers:
            own = records["point"].astype(np.int64)
            return own if shape.answers else own + records["cohort"].astype(np.int64) * shape.points

        table = count_cells(self._checked(reports), shape.cohorts * shape.points, cell)
        return counted_by_row(table, shape.cohorts)

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of every answer, or of the candidate strings.

        Strings: averaged over cohorts, less the share c_set / K that any string has. What listed
        strings add to each other where they share a point is solved for (`pgr_collisions`). Strings
        that are not listed add variance sum f^2 / (C K) over the hash functions; the sum is
        estimated from all points and included in the standard error.

        Guarantees: unbiased; the variance is, given the people's values, too.

        Cost: a transform of q^t numbers per cohort with reports, then a few look-ups per candidate
        and cohort. The covariance is None for strings, and for closed domains of more than some
        hundred answers.

        Edge cases: without reports everything is NaN, with a note. Frequencies need not sum to 1.

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers.
        """
        self._check_counts(counts)
        labels, words = self._asked(candidates)
        if counts.n == 0:
            return nothing_learned(labels)
        if self.hashed:
            return self._estimate_strings(counts, labels, words)
        share = self.geometry.hyperplane_sums(counts.table[0])[: len(labels)] / counts.n
        covariance = self._closed_covariance(counts.table[0], self.pure.frequency(share))
        return estimated(self.pure, share, counts.n, labels, covariance)

    def _estimate_strings(self, counts: Counts, labels: tuple[str, ...], words: Words) -> Estimate:
        cohorts = np.flatnonzero(counts.reports)
        places = self._kept_places(cohorts, words)
        weights = counts.reports[cohorts] / counts.n
        support, squares = np.zeros(len(labels)), 0.0
        for i, cohort in enumerate(cohorts):
            sums = self.geometry.hyperplane_sums(counts.table[cohort])
            support += sums[places(i)]
            squares += weights[i] ** 2 * self.squares(sums, int(counts.reports[cohort]))
        share, points = support / counts.n, self.parameters.points
        frequency = self.pure.frequency(share)
        variance = self.pure.variance_observed(share, counts.n)
        load = load_of(len(labels), points, weights)
        if load is not None:
            frequency = separated(frequency, places, weights, points)
            # Solving for the listed strings multiplies variances by 1/(1 - M/(C K)) on average;
            # only strings that are not listed still collide (`pgr_collisions`).
            variance = variance / (1 - load)
            squares -= float((weights**2).sum() * (frequency**2 - variance).sum())
        variance = variance + max(0.0, squares) / (points - 1)
        chances = Chances.around(self.pure, frequency, variance, counts.n)
        return Estimate(labels, frequency, np.sqrt(variance), None, counts.n, chances=chances)

    def _kept_places(self, cohorts: Integers, words: Words) -> Places:
        """Return a function that gives the points of all strings in a cohort; it remembers them."""
        if len(words) * len(cohorts) > _KEPT_PLACES:
            return lambda i: self.places(int(cohorts[i]), words)
        kept = [self.places(int(cohort), words).astype(np.int32) for cohort in cohorts]
        return lambda i: kept[i]

    def squares(self, sums: Integers, n: int) -> float:
        """Return the sum of squares of the strings' frequencies, from the points of a cohort.

        The unbiased sum over the points' shares, less the 1/K of it that is collisions.
        """
        share, pure = sums / n, Pure.of(*self.parameters.support_of_points)
        # E[s_hat^2] = s^2 + Var of a point's share s. Over hash functions the sum of s^2 is
        # sum f^2 + (1 - sum f^2)/K: sum f^2 is (sum s^2 - 1/K)/(1 - 1/K).
        found = float((pure.frequency(share) ** 2 - pure.variance_observed(share, n)).sum())
        return (found - 1 / self.parameters.points) / (1 - 1 / self.parameters.points)

    def _closed_covariance(self, counts: Integers, frequency: Floats) -> Floats | None:
        """Return the covariance of a small closed domain.

        A report supports v and w with the share of reports that lie in both hyperplanes; given the
        people's values, p q or q^2 of that is expected: q^2 + (f_v + f_w) q (p - q) for v != w.
        """
        p, q, n = self.pure.p, self.pure.q, int(counts.sum())
        if frequency.size * counts.size > _COVARIANCE_CELLS:
            return None
        every = self.geometry.vectors(np.arange(counts.size))
        holds = (every @ every[: frequency.size].T % self.parameters.prime == 0).astype(np.float64)
        # n Cov of two supports is P(both) less the mean product of each person's probabilities.
        both = holds.T @ (holds * (counts / n)[:, None])
        expected = q * q + (frequency[:, None] + frequency[None, :]) * q * (p - q)
        np.fill_diagonal(expected, q * q + frequency * (p * p - q * q))
        return np.asarray((both - expected) / (n * self.pure.gap**2))

    def _two_chances(self) -> tuple[float, float, int]:
        """keep over the points that the answer's hyperplane has, or the rest over the others."""
        shape = self.parameters
        return self.pure.p / shape.inner, (1 - self.pure.p) / shape.outer, shape.cohorts

    def packed_answers(self, reports: Records, candidates: Candidates = None, /) -> PackedAnswers:
        """Return a bit per answer: 1 if the point lies on the answer's hyperplane."""
        return self._packed(reports, candidates)

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        """Yield places of reports, and whether each lies on each answer's hyperplane."""
        prime = float(self.parameters.prime)
        for cohort, places in self._by_cohort(records):
            # Sums of t products below q^2 are exact as floats.
            v = self.geometry.vectors(self.places(cohort, words)).astype(np.float64).T
            step = max(1, _CHUNK // v.shape[1])
            for start in range(0, places.size, step):
                rows = places[start : start + step]
                u = self.geometry.vectors(records["point"][rows].astype(np.int64))
                inner = u.astype(np.float64) @ v
                yield rows, inner == prime * np.rint(inner / prime)

    def _by_cohort(self, records: Reports) -> Iterator[tuple[int, NDArray[np.intp]]]:
        if self.parameters.answers:
            return iter([(0, np.arange(records.size))])
        return by_cohort(records["cohort"])

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], p = keep.

        Guarantees: exact, given the people's values; for strings on average over hash functions,
        but for the sum f^2 / (C K) of collisions with unlisted strings, which does not fall with n.
        """
        return self.pure.variance(n, frequency)

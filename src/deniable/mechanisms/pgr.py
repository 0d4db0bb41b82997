"""Projective geometry response for whole populations; the model stands in protocol/pgr.py.

A report supports the answers whose hyperplanes hold its point. The support of all K points at once
is one Fourier transform per cohort, whatever the number of reports and candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidate,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Reports,
    Values,
)
from deniable.mechanisms.cells import check_below, count_cells, counted_by_row, no_counts
from deniable.mechanisms.closed_form import Pure, categories_domain, nothing_learned
from deniable.mechanisms.coins import coins
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.pgr_collisions import Places, load_of, separated
from deniable.mechanisms.projective import Geometry, Integers, geometry_of
from deniable.protocol import Domain, Parameters, PGRParameters, Strings
from deniable.protocol.pgr import FIRST_INDEX

_CHUNK = 2**18
_KEPT_PLACES = 2**26
"""The most points of strings in cohorts, 256 MB, that are kept while collisions are solved."""
_COVARIANCE_CELLS = 2**22
"""The most points times answers for which a covariance is made."""


class PGR(Mechanism):
    """Projective geometry response of strings. `PGR.closed` is for closed domains.

    Args:
        epsilon: what one report may spend.
        cohorts: C; 32 by default.
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
    pure: Pure
    geometry: Geometry

    def __init__(
        self, *, epsilon: float, cohorts: int | None = None, points: int | None = None
    ) -> None:
        given = {"epsilon": epsilon, "cohorts": cohorts, "points": points}
        self._adopt(_resolved(Strings(), given))

    @classmethod
    def closed(cls, categories: int, *, epsilon: float) -> Self:
        """Return the mechanism of a closed domain, an absent answer included."""
        domain = categories_domain("PGR", categories)
        return cls.from_parameters(_resolved(domain, {"epsilon": epsilon}))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        shape = self.parameters
        self.pure = Pure.of(*shape.support)
        self.geometry = geometry_of(shape.prime, shape.dimension)

    @property
    def hashed(self) -> bool:
        """Strings are known by their hash alone; a closed domain's answers by their codes."""
        return not self.parameters.answers

    def simulate(
        self,
        values: Values,
        rng: np.random.Generator,
        candidates: Sequence[Candidate] | None = None,
    ) -> Reports:
        """Return one report per value, each of another person in a uniform cohort.

        Guarantees: each probability is the client's, exactly.

        Cost: O(n t) time; the reports and some 50 MB.

        Args:
            values: strings, or codes of `candidates`; closed: codes, or labels with their list.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """
        shape = self.parameters
        if shape.answers:
            words, codes = None, names.codes_of(values, shape.answers, candidates)
        else:
            words, codes = names.words_of(values, candidates)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part, true = reports[start : start + _CHUNK], codes[start : start + _CHUNK]
            if words is not None:
                part["cohort"] = rng.integers(0, shape.cohorts, size=part.size, dtype=np.uint16)
                true = self._hashed(words[true], part["cohort"].astype(np.uint64))
            part["point"] = self.reported(np.asarray(true, dtype=np.int64), rng)
        return reports

    def reported(self, own: Integers, rng: np.random.Generator) -> Integers:
        """Return randomised points of people whose answers have these points.

        Cost: O(n t), a third of it where equal points come one after the other.
        """
        shape, choices = self.parameters, np.empty(own.size, dtype=np.int64)
        kept = coins(rng, shape.inside, own.size)
        inside = int(np.count_nonzero(kept))
        choices[kept] = rng.integers(0, shape.inner, inside)
        choices[~kept] = rng.integers(0, shape.outer, own.size - inside)
        return self.geometry.moved(own, kept, choices)

    def _hashed(self, words: Words, cohorts: Words) -> Integers:
        """Return the points of strings in cohorts."""
        hashed = hash_words(words, cohorts + np.uint64(FIRST_INDEX))
        return reduced(hashed, self.parameters.points).astype(np.int64)

    def places(self, cohort: int, words: Words | None) -> Integers:
        """Return the points of all answers in a cohort."""
        if words is None:
            return np.arange(self.parameters.answers)
        return self._hashed(words, np.full(len(words), cohort, dtype=np.uint64))

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per cohort, a column per point."""
        return no_counts(self.parameters.cohorts, self.parameters.points)

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
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

    def _checked(self, reports: Reports | bytes | memoryview) -> Reports:
        records = self.records(reports)
        bounds = {"point": self.parameters.points, "cohort": self.parameters.cohorts}
        check_below(records, {name: bounds[name] for name in self.dtype.names or ()})
        return records

    def estimate(self, counts: Counts, candidates: Sequence[Candidate] | None = None) -> Estimate:
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
        labels, words = names.answers_asked(self.parameters.answers, candidates)
        if counts.n == 0:
            return nothing_learned(labels)
        if words is not None:
            return self._estimate_strings(counts, labels, words)
        share = self.geometry.hyperplane_sums(counts.table[0])[: len(labels)] / counts.n
        frequency = self.pure.frequency(share)
        variance = self.pure.variance_observed(share, counts.n)
        covariance = self._covariance(counts.table[0], frequency)
        return Estimate(labels, frequency, np.sqrt(variance), covariance, counts.n)

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
        return Estimate(labels, frequency, np.sqrt(variance), None, counts.n)

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
        # sum f^2 + (1 - sum f^2)/K.
        found = float((pure.frequency(share) ** 2 - pure.variance_observed(share, n)).sum())
        return found - 1 / self.parameters.points

    def _covariance(self, counts: Integers, frequency: Floats) -> Floats | None:
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

    def likelihood(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | answer): 1/C, times inside / c_set or (1 - inside) / q^(t-1).

        Cost: O(n M t); a row of M numbers per report.
        """
        records, shape = self._checked(reports), self.parameters
        labels, words = names.answers_asked(self.parameters.answers, candidates)
        near = self.pure.p / shape.inner / shape.cohorts
        far = (1 - self.pure.p) / shape.outer / shape.cohorts
        result = np.empty((records.size, len(labels)))
        for rows, held in self._held(records, words):
            result[rows] = np.where(held, near, far)
        return np.log(result) if log else result

    def packed_answers(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        /,
    ) -> PackedAnswers:
        """Return reports as a bit per answer: whether its hyperplane holds the point."""
        records, shape = self._checked(reports), self.parameters
        labels, words = names.answers_asked(self.parameters.answers, candidates)
        packed = np.empty((records.size, -(-len(labels) // 8)), dtype=np.uint8)
        for rows, held in self._held(records, words):
            packed[rows] = np.packbits(held, axis=1, bitorder="little")
        least = (1 - self.pure.p) / shape.outer / (self.pure.p / shape.inner)
        return PackedAnswers.of_bits(packed, len(labels), least)

    def _held(
        self, records: Reports, words: Words | None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.bool_]]]:
        """Yield places of some reports, and which answers' hyperplanes hold their points."""
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
        """Yield each cohort that occurs, with the places of its reports."""
        if self.parameters.answers:
            yield 0, np.arange(records.size)
            return
        order = np.argsort(records["cohort"], kind="stable")
        cohorts = records["cohort"][order]
        for rows in np.split(order, np.flatnonzero(np.diff(cohorts)) + 1):
            if rows.size:
                yield int(records["cohort"][rows[0]]), rows

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], p = inside.

        Guarantees: exact, given the people's values; for strings on average over hash functions,
        but for the sum f^2 / (C K) of collisions with unlisted strings, which does not fall with n.
        """
        return self.pure.variance(n, frequency)


def _resolved(domain: Domain, given: dict[str, float | None]) -> PGRParameters:
    wanted: dict[str, object] = {name: x for name, x in given.items() if x is not None}
    return PGRParameters.resolve(wanted, domain, absent=False)

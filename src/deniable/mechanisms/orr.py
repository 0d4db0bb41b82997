"""O-RR for whole populations [KBR16, section 4]; the model stands in protocol/orr.py."""

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
from deniable.mechanisms.closed_form import Pure, categories_domain
from deniable.mechanisms.coins import coins
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.orr_cohorts import Cohorts, Symbols, estimate_cohorts
from deniable.mechanisms.permuting import all_ranks
from deniable.protocol import Domain, ORRParameters, Parameters, Strings
from deniable.protocol.orr import FIRST_HASHED, FIRST_PERMUTED
from deniable.protocol.thresholds import as_fraction

_CHUNK = 2**20


class ORR(Mechanism):
    """O-RR of strings: hash functions by cohort. `ORR.closed` has permutations instead.

    Args:
        epsilon: what one report may spend.
        symbols: k; by default the optimum for the epsilon.
        cohorts: C; 256 by default.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import ORR
        >>> rng = np.random.default_rng(1)
        >>> m = ORR(epsilon=2.0)
        >>> words = ["news", "mail", "maps"]
        >>> reports = m.simulate(rng.choice(words, size=50_000, p=[0.5, 0.3, 0.2]), rng)
        >>> found = m.estimate(m.accumulate(reports), words)
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = ORRParameters
    parameters: ORRParameters
    pure: Pure
    symbol: Pure

    def __init__(
        self, *, epsilon: float, symbols: int | None = None, cohorts: int | None = None
    ) -> None:
        self._adopt(_resolved(Strings(), epsilon, symbols, cohorts))

    @classmethod
    def closed(
        cls,
        categories: int,
        *,
        epsilon: float,
        symbols: int | None = None,
        cohorts: int | None = None,
    ) -> Self:
        """Return O-RR of a closed domain, an absent answer included, with permutations."""
        domain = categories_domain("ORR", categories)
        return cls.from_parameters(_resolved(domain, epsilon, symbols, cohorts))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        keep = as_fraction(self.parameters.keep)
        self.symbol = Pure.of(keep, (1 - keep) / (self.parameters.symbols - 1))
        self.pure = Pure.of(*self.parameters.support)

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

        Cost: linear in the values; with permutations also a sort of the domain per cohort.

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
        reports["cohort"] = rng.integers(0, shape.cohorts, size=codes.size, dtype=np.uint16)
        reports["symbol"] = self._true(reports["cohort"], codes, words)
        for start in range(0, codes.size, _CHUNK):
            part = reports["symbol"][start : start + _CHUNK]
            other = rng.integers(0, shape.symbols - 1, size=part.size)
            other += other >= part
            kept = coins(rng, shape.keep, part.size)
            part[~kept] = other[~kept]
        return reports

    def _true(
        self, cohorts: NDArray[np.uint16], codes: NDArray[np.int64], words: Words | None
    ) -> Symbols:
        """Return the symbol of each person's answer in the person's cohort."""
        found = np.empty(codes.size, dtype=np.uint16)
        if words is None:
            for rows in _by_cohort(cohorts):
                found[rows] = self._row(int(cohorts[rows[0]]), None)[codes[rows]]
            return found
        for start in range(0, codes.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            index = cohorts[part].astype(np.uint64) + np.uint64(FIRST_HASHED)
            found[part] = self._reduced(hash_words(words[codes[part]], index))
        return found

    def _row(self, cohort: int, words: Words | None) -> Symbols:
        """Return the symbols of all answers in a cohort."""
        if words is None:
            ranked = all_ranks(self.parameters.answers, FIRST_PERMUTED + cohort)
            return (ranked % self.parameters.symbols).astype(np.uint16)
        index = np.asarray(FIRST_HASHED + cohort, dtype=np.uint64)
        return self._reduced(hash_words(words, index))

    def _reduced(self, hashed: Words) -> Symbols:
        return reduced(hashed, self.parameters.symbols).astype(np.uint16)

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per cohort, a column per symbol."""
        return no_counts(self.parameters.cohorts, self.parameters.symbols)

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
        """Return how often each symbol was reported in each cohort.

        Cost: linear; the counts and a few megabytes.

        Raises:
            InvalidReport: if a cohort is not below C, or a symbol not below k.
        """
        records, cohorts = self._checked(reports), self.parameters.cohorts
        k = self.parameters.symbols
        table = count_cells(
            records, cohorts * k, lambda part: part["cohort"].astype(np.int64) * k + part["symbol"]
        )
        return counted_by_row(table, cohorts)

    def _checked(self, reports: Reports | bytes | memoryview) -> Reports:
        records = self.records(reports)
        bounds = {"cohort": self.parameters.cohorts, "symbol": self.parameters.symbols}
        check_below(records, bounds)
        return records

    def estimate(self, counts: Counts, candidates: Sequence[Candidate] | None = None) -> Estimate:
        """Return unbiased frequencies of the candidates, or of every answer: see `orr_cohorts`.

        Cost: for M answers, 2 bytes per answer and cohort, M^2 numbers, and O(M^3 + C k M^2) time.

        Args:
            counts: of this mechanism.
            candidates: strings to test for; closed: labels, one per answer.

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers.
        """
        self._check_counts(counts)
        labels, words = names.answers_asked(self.parameters.answers, candidates)
        live = np.flatnonzero(counts.reports)
        symbols = np.empty((live.size, len(labels)), dtype=np.uint16)
        for row, cohort in enumerate(live):
            symbols[row] = self._row(int(cohort), words)
        shape = self.parameters
        seen = Cohorts(symbols, counts.table[live], shape.symbols, self.symbol, words is None)
        return estimate_cohorts(seen, counts, labels)

    def likelihood(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | answer): 1/C for the cohort, times keep or move.

        Cost: a row of M numbers per report.
        """
        records = self._checked(reports)
        labels, words = names.answers_asked(self.parameters.answers, candidates)
        result = np.empty((records.size, len(labels)))
        for rows in _by_cohort(records["cohort"]):
            true = self._row(int(records["cohort"][rows[0]]), words)
            same = records["symbol"][rows][:, None] == true
            result[rows] = np.where(same, self.symbol.p, self.symbol.q) / self.parameters.cohorts
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the closed-form variance of an estimated frequency, given the people's values.

        That of a pure oracle whose q averages over all cohorts (protocol/orr.py).

        Accuracy: it neglects that the other answers are fitted too, which multiplies the variance
        by about 1 / (1 - M / (C (k - 1))) for M answers.
        """
        return self.pure.variance(n, frequency)


def _by_cohort(cohorts: NDArray[np.uint16]) -> Iterator[NDArray[np.intp]]:
    """Yield the places of the reports of each cohort that occurs."""
    if cohorts.size:
        order = np.argsort(cohorts, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(cohorts[order])) + 1)


def _resolved(
    domain: Domain, epsilon: float, symbols: int | None, cohorts: int | None
) -> ORRParameters:
    given = {"epsilon": epsilon, "symbols": symbols, "cohorts": cohorts}
    wanted: dict[str, object] = {name: x for name, x in given.items() if x is not None}
    return ORRParameters.resolve(wanted, domain, absent=False)

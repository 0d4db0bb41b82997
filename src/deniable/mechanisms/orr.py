"""O-RR for whole populations [KBR16, section 4]; the model stands in protocol/orr.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import (
    Candidate,
    Candidates,
    Counts,
    Estimate,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import by_cohort, count_cells, counted_by_row, moved, no_counts
from deniable.mechanisms.closed_form import Pure, nothing_learned, strings_or_closed
from deniable.mechanisms.coins import as_generator
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.orr_cohorts import Cohorts, Symbols, estimate_cohorts
from deniable.mechanisms.permuting import all_ranks
from deniable.mechanisms.pure_oracles import HashedOrClosed, Held
from deniable.protocol import ORRParameters
from deniable.protocol.orr import FIRST_HASHED, FIRST_PERMUTED
from deniable.protocol.thresholds import as_fraction

_CHUNK = 2**20


class ORR(HashedOrClosed):
    """O-RR: hash functions of strings by cohort, or permutations of a closed domain's answers.

    Args:
        answers: the number of answers of a closed domain, an absent one included; leave it out
            for strings.
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

    def __init__(
        self,
        answers: int | None = None,
        *,
        epsilon: float,
        symbols: int | None = None,
        cohorts: int | None = None,
    ) -> None:
        domain = strings_or_closed("ORR", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, symbols=symbols, cohorts=cohorts))

    @cached_property
    def symbol(self) -> Pure:
        """keep and move of a symbol."""
        keep = as_fraction(self.parameters.keep)
        return Pure.of(keep, (1 - keep) / (self.parameters.symbols - 1))

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value, each of another person in a uniform cohort.

        Guarantees: each probability is the client's, exactly.

        Cost: linear in the values; with permutations also a sort of the domain per cohort.

        Args:
            values: strings, or codes of `candidates`; closed: codes, or labels with their list.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """
        rng = as_generator(rng)
        shape = self.parameters
        words, codes = self._people(values, candidates)
        reports = np.empty(codes.size, dtype=self.dtype)
        reports["cohort"] = rng.integers(0, shape.cohorts, size=codes.size, dtype=np.uint16)
        reports["symbol"] = self._true(reports["cohort"], codes, words)
        for start in range(0, codes.size, _CHUNK):
            part = reports["symbol"][start : start + _CHUNK]
            part[:] = moved(part, shape.symbols, shape.keep, rng)
        return reports

    def _true(self, cohorts: NDArray[np.uint16], codes: NDArray[np.int64], words: Words) -> Symbols:
        """Return the symbol of each person's answer in the person's cohort."""
        found = np.empty(codes.size, dtype=np.uint16)
        if not self.hashed:
            for cohort, rows in by_cohort(cohorts):
                found[rows] = self._row(cohort, words)[codes[rows]]
            return found
        for start in range(0, codes.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            index = cohorts[part].astype(np.uint64) + np.uint64(FIRST_HASHED)
            found[part] = self._reduced(hash_words(words[codes[part]], index))
        return found

    def _row(self, cohort: int, words: Words) -> Symbols:
        """Return the symbols of all answers in a cohort."""
        if not self.hashed:
            ranked = all_ranks(self.parameters.answers, FIRST_PERMUTED + cohort)
            return (ranked % self.parameters.symbols).astype(np.uint16)
        index = np.asarray(FIRST_HASHED + cohort, dtype=np.uint64)
        return self._reduced(hash_words(words, index))

    def _reduced(self, hashed: Words) -> Symbols:
        return reduced(hashed, self.parameters.symbols).astype(np.uint16)

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per cohort, a column per symbol."""
        return no_counts(self.parameters.cohorts, self.parameters.symbols)

    def accumulate(self, reports: Records) -> Counts:
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

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return unbiased frequencies of the candidates, or of every answer: see `orr_cohorts`.

        Cost: for M answers, 2 bytes per answer and cohort, M^2 numbers, and O(M^3 + C k M^2) time.

        Edge cases: of C' cohorts with reports, symbols tell at most C' (k - 1) + 1 strings apart.

        Args:
            counts: of this mechanism.
            candidates: strings to test for; closed: labels, one per answer.

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers, or if
                they are more strings than symbols can tell apart; `deniable.decode.decode` screens
                such a list.
        """
        self._check_counts(counts)
        labels, words = self._asked(candidates)
        live, shape = np.flatnonzero(counts.reports), self.parameters
        if self.hashed and len(labels) > self._rank(shape.cohorts):
            raise InvalidParameter(
                f"The symbols of {shape.cohorts:,} cohorts tell at most "
                f"{self._rank(shape.cohorts):,} strings apart. Got {len(labels):,} candidates.",
                "Use deniable.decode.decode, which screens them, or fewer candidates.",
            )
        if self.hashed and live.size and len(labels) > self._rank(live.size):
            found = nothing_learned(labels)
            few = (
                f"{live.size:,} of {shape.cohorts:,} cohorts have reports, whose symbols tell at "
                f"most {self._rank(live.size):,} candidates apart: nothing can be told of "
                f"{len(labels):,}."
            )
            return replace(found, n=counts.n, notes=(few,))
        symbols = self._symbols(words, live, len(labels))
        seen = Cohorts(symbols, counts.table[live], shape.symbols, self.symbol, not self.hashed)
        return estimate_cohorts(seen, counts, labels, self.pure)

    def symbols_of(self, candidates: Sequence[Candidate]) -> Symbols:
        """Return the symbol of each candidate string (row) in each cohort (column)."""
        labels, words = self._asked(candidates)
        return self._symbols(words, np.arange(self.parameters.cohorts), len(labels)).T

    def _symbols(self, words: Words, cohorts: NDArray[np.intp], answers: int) -> Symbols:
        """Return the symbols of all answers, a row for each of these cohorts."""
        found = np.empty((cohorts.size, answers), dtype=np.uint16)
        for row, cohort in enumerate(cohorts):
            found[row] = self._row(int(cohort), words)
        return found

    def _rank(self, cohorts: int) -> int:
        """Return how many strings a number of cohorts can tell apart, at most.

        Symbols of a cohort sum to 1, whatever people hold: k - 1 equations are its own.
        """
        return cohorts * (self.parameters.symbols - 1) + 1

    def _two_chances(self) -> tuple[float, float, int]:
        """keep or move as the symbol is the answer's, over the number of cohorts."""
        return self.symbol.p, self.symbol.q, self.parameters.cohorts

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        for cohort, rows in by_cohort(records["cohort"]):
            yield rows, records["symbol"][rows][:, None] == self._row(cohort, words)

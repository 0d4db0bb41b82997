"""Optimised local hashing for whole populations; the model stands in protocol/olh.py.

With C_v the number of reports that support v, frequency_v = (C_v / n - 1/g) / (keep - 1/g).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    LARGEST_COVARIANCE,
    Candidates,
    Counts,
    Estimate,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import count_cells, moved
from deniable.mechanisms.chances import Chances
from deniable.mechanisms.closed_form import nothing_learned, strings_or_closed
from deniable.mechanisms.coins import as_generator
from deniable.mechanisms.hashing import Words, fingerprints, hash_words, reduced
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.pure_oracles import Held, PureOracle
from deniable.protocol import OLHParameters
from deniable.protocol.olh import FIRST_INDEX

LARGEST_TABLE = 2**22
"""The most pairs of seed and symbol that are counted in a table (32 MiB)."""
NOTED_SHARE = 0.01
"""A pool that adds more than this share to the variances gets a note."""
_CHUNK = 2**20


@dataclass(frozen=True)
class Pairs(Counts):
    """The reports themselves, where seeds are too many to be counted; the table is empty.

    Attributes:
        pairs: seed * 2^16 + symbol of every report, in rising order.

    Cost: 8 bytes per report; `merge` is linear.
    """

    pairs: NDArray[np.int64]

    def merge(self, other: Self) -> Counts:
        """Return the reports of both."""
        digest = self.same_digest(other)
        both = np.concatenate([self.pairs, other.pairs])
        # Stable sorting finds the two rising parts and merges them: linear.
        rising = np.sort(both, kind="stable")
        return Pairs(self.reports + other.reports, self.table, rising, digest=digest)


class OLH(PureOracle):
    """Optimised local hashing of strings, or of the answers of a closed domain.

    Args:
        answers: the number of answers of a closed domain, an absent one included; leave it out
            for strings. A survey's integers do not say it: there candidates are strings, or the
            `Code`s of `candidates.every_code`.
        epsilon: what one report may spend.
        symbols: g; by default the optimum for the epsilon.
        seeds: K, the size of the pool; 2^32 by default.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import OLH
        >>> rng = np.random.default_rng(1)
        >>> m = OLH(epsilon=2.0)
        >>> words = ["news", "mail", "maps"]
        >>> reports = m.simulate(rng.choice(words, size=50_000, p=[0.5, 0.3, 0.2]), rng)
        >>> found = m.estimate(m.accumulate(reports), words)
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = OLHParameters
    parameters: OLHParameters
    answers: int | None = None

    def __init__(
        self,
        answers: int | None = None,
        *,
        epsilon: float,
        symbols: int | None = None,
        seeds: int | None = None,
    ) -> None:
        domain = strings_or_closed("OLH", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, g=symbols, seeds=seeds))
        self.answers = answers

    def _identity(self) -> tuple[object, ...]:
        return (*super()._identity(), self.answers)

    def _shape(self) -> dict[str, object]:
        return {"answers": self.answers or 0, **super()._shape()}

    @property
    def hashed(self) -> bool:
        """Answers are known by their hash alone, unless the constructor was told their number."""
        return self.answers is None

    def _asked(self, candidates: Candidates) -> tuple[tuple[str, ...], Words]:
        if self.answers is None:
            return super()._asked(candidates)
        labels, _ = names.answers_asked(self.answers, candidates)
        every = names.every_code(self.answers, absent=False)
        return labels, fingerprints(names.open_keys(every))

    @property
    def _counted(self) -> bool:
        """True where reports are counted by seed and symbol; otherwise each report is kept."""
        return self.parameters.seeds * self.parameters.symbols <= LARGEST_TABLE

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value: strings, codes of `candidates`, or those of all answers.

        Guarantees: the probabilities are the client's, exactly.

        Cost: linear; 6 bytes per report, 8 per value, and about 100 MB.
        """
        rng = as_generator(rng)
        if self.answers is None:
            words, codes = names.words_of(values, candidates)
        else:
            words, codes = self._asked(None)[1], names.codes_of(values, self.answers, candidates)
        shape = self.parameters
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part, true = reports[start : start + _CHUNK], codes[start : start + _CHUNK]
            seeds = rng.integers(0, shape.seeds, size=part.size, dtype=np.int64)
            own = self.symbols_of(words[true], seeds)
            part["seed"] = seeds
            part["symbol"] = moved(own, shape.symbols, shape.keep, rng)
        return reports

    def symbols_of(self, words: Words, seeds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the symbols of answers under seeds, broadcast against each other."""
        hashed = hash_words(words, seeds.astype(np.uint64) + np.uint64(FIRST_INDEX))
        return reduced(hashed, self.parameters.symbols).astype(np.int64)

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per seed, or one row of pairs."""
        shape, none = self.parameters, np.zeros(1, dtype=np.int64)
        if self._counted:
            return Counts(none, np.zeros((shape.seeds, shape.symbols), dtype=np.int64))
        return Pairs(none, np.zeros((1, 0), dtype=np.int64), np.zeros(0, dtype=np.int64))

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each pair of seed and symbol was reported, or the sorted pairs.

        Up to 2^22 pairs are counted in a table. Beyond, the pairs are all that the reports say,
        and are kept: 8 bytes each.

        Cost: linear (counted), or n log n.

        Raises:
            InvalidReport: if a seed is not one of the pool, or a symbol not below g.
        """
        return self.counted(self.records(reports))

    def counted(self, records: Reports) -> Counts:
        """Return the counts of records that have a `seed` and a `symbol`, however wide.

        Raises:
            InvalidReport: as `accumulate`.
        """
        shape = self.parameters
        self._check_bounds(records)
        number = np.array([records.size], dtype=np.int64)
        if not self._counted:
            pairs = (records["seed"].astype(np.int64) << 16) | records["symbol"]
            return Pairs(number, np.zeros((1, 0), dtype=np.int64), np.sort(pairs))

        def cell(part: Reports) -> NDArray[np.int64]:
            return np.asarray(part["seed"].astype(np.int64) * shape.symbols + part["symbol"])

        table = count_cells(records, shape.seeds * shape.symbols, cell)
        return Counts(number, table.reshape(shape.seeds, shape.symbols))

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of each candidate.

        Supports of two answers are uncorrelated given the people's values, so that the covariance
        is diagonal. A pool's hash functions are the same for everybody: an answer w takes part in
        the support of v a little too often or too rarely, for good, by f_w times a number of mean
        0 and variance 1/((g - 1) K) over hash functions. So the variance has a second term,

            sum over the other candidates w of f_w^2 / ((g - 1) K),

        with the unbiased estimate of f_w^2.

        Guarantees: unbiased over seeds; for a pool, over hash functions.

        Edge cases: without reports everything is NaN, with a note. What unlisted strings add to
        the second term is not in the standard error: at most the square of their share, over
        (g - 1) K; a note says so where the term matters. Above 4,096 candidates the covariance is
        None.

        Cost: K M hashes for M candidates if the pool is counted, else n M.

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers.
        """
        self._check_counts(counts)
        (labels, words), n = self._asked(candidates), counts.n
        if n == 0:
            return nothing_learned(labels)
        share = self.support(counts, words) / n
        frequency, noise = self.pure.frequency(share), self.pure.variance_observed(share, n)
        shared = self._shared_variance(frequency, noise)
        variance = noise + shared
        kept = np.diag(variance) if len(labels) <= LARGEST_COVARIANCE else None
        notes = tuple(self._notes(noise, shared))
        chances = Chances.of(self.pure, len(labels), shared)
        return Estimate(labels, frequency, np.sqrt(variance), kept, n, notes, chances)

    def support(self, counts: Counts, words: Words) -> NDArray[np.int64]:
        """Return how many reports support each answer, by its fingerprint."""
        # Imported here because Numba takes most of a second to load and few commands estimate.
        from deniable.kernels.local_hash import pooled_support, private_support

        if not isinstance(counts, Pairs):
            return pooled_support(counts.table, words)
        pairs = counts.pairs.astype(np.uint64)
        symbols = pairs & np.uint64(2**16 - 1)
        return private_support(pairs >> np.uint64(16), symbols, self.parameters.symbols, words)

    def _shared_variance(self, frequency: Floats, noise: Floats) -> Floats:
        # E[f_hat^2] = f^2 + Var, so that this difference is an unbiased estimate of f^2. Sharing K
        # functions adds f_w^2/((g - 1) K) for each other answer w (docs/mathematics.md, section 2).
        squares = frequency**2 - noise
        others = np.maximum(0.0, squares.sum() - squares)
        return np.asarray(others / ((self.parameters.symbols - 1) * self.parameters.seeds))

    def _notes(self, noise: Floats, shared: Floats) -> Iterator[str]:
        if np.any(shared > NOTED_SHARE * noise):
            yield (
                f"The pool has {self.parameters.seeds:,} hash functions, the same for everybody. "
                "Standard errors include what that adds, for the candidates; strings that are no "
                "candidates add more. A larger pool removes it."
            )

    def _two_chances(self) -> tuple[float, float, int]:
        """keep, or (1 - keep)/(g - 1) of each other symbol, over the number of seeds."""
        move = (1 - self.pure.p) / (self.parameters.symbols - 1)
        return self.pure.p, move, self.parameters.seeds

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        step = max(1, _CHUNK // answers)
        for start in range(0, records.size, step):
            some = slice(start, start + step)
            seeds = records["seed"][some].astype(np.int64)[:, None]
            yield some, self.symbols_of(words[None, :, :], seeds) == records["symbol"][some, None]

    def packed_answers(self, reports: Records, candidates: Candidates = None, /) -> PackedAnswers:
        """Return reports as a bit per candidate: whether the seed maps it to the symbol."""
        from deniable.kernels.local_hash import supporting_bits

        records, symbols = self._checked(reports), self.parameters.symbols
        _, words = self._asked(candidates)
        packed = supporting_bits(records["seed"], records["symbol"], symbols, words)
        near, far, _ = self._two_chances()
        return PackedAnswers.of_bits(packed, len(words), far / near)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], p = keep, q = 1/g.

        Guarantees: exact, given the people's values and over the seeds; a sample adds f (1 - f)/n,
        and a pool of K seeds sum f^2 / ((g - 1) K) over the other answers.
        """
        return self.pure.variance(n, frequency)

"""Hadamard count-mean sketch for whole populations; the model stands in protocol/hcms.py.

The support of all w buckets of a row at once is one fast Walsh-Hadamard transform, whatever the
number of reports and candidates.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from deniable.mechanisms.cells import count_cells, counted_by_row, no_counts
from deniable.mechanisms.closed_form import nothing_learned, strings_or_closed
from deniable.mechanisms.coins import as_generator, coins
from deniable.mechanisms.hashing import Words, hash_words, reduced
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.permuting import code_words
from deniable.mechanisms.pure_oracles import HashedOrClosed, Held
from deniable.mechanisms.sketch_rows import Buckets, SketchRows
from deniable.mechanisms.sketch_shares import estimate_sketch
from deniable.protocol import HCMSParameters
from deniable.protocol.hcms import FIRST_INDEX

_CHUNK = 2**20
_KEPT_BUCKETS = 2**24
"""The most buckets of answers in rows, 64 MB, that are kept while collisions are solved."""


class HCMS(HashedOrClosed):
    """Hadamard count-mean sketch of strings, or of a closed domain.

    Args:
        answers: the number of answers of a closed domain, an absent one included; leave it out
            for strings.
        epsilon: what one report may spend.
        rows: g, the number of hash functions; 32 by default.
        width: w, a power of two; 4,096 by default.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import HCMS
        >>> rng = np.random.default_rng(1)
        >>> m = HCMS(epsilon=2.0)
        >>> words = ["news", "mail", "maps"]
        >>> reports = m.simulate(rng.choice(words, size=50_000, p=[0.5, 0.3, 0.2]), rng)
        >>> found = m.estimate(m.accumulate(reports), words)
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = HCMSParameters
    parameters: HCMSParameters

    def __init__(
        self,
        answers: int | None = None,
        *,
        epsilon: float,
        rows: int | None = None,
        width: int | None = None,
    ) -> None:
        domain = strings_or_closed("HCMS", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, rows=rows, width=width))

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value.

        Guarantees: each probability is the client's, exactly.

        Cost: linear; the reports and some 50 MB.

        Args:
            values: strings, or codes of `candidates`; closed: codes, or labels with their list.
            rng: the only source of randomness.
            candidates: the strings that codes stand for.
        """
        rng = as_generator(rng)
        shape = self.parameters
        hashed, codes = self._people(values, candidates)
        words = hashed if self.hashed else code_words(shape.answers)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part, true = reports[start : start + _CHUNK], codes[start : start + _CHUNK]
            part["row"] = rng.integers(0, shape.rows, size=part.size, dtype=np.uint16)
            part["coefficient"] = rng.integers(0, shape.width, size=part.size, dtype=np.uint32)
            buckets = self.buckets(words[true], part["row"].astype(np.uint64))
            odd = np.bitwise_count(part["coefficient"] & buckets) & 1
            part["sign"] = odd ^ ~coins(rng, shape.keep, part.size)
        return reports

    def buckets(self, words: Words, rows: Words) -> NDArray[np.uint32]:
        """Return the buckets of answers, by their fingerprints, in rows; broadcast."""
        hashed = hash_words(words, rows + np.uint64(FIRST_INDEX))
        return reduced(hashed, self.parameters.width).astype(np.uint32)

    def zero(self) -> Counts:
        """Return the counts of no reports: a row per hash function, columns per coefficient.

        The first w columns count the sign +1, the last w the sign -1.
        """
        return no_counts(self.parameters.rows, 2 * self.parameters.width)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each coefficient of each row was reported with each sign.

        Cost: linear; the counts and a few megabytes.

        Raises:
            InvalidReport: if a row, a coefficient or a sign is out of range.
        """
        rows, width = self.parameters.rows, self.parameters.width

        def cell(records: Reports) -> NDArray[np.int64]:
            signed = records["row"].astype(np.int64) * 2 + records["sign"]
            return np.asarray(signed * width + records["coefficient"])

        return counted_by_row(count_cells(self._checked(reports), rows * 2 * width, cell), rows)

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
        """Return the unbiased frequency of the candidates, or of every answer.

        With T the reports of sign +1 less those of sign -1, the transform of a row's T at bucket b
        is the number of its reports that support b less those that do not. What listed answers add
        to each other where they share a bucket is solved for (`sketch_shares`). Unlisted strings
        add variance sum f^2 / (g w) over the hash functions; the sum is estimated from all buckets
        and included in the standard error.

        Guarantees: unbiased given the hash functions, for closed domains and lists of up to 1,024
        answers that fill up to a quarter of the buckets; else over hash functions. The variance
        is given the people's values.

        Cost: O(g w log w), a look-up per candidate and row, and O(M^3) for M of up to 1,024
        answers; of more, some more look-ups. Above 1,024 the covariance is None.

        Edge cases: without reports everything is NaN, with a note. Answers that share their buckets
        in all rows with reports are NaN, and named. Frequencies need not sum to 1.

        Raises:
            InvalidParameter: if candidates are missing, repeated or no possible answers.
        """
        self._check_counts(counts)
        labels, words = self._asked(candidates)
        if counts.n == 0:
            return nothing_learned(labels)
        return estimate_sketch(self.rows(counts, words), labels, self.hashed)

    def rows(self, counts: Counts, words: Words) -> SketchRows:
        """Return the rows with reports, about answers with these fingerprints."""
        live = np.flatnonzero(counts.reports)
        agreed, gap = self.agreement(counts)[live], 2 * self.pure.p - 1
        buckets = self._kept_buckets(live, words)
        return SketchRows(agreed, counts.reports[live], buckets, len(words), gap)

    def _kept_buckets(self, live: NDArray[np.intp], words: Words) -> Buckets:
        """Return a function that gives the buckets of all answers in a row; it remembers them."""

        def buckets(row: int) -> NDArray[np.uint32]:
            return self.buckets(words, np.full(len(words), live[row], dtype=np.uint64))

        if live.size * len(words) > _KEPT_BUCKETS:
            return buckets
        kept = [buckets(row) for row in range(live.size)]
        return lambda row: kept[row]

    def agreement(self, counts: Counts) -> NDArray[np.int64]:
        """Return per row and bucket the reports that support it less those that do not."""
        # Imported here: Numba takes a second, and only estimates need it.
        from deniable.kernels.walsh import transform

        width = self.parameters.width
        signed = np.ascontiguousarray(counts.table[:, :width] - counts.table[:, width:])
        return transform(signed)

    def _asked(self, candidates: Candidates) -> tuple[tuple[str, ...], Words]:
        labels, words = super()._asked(candidates)
        return labels, words if self.hashed else code_words(self.parameters.answers)

    def _two_chances(self) -> tuple[float, float, int]:
        """keep or 1 - keep as the sign is the answer's, over the number of coefficients."""
        return self.pure.p, 1 - self.pure.p, self.parameters.rows * self.parameters.width

    def packed_answers(self, reports: Records, candidates: Candidates = None, /) -> PackedAnswers:
        """Return a bit per answer: 1 if the sign is the answer's own."""
        return self._packed(reports, candidates)

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        rows = np.arange(self.parameters.rows, dtype=np.uint64)
        buckets = self.buckets(words[None, :, :], rows[:, None])
        step = max(1, _CHUNK // answers)
        for start in range(0, records.size, step):
            part = records[start : start + step]
            own = buckets[part["row"]] & part["coefficient"][:, None]
            same = np.bitwise_count(own) & 1 == part["sign"][:, None]
            yield slice(start, start + step), np.asarray(same)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], p = keep.

        Guarantees: exact for an answer by itself, on average over hash functions and given the
        people's values. Solving for M answers multiplies it by 1/(1 - M/(g w)) on average, and
        unlisted strings add sum f^2 / (g w), which does not fall with n.
        """
        return self.pure.variance(n, frequency)

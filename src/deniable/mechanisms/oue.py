"""Optimised unary encoding for whole populations; the model stands in protocol/oue.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.mechanisms import bitmaps, unary
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidate,
    Codes,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Reports,
    Values,
)
from deniable.mechanisms.closed_form import Pure, categories_domain, nothing_learned
from deniable.mechanisms.coins import nearest_threshold
from deniable.mechanisms.packed import PackedAnswers
from deniable.protocol import OUEParameters, Parameters

_CHUNK = 2**17


class OUE(Mechanism):
    """Optimised unary encoding, with or without a permanent stage.

    Args:
        categories: k, the number of answers, an absent one included.
        epsilon: what one report may spend.
        epsilon_forever: what all reports of one value may spend; adds the permanent stage.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import OUE
        >>> rng = np.random.default_rng(1)
        >>> m = OUE(3, epsilon=1.0)
        >>> values = rng.choice(3, size=50_000, p=[0.5, 0.3, 0.2])
        >>> reports = m.simulate(values, rng)
        >>> found = m.estimate(m.accumulate(reports))
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = OUEParameters
    parameters: OUEParameters
    pure: Pure

    def __init__(
        self, categories: int, *, epsilon: float, epsilon_forever: float | None = None
    ) -> None:
        wanted: dict[str, object] = {"epsilon": epsilon}
        if epsilon_forever is not None:
            wanted["epsilon_forever"] = epsilon_forever
        domain = categories_domain("OUE", categories)
        self._adopt(OUEParameters.resolve(wanted, domain, absent=False))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.pure = Pure.of(*self.parameters.support)

    @property
    def _labels(self) -> list[str]:
        return [str(code) for code in range(self.parameters.bits)]

    def simulate(
        self,
        values: Values,
        rng: np.random.Generator,
        candidates: Sequence[Candidate] | None = None,
    ) -> Reports:
        """Return one report per value: codes 0..k-1, or labels with their list in `candidates`.

        Guarantees: each bit's probability is within 2^-64 of the client's, both stages drawn as
        one coin: every value belongs to another person.

        Cost: O(n k) bit operations, 64 at a time; the reports and a few megabytes.
        """
        # Imported here because Numba takes most of a second to load and few commands simulate.
        from deniable.kernels.simulate_bits import simulate_basic

        bits = self.parameters.bits
        codes = names.codes_of(values, bits, candidates)
        coins = (
            nearest_threshold(self.parameters.p_star),
            nearest_threshold(self.parameters.q_star),
        )
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part = simulate_basic(codes[start : start + _CHUNK], bits, coins, rng)
            reports["bits"][start : start + _CHUNK] = part["bits"]
        return reports

    def simulate_members(self, members: Codes, rng: np.random.Generator) -> Reports:
        """Return one report per set, each set a row of bits; numbers outside 0..k-1 set none."""
        reports = np.empty(len(members), dtype=self.dtype)
        step = bitmaps.rows_at_once(self.parameters.bits)
        for start in range(0, len(members), step):
            part = unary.noisy_bits(members[start : start + step], self.parameters, rng)
            reports["bits"][start : start + step] = part
        return reports

    def members_likelihood(self, reports: Reports | bytes | memoryview, members: Codes) -> Floats:
        """Return P(report | set), each set a row of bits as in `simulate_members`."""
        return np.exp(unary.members_log_likelihood(self.pure, self._ones(reports), members))

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per bit."""
        return Counts(
            np.zeros(1, dtype=np.int64), np.zeros((1, self.parameters.bits), dtype=np.int64)
        )

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
        """Return how often each bit was reported.

        Cost: linear in the bytes; a few megabytes.

        Raises:
            InvalidReport: if a padding bit is set.
        """
        records = self.records(reports)
        table = bitmaps.count_bits(records["bits"], self.parameters.bits)
        return Counts(np.array([records.size], dtype=np.int64), table[None, :])

    def estimate(self, counts: Counts, candidates: Sequence[Candidate] | None = None) -> Estimate:
        """Return the unbiased frequency of every answer; the covariance is diagonal.

        Edge cases: without reports everything is NaN, with a note. Frequencies need not sum to 1.
        Above 4,096 answers the covariance is None.

        Args:
            counts: of this mechanism.
            candidates: labels, one per answer; "0", "1", ... by default.
        """
        self._check_counts(counts)
        labels = names.closed_labels(candidates, self._labels)
        if counts.n == 0:
            return nothing_learned(labels)
        return unary.estimate_bits(self.pure, counts.table[0], counts.n, labels)

    def likelihood(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | answer), bit by bit.

        Cost: a row of k numbers per report, and three more while it is computed.
        """
        names.closed_labels(candidates, self._labels)
        ones, bits = self._ones(reports), self.parameters.bits
        # Only the answer's own bit differs from the background: no product with all of them.
        # RAPPOR's letters from here: q for a bit that is set, p for one that is not.
        p, q = self.pure.q, self.pure.p
        seen = ones.sum(axis=1)[:, None]
        background = seen * np.log(p) + (bits - seen) * np.log1p(-p)
        own = np.where(ones > 0, np.log(q / p), np.log1p(-q) - np.log1p(-p))
        result: Floats = background + own
        return result if log else np.exp(result)

    def packed_answers(
        self,
        reports: Reports | bytes | memoryview,
        _: Sequence[Candidate] | None = None,
        /,
    ) -> PackedAnswers:
        """Return reports as bits: only the answer's own bit differs from the background."""
        packed = self.records(reports)["bits"]
        bitmaps.check_padding(packed, self.parameters.bits)
        return PackedAnswers.of_bits(packed, self.parameters.bits, self.pure.least)

    def _ones(self, reports: Reports | bytes | memoryview) -> Floats:
        packed = self.records(reports)["bits"]
        bitmaps.check_padding(packed, self.parameters.bits)
        return bitmaps.unpacked(packed, self.parameters.bits).astype(np.float64)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], 4E/(n (E - 1)^2) at f = 0.

        Guarantees: exact, given the people's values; a sample adds f (1 - f) / n.
        """
        return self.pure.variance(n, frequency)

"""Optimised unary encoding for whole populations; the model stands in protocol/oue.py."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from deniable.mechanisms import bitmaps, unary
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import one_row
from deniable.mechanisms.closed_form import categories_domain
from deniable.mechanisms.coins import as_generator, nearest_threshold
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.pure_oracles import ClosedOracle
from deniable.protocol import OUEParameters

_CHUNK = 2**17


class OUE(ClosedOracle):
    """Optimised unary encoding, with or without a permanent stage.

    Args:
        answers: k, the number of answers, an absent one included.
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
    adds_bits = True
    parameters: OUEParameters

    def __init__(
        self, answers: int, *, epsilon: float, epsilon_forever: float | None = None
    ) -> None:
        domain = categories_domain("OUE", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, epsilon_forever=epsilon_forever))

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value: codes 0..k-1, or labels with their list in `candidates`.

        Guarantees: each bit's probability is within 2^-64 of the client's, both stages drawn as
        one coin: every value belongs to another person.

        Cost: O(n k) bit operations, 64 at a time; the reports and a few megabytes.
        """
        rng = as_generator(rng)
        # Imported here because Numba takes most of a second to load and few commands simulate.
        from deniable.kernels.simulate_bits import simulate_basic

        bits = self.parameters.bits
        codes = names.codes_of(values, bits, candidates)
        shape = self.parameters
        coins = nearest_threshold(shape.p_star), nearest_threshold(shape.q_star)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part = simulate_basic(codes[start : start + _CHUNK], bits, coins, rng)
            reports["bits"][start : start + _CHUNK] = part["bits"]
        return reports

    def simulate_members(self, members: Codes, rng: Generator) -> Reports:
        """Return one report per set, each set a row of bits; numbers outside 0..k-1 set none."""
        reports = np.empty(len(members), dtype=self.dtype)
        step = bitmaps.rows_at_once(self.parameters.bits)
        for start in range(0, len(members), step):
            part = unary.noisy_bits(members[start : start + step], self.parameters, rng)
            reports["bits"][start : start + step] = part
        return reports

    def members_likelihood(self, reports: Records, members: Codes) -> Floats:
        """Return P(report | set), each set a row of bits as in `simulate_members`."""
        return np.exp(unary.members_log_likelihood(self.pure, self._ones(reports), members))

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each bit was reported.

        Cost: linear in the bytes; a few megabytes.

        Raises:
            InvalidReport: if a padding bit is set.
        """
        records = self.records(reports)
        table = bitmaps.count_bits(records["bits"], self.parameters.bits)
        return one_row(records.size, table)

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | answer), bit by bit.

        Cost: a row of k numbers per report, and three more while it is computed.
        """
        self._asked(candidates)
        ones, bits = self._ones(reports), self.parameters.bits
        # Only the answer's own bit differs from the background: no product with all of them.
        # RAPPOR's letters from here: q for a bit that is set, p for one that is not.
        p, q = self.pure.q, self.pure.p
        seen = ones.sum(axis=1)[:, None]
        background = seen * np.log(p) + (bits - seen) * np.log1p(-p)
        own = np.where(ones > 0, np.log(q / p), np.log1p(-q) - np.log1p(-p))
        result: Floats = background + own
        return result if log else np.exp(result)

    def packed_answers(self, reports: Records, _: Candidates = None, /) -> PackedAnswers:
        """Return reports as bits: only the answer's own bit differs from the background."""
        return PackedAnswers.of_bits(self._bits(reports), self.parameters.bits, self.pure.least)

    def _bits(self, reports: Records) -> bitmaps.Packed:
        packed: bitmaps.Packed = self.records(reports)["bits"]
        bitmaps.check_padding(packed, self.parameters.bits)
        return packed

    def _ones(self, reports: Records) -> Floats:
        return bitmaps.unpacked(self._bits(reports), self.parameters.bits).astype(np.float64)

"""Subset selection for whole populations; the model stands in protocol/subset.py."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.mechanisms import bitmaps
from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    Candidates,
    Counts,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import one_row
from deniable.mechanisms.closed_form import categories_domain
from deniable.mechanisms.coins import as_generator, coins
from deniable.mechanisms.packed import PackedAnswers
from deniable.mechanisms.pure_oracles import ClosedOracle
from deniable.protocol import SubsetParameters


class Subset(ClosedOracle):
    """Subset selection.

    Args:
        answers: k, the number of answers, an absent one included.
        epsilon: what one report may spend.
        size: d, the number of answers in a report; by default the optimum for the epsilon.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import Subset
        >>> rng = np.random.default_rng(1)
        >>> m = Subset(3, epsilon=1.0)
        >>> values = rng.choice(3, size=50_000, p=[0.5, 0.3, 0.2])
        >>> reports = m.simulate(values, rng)
        >>> found = m.estimate(m.accumulate(reports))
        >>> found.frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = SubsetParameters
    adds_bits = True
    parameters: SubsetParameters

    def __init__(self, answers: int, *, epsilon: float, size: int | None = None) -> None:
        domain = categories_domain("Subset", answers)
        self._adopt(self._resolved(domain, epsilon=epsilon, d=size))

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
    ) -> Reports:
        """Return one report per value: codes 0..k-1, or labels with their list in `candidates`.

        Guarantees: the probabilities are the client's, exactly.

        Cost: O(n d), and the reports.
        """
        rng = as_generator(rng)
        from deniable.kernels.simulate_subsets import simulate_subsets

        shape = self.parameters
        codes = names.codes_of(values, shape.answers, candidates)
        reports = np.zeros(codes.size, dtype=self.dtype)
        included = coins(rng, shape.keep, codes.size)
        simulate_subsets(codes, included, (shape.answers, shape.size), reports["bits"], rng)
        return reports

    def accumulate(self, reports: Records) -> Counts:
        """Return how many reports hold each answer.

        Cost: linear in the bytes; a few megabytes.

        Raises:
            InvalidReport: if a report does not hold exactly d answers, or a padding bit is set.
        """
        packed = self._checked(reports)
        table = bitmaps.count_bits(packed, self.parameters.answers)
        return one_row(len(packed), table)

    def _checked(self, reports: Records) -> NDArray[np.uint8]:
        packed: NDArray[np.uint8] = self.records(reports)["bits"]
        bitmaps.check_padding(packed, self.parameters.answers)
        if np.any(np.bitwise_count(packed).sum(axis=1, dtype=np.int64) != self.parameters.size):
            raise InvalidReport("record", f"Exactly {self.parameters.size} bits must be set.")
        return packed

    def _covariance(self, share: Floats, n: int) -> Floats:
        """Return the covariance given the people's values.

        With p and q as in `Pure` and, for two answers u and v, A = P(a report holds both | the
        sender's is one of them) and B = P(... | neither),

            n Cov(frequency_u, _v) (p - q)^2 = (f_u + f_v) (A - p q) + (1 - f_u - f_v) (B - q^2).
        """
        one, neither = self._joint()
        frequency = self.pure.frequency(share)
        either = frequency[:, None] + frequency[None, :]
        covariance: Floats = (either * one + (1 - either) * neither) / (n * self.pure.gap**2)
        np.fill_diagonal(covariance, self.pure.variance_observed(share, n))
        return covariance

    def _joint(self) -> tuple[float, float]:
        """Return A - p q and B - q^2."""
        p, q = self.parameters.support
        k, d = self.parameters.answers, self.parameters.size
        # A: the sender's answer is in, and the other one is among d - 1 of the k - 1 others.
        held = p * (d - 1) / (k - 1)
        if k == 2:
            return float(held - p * q), 0.0
        pairs = (k - 1) * (k - 2)
        # B: both are among the d - 1 (or d) of k - 1 others, one after the other.
        neither = (p * (d - 1) * (d - 2) + (1 - p) * d * (d - 1)) / pairs
        return float(held - p * q), float(neither - q * q)

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | answer): p/C(k-1, d-1) if it holds the answer, else (1-p)/C(k-1, d).

        Cost: a row of k numbers per report.
        """
        self._asked(candidates)
        k, d, p = self.parameters.answers, self.parameters.size, self.parameters.support[0]
        holds = bitmaps.unpacked(self._checked(reports), k) > 0
        # Subsets with the answer are equally likely among themselves, and so are those without.
        inside = math.log(p) - math.log(math.comb(k - 1, d - 1))
        outside = math.log(1 - p) - math.log(math.comb(k - 1, d))
        result: Floats = np.where(holds, inside, outside)
        return result if log else np.exp(result)

    def packed_answers(self, reports: Records, _: Candidates = None, /) -> PackedAnswers:
        """Return reports as bits: each holds d answers, so that only the own bit matters."""
        k, d, p = self.parameters.answers, self.parameters.size, self.parameters.support[0]
        # C(k-1, d) / C(k-1, d-1) = (k - d) / d
        least = float((1 - p) * d / (p * (k - d)))
        return PackedAnswers.of_bits(self._checked(reports), k, least)

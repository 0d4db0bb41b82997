"""k-ary randomised response for whole populations [KBR16, section 2.1].

Model: P(y | x) = keep if y = x else move, both stages together, where keep and move are exact
fractions of the protocol's integers. With c_y the number of reports of symbol y among n,

    frequency_y = (c_y / n - move) / (keep - move)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    LARGEST_COVARIANCE,
    Candidate,
    Counts,
    Estimate,
    Floats,
    Mechanism,
    Reports,
    Values,
)
from deniable.mechanisms.cells import check_below, count_cells
from deniable.mechanisms.closed_form import Pure, categories_domain, nothing_learned
from deniable.mechanisms.coins import coins, nearest_threshold
from deniable.protocol import KRRParameters, Parameters

_CHUNK = 2**20


class KRR(Mechanism):
    """k-RR, with or without a permanent stage.

    Args:
        categories: k, the number of answers, an absent one included.
        epsilon: what one report may spend.
        epsilon_forever: what all reports of one value may spend; adds the permanent stage.
        keep: the probability of reporting the true answer, instead of an epsilon.

    Raises:
        InvalidParameter: naming the parameter, the allowed values and the given one.

    Example:
        >>> import numpy as np
        >>> from deniable.mechanisms import KRR
        >>> rng = np.random.default_rng(1)
        >>> m = KRR(3, epsilon=1.0)
        >>> m.epsilon
        1.0
        >>> reports = m.simulate(rng.choice(3, size=100_000, p=[0.5, 0.3, 0.2]), rng)
        >>> counts = m.accumulate(reports)
        >>> counts.n
        100000
        >>> m.estimate(counts).frequency.round(1).tolist()
        [0.5, 0.3, 0.2]
    """

    parameters_type = KRRParameters
    parameters: KRRParameters
    pure: Pure

    def __init__(
        self,
        categories: int,
        *,
        epsilon: float | None = None,
        epsilon_forever: float | None = None,
        keep: float | None = None,
    ) -> None:
        given = {"epsilon": epsilon, "epsilon_forever": epsilon_forever, "keep": keep}
        wanted: dict[str, object] = {name: x for name, x in given.items() if x is not None}
        domain = categories_domain("KRR", categories)
        self._adopt(KRRParameters.resolve(wanted, domain, absent=False))

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.pure = Pure.of(self.parameters.keep, self.parameters.move)

    def simulate(
        self,
        values: Values,
        rng: np.random.Generator,
        candidates: Sequence[Candidate] | None = None,
    ) -> Reports:
        """Return one report per value: codes 0..k-1, or labels with their list in `candidates`.

        Guarantees: each probability is within 2^-64 of the client's.

        Cost: linear; 4 bytes per report and a few megabytes.

        Example:
            >>> import numpy as np
            >>> m = KRR(3, epsilon=1.0)
            >>> reports = m.simulate([0, 0, 1, 2], np.random.default_rng(1))
            >>> reports.shape, reports.dtype.names
            ((4,), ('symbol',))
        """
        k = self.parameters.categories
        codes = names.codes_of(values, k, candidates)
        threshold = nearest_threshold(self.parameters.keep)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part = codes[start : start + _CHUNK]
            other = rng.integers(0, k - 1, size=part.size)
            other += other >= part
            kept = coins(rng, threshold, part.size)
            reports["symbol"][start : start + _CHUNK] = np.where(kept, part, other)
        return reports

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per symbol."""
        return Counts(
            np.zeros(1, dtype=np.int64), np.zeros((1, self.parameters.categories), dtype=np.int64)
        )

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
        """Return how often each symbol was reported.

        Cost: linear; memory of a few megabytes and k integers.

        Raises:
            InvalidReport: if a symbol is not one of the k.

        Example:
            >>> import numpy as np
            >>> m = KRR(3, epsilon=1.0)
            >>> reports = np.array([(0,), (2,), (2,)], dtype=[("symbol", "<u4")])
            >>> m.accumulate(reports).table.tolist()
            [[1, 0, 2]]
        """
        symbols = self._symbols(reports)
        table = count_cells(symbols, self.parameters.categories, lambda part: part)
        return Counts(np.array([symbols.size], dtype=np.int64), table[None, :])

    def _symbols(self, reports: Reports | bytes | memoryview) -> Reports:
        records = self.records(reports)
        check_below(records, {"symbol": self.parameters.categories})
        return np.asarray(records["symbol"])

    def estimate(self, counts: Counts, candidates: Sequence[Candidate] | None = None) -> Estimate:
        """Return the unbiased frequency of every answer.

        Given the people's values, a report of a person with answer x is one draw from
        P(. | x), so that with r_y = c_y / n, p = keep and q = move

            n Var(frequency_y) (p - q)^2       = p q + r_y (1 - p - q)
            n Cov(frequency_y, _z) (p - q)^2   = -q (r_y + r_z - q)

        Guarantees: frequencies sum to 1. Both lines are unbiased estimates of the covariance
        given the people's values; variances are positive and the rows sum to 0.

        Edge cases: without reports everything is NaN, with a note. Above 4,096 answers the
        covariance is None.

        Args:
            counts: of this mechanism.
            candidates: labels, one per answer; "0", "1", ... by default.

        Example:
            >>> import numpy as np
            >>> from deniable.mechanisms import Counts
            >>> m = KRR(2, keep=0.75)
            >>> counts = Counts(np.array([100]), np.array([[60, 40]]))
            >>> m.estimate(counts).frequency.round(6).tolist()
            [0.7, 0.3]
        """
        self._check_counts(counts)
        k = self.parameters.categories
        labels = names.closed_labels(candidates, [str(code) for code in range(k)])
        if counts.n == 0:
            return nothing_learned(labels)
        # The closed forms of a pure oracle, p = keep and q = move (docs/mathematics.md, section 2).
        share, move = counts.table[0] / counts.n, self.pure.q
        variance = self.pure.variance_observed(share, counts.n)
        covariance = None
        if k <= LARGEST_COVARIANCE:
            # A report is one symbol: Cov(1[a], 1[b]) = -P(a | v) P(b | v). Over people that is
            # -(f_a p q + f_b p q + (1 - f_a - f_b) q^2) = -q (s_a + s_b - q), s = q + f (p - q).
            scale = move / (counts.n * self.pure.gap**2)
            covariance = -scale * (share[:, None] + share[None, :] - move)
            np.fill_diagonal(covariance, variance)
        frequency = self.pure.frequency(share)
        return Estimate(labels, frequency, np.sqrt(variance), covariance, counts.n)

    def likelihood(
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | answer): keep where they are equal, else move.

        Cost: a row of k numbers per report.
        """
        k = self.parameters.categories
        names.closed_labels(candidates, [str(code) for code in range(k)])
        same = self._symbols(reports)[:, None] == np.arange(k)
        result: Floats = np.where(same, self.pure.p, self.pure.q)
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return n^-1 [q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q)], p = keep, q = move.

        Guarantees: exact, given the people's values; a sample adds f (1 - f) / n.
        """
        return self.pure.variance(n, frequency)

"""k-ary randomised response for whole populations [KBR16, section 2.1].

Model: P(y | x) = keep if y = x else move, both stages together, where keep and move are exact
fractions of the protocol's integers. With c_y the number of reports of symbol y among n,

    frequency_y = (c_y / n - move) / (keep - move)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from deniable.mechanisms import candidates as names
from deniable.mechanisms.base import (
    LARGEST_COVARIANCE,
    Candidates,
    Counts,
    Estimate,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import count_cells, moved, one_row
from deniable.mechanisms.chances import estimated
from deniable.mechanisms.closed_form import categories_domain, nothing_learned
from deniable.mechanisms.coins import nearest_threshold
from deniable.mechanisms.hashing import Words
from deniable.mechanisms.pure_oracles import ClosedOracle, Held
from deniable.protocol import KRRParameters

_CHUNK = 2**20


class KRR(ClosedOracle):
    """k-RR, with or without a permanent stage.

    Args:
        answers: k, the number of answers, an absent one included.
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

    def __init__(
        self,
        answers: int,
        *,
        epsilon: float | None = None,
        epsilon_forever: float | None = None,
        keep: float | None = None,
    ) -> None:
        domain = categories_domain("KRR", answers)
        self._adopt(
            self._resolved(domain, epsilon=epsilon, epsilon_forever=epsilon_forever, keep=keep)
        )

    def simulate(self, values: Values, rng: Generator, candidates: Candidates = None) -> Reports:
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
        k = self.parameters.answers
        codes = names.codes_of(values, k, candidates)
        threshold = nearest_threshold(self.parameters.keep)
        reports = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            reports["symbol"][part] = moved(codes[part], k, threshold, rng)
        return reports

    def accumulate(self, reports: Records) -> Counts:
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
        symbols = self._checked(reports)["symbol"]
        table = count_cells(symbols, self.parameters.answers, lambda part: part)
        return one_row(symbols.size, table)

    def estimate(self, counts: Counts, candidates: Candidates = None) -> Estimate:
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
        k = self.parameters.answers
        labels, _ = self._asked(candidates)
        if counts.n == 0:
            return nothing_learned(labels)
        # The closed forms of a pure oracle, p = keep and q = move (docs/mathematics.md, section 2).
        share, move = counts.table[0] / counts.n, self.pure.q
        covariance = None
        if k <= LARGEST_COVARIANCE:
            # A report is one symbol: Cov(1[a], 1[b]) = -P(a | v) P(b | v). Over people that is
            # -(f_a p q + f_b p q + (1 - f_a - f_b) q^2) = -q (s_a + s_b - q), s = q + f (p - q).
            scale = move / (counts.n * self.pure.gap**2)
            covariance = -scale * (share[:, None] + share[None, :] - move)
            np.fill_diagonal(covariance, self.pure.variance_observed(share, counts.n))
        return estimated(self.pure, share, counts.n, labels, covariance)

    def _two_chances(self) -> tuple[float, float, int]:
        """keep where the symbol is the answer, else move."""
        return self.pure.p, self.pure.q, 1

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        yield slice(None), records["symbol"][:, None] == np.arange(answers)

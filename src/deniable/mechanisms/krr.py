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
    Candidates,
    Counts,
    Floats,
    Records,
    Reports,
    Values,
)
from deniable.mechanisms.cells import count_cells, moved, one_row
from deniable.mechanisms.closed_form import categories_domain
from deniable.mechanisms.coins import as_generator, nearest_threshold
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

    def simulate(
        self, values: Values, rng: Generator | int, candidates: Candidates = None
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
        rng = as_generator(rng)
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

    def _covariance(self, share: Floats, n: int) -> Floats:
        """Return the covariance given the people's values; its rows sum to 0.

        A report of a person with answer x is one draw from P(. | x), so that with r_y = c_y / n,
        p = keep and q = move

            n Var(frequency_y) (p - q)^2       = p q + r_y (1 - p - q)
            n Cov(frequency_y, _z) (p - q)^2   = -q (r_y + r_z - q)
        """
        move = self.pure.q
        # A report is one symbol: Cov(1[a], 1[b]) = -P(a | v) P(b | v). Over people that is
        # -(f_a p q + f_b p q + (1 - f_a - f_b) q^2) = -q (s_a + s_b - q), s = q + f (p - q).
        scale = move / (n * self.pure.gap**2)
        covariance: Floats = -scale * (share[:, None] + share[None, :] - move)
        np.fill_diagonal(covariance, self.pure.variance_observed(share, n))
        return covariance

    def _two_chances(self) -> tuple[float, float, int]:
        """keep where the symbol is the answer, else move."""
        return self.pure.p, self.pure.q, 1

    def _held(self, records: Reports, answers: int, words: Words) -> Iterator[Held]:
        yield slice(None), records["symbol"][:, None] == np.arange(answers)

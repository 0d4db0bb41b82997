"""MargHT for whole populations; the model stands in protocol/marg_ht.py and profile_signs.py."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from deniable.errors import InvalidReport
from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.cells import no_counts
from deniable.mechanisms.closed_form import sign_variance
from deniable.mechanisms.contrast_matrices import inverse, walsh_matrix
from deniable.mechanisms.moments import Subset, design
from deniable.mechanisms.profile_base import Reader, Reading
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.mechanisms.profile_tables import TableMechanism
from deniable.protocol import thresholds
from deniable.protocol.marg_ht import MargHTParameters


class MargHT(TableMechanism):
    """The sign of one Hadamard coefficient of one drawn table of k attributes.

    Its counts have a row per table; the first half of the columns counts the sign +1 of every
    coefficient of the largest table, the second half the sign -1.
    """

    parameters_type = MargHTParameters
    parameters: MargHTParameters

    @property
    def gap(self) -> float:
        """2 keep - 1, rounded once."""
        return float(2 * thresholds.as_fraction(self.parameters.keep) - 1)

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the sign of a drawn coefficient of a drawn table."""
        shape = self.parameters
        drawn = rng.integers(0, shape.marginals, size=len(codes))
        alpha = rng.integers(1, self.pools.cells[drawn])
        plus = 0.5 + self.gap * self._signs(drawn, alpha, codes) / 2
        minus = rng.random(len(codes)) >= plus
        reports["symbol"] = 2 * (drawn * shape.most_cells + alpha) + minus

    def _signs(self, drawn: Codes, alpha: Codes, codes: Codes) -> Codes:
        odd = np.bitwise_count(alpha & self.pools.cell_of(drawn, codes)) & 1
        return np.asarray(1 - 2 * odd.astype(np.int64))

    def zero(self) -> Counts:
        """Return the counts of no reports."""
        return no_counts(self.parameters.marginals, 2 * self.parameters.most_cells)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each coefficient of each table was reported with either sign.

        Cost: linear; a few megabytes and two integers per coefficient.

        Raises:
            InvalidReport: if a table or a coefficient does not exist.
        """
        tables, most = self.parameters.marginals, self.parameters.most_cells
        symbols = self.records(reports)["symbol"]
        counted = count_symbols(symbols, 2 * tables * most).reshape(tables, most, 2)
        places = np.arange(most)
        if np.any(counted[(places == 0) | (places >= self.pools.cells[:, None])]):
            raise InvalidReport("record", "The coefficient must be one of the marginal's.")
        table = np.concatenate([counted[:, :, 0], counted[:, :, 1]], axis=1)
        return Counts(table.sum(axis=1), table)

    def reader(self, counts: Counts) -> Reader:
        """Return tables from their coefficients."""
        most, gap = self.parameters.most_cells, self.gap
        plus, minus = counts.table[:, :most], counts.table[:, most:]

        def read(attributes: Subset) -> Reading:
            pooled = [self.pools.constant(t, counts.reports, attributes) for t in (plus, minus)]
            up, down = (np.sum([p.observed for p in pool], axis=0).reshape(-1) for pool in pooled)
            reports = (up + down).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                # E[sign] = gap theta, Var(sign) = 1 - mean^2 (docs/mathematics.md, section 5).
                # The clip holds |theta| to at most 1, so that few reports do not look certain.
                mean = (up - down) / reports
                theta, noise = mean / gap, (1 - np.clip(mean, -gap, gap) ** 2) / (reports * gap**2)
            # The empty coefficient is the total, which is known to be 1.
            theta[0], noise[0] = 1.0, 0.0
            undo = design([inverse(walsh_matrix(self.inner[i])) for i in attributes])
            return undo @ theta, (undo * noise) @ undo.T

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols, every = self.records(reports)["symbol"].astype(np.int64), self.every_profile()
        drawn, alpha = np.divmod(symbols // 2, self.parameters.most_cells)
        sign = 1 - 2 * (symbols % 2)
        result = np.empty((symbols.size, len(every)))
        for column, codes in enumerate(every):
            rows = np.broadcast_to(codes, (symbols.size, codes.size))
            result[:, column] = (1 + sign * self.gap * self._signs(drawn, alpha, rows)) / 2
        result /= (self.parameters.marginals * (self.pools.cells[drawn] - 1))[:, None]
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        As MargPS with the gap 2 keep - 1 and a share of k/(d (m - 1)) of the reports.

        Guarantees: given the people's values; exact where that share of the n reports is on the
        attribute.
        """
        share = self._share_of_first / (self.parameters.most_cells - 1)
        return sign_variance(self.gap, share, n, frequency)

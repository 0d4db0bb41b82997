"""MargPS for whole populations; the model stands in protocol/marg_ps.py."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
from deniable.mechanisms.cells import moved, no_counts
from deniable.mechanisms.closed_form import Pure, checked
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import Reader, Reading
from deniable.mechanisms.profile_pools import Pools
from deniable.mechanisms.profile_symbols import count_symbols, krr_reading
from deniable.mechanisms.profile_tables import TableMechanism, weighted
from deniable.protocol import thresholds
from deniable.protocol.marg_ps import MargPSParameters

Keep = Callable[[int], int]
"""From a number of cells to the threshold of keeping one's own."""


class MargPS(TableMechanism):
    """k-RR over the cells of one drawn table of k attributes.

    Its counts have a row per table and a column per cell of the largest one.
    """

    parameters_type = MargPSParameters
    parameters: MargPSParameters

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the cell of each profile in a drawn table, after k-RR."""
        shape = self.parameters
        drawn = rng.integers(0, shape.marginals, size=len(codes))
        sent = drawn_cells(self.pools, shape.keep, drawn, codes, rng)
        reports["symbol"] = drawn * shape.most_cells + sent

    def zero(self) -> Counts:
        """Return the counts of no reports."""
        return no_counts(self.parameters.marginals, self.parameters.most_cells)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each cell of each table was reported.

        Cost: linear; a few megabytes and an integer per cell.

        Raises:
            InvalidReport: if a table or a cell does not exist.
        """
        symbols = self.records(reports)["symbol"]
        return counted_cells(symbols, self.pools, self.parameters.most_cells)

    def pure_over(self, cells: int) -> Pure:
        """Return the probabilities of k-RR over a number of cells."""
        return krr_over(self.parameters.keep(cells), cells)

    def reader(self, counts: Counts) -> Reader:
        """Return tables as the reports' tables, corrected."""

        def read(attributes: Subset) -> Reading:
            readings = []
            for pool in self.pools.summed(counts.table, counts.reports, attributes):
                pure, size = self.pure_over(pool.cells), pool.observed.size
                observed = pool.observed.reshape(-1).astype(np.float64)
                reading = krr_reading(observed, pure.q, pure.gap, pool.cells // size)
                # A pool's variance falls as 1/(N gap^2): the weights are nearly inverse variances.
                readings.append((reading, pool.reports * pure.gap**2))
            return weighted(readings, int(np.prod([self.inner[i] for i in attributes])))

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols = self.records(reports)["symbol"].astype(np.int64)
        drawn, cells = np.divmod(symbols, self.parameters.most_cells)
        result = cell_likelihood(
            self.pools, self.parameters.keep, drawn, cells, self.every_profile()
        )
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of a level of a yes/no attribute.

        Among yes/no attributes: (1 - (gap theta)^2)/(4 n gap^2 k/d) - f (1 - f)/n,
        theta = 1 - 2 f.

        Guarantees: given the people's values, and exact for n k/d reports on the attribute.
        """
        gap = self.pure_over(self.parameters.most_cells).gap
        return shared_variance(gap, self._share_of_first, n, frequency)


def krr_over(keep: int, cells: int) -> Pure:
    """Return the probabilities of k-RR over a number of cells, from its threshold."""
    kept = thresholds.as_fraction(keep)
    return Pure.of(kept, (1 - kept) / Fraction(cells - 1))


def counted_cells(symbols: Reports, pools: Pools, most: int) -> Counts:
    """Return how often each cell of each view was reported.

    Raises:
        InvalidReport: if a view or a cell does not exist.
    """
    table = count_symbols(symbols, len(pools.views) * most).reshape(-1, most)
    if np.any(table[np.arange(most) >= pools.cells[:, None]]):
        raise InvalidReport("record", "The cell must be one of the drawn table's.")
    return Counts(table.sum(axis=1), table)


def drawn_cells(pools: Pools, keep: Keep, drawn: Codes, codes: Codes, rng: Generator) -> Codes:
    """Return the cells that people report about the views that were drawn for them."""
    own = pools.cell_of(drawn, codes)
    sizes = pools.cells[drawn]
    for cells in np.unique(pools.cells).tolist():
        rows = np.flatnonzero(sizes == cells)
        own[rows] = moved(own[rows], cells, keep(cells), rng)
    return own


def cell_likelihood(pools: Pools, keep: Keep, drawn: Codes, cells: Codes, every: Codes) -> Floats:
    """Return P(view and cell | profile), a row per report and a column per profile."""
    result = np.empty((drawn.size, len(every)))
    for size in np.unique(pools.cells).tolist():
        rows = np.flatnonzero(pools.cells[drawn] == size)
        pure = krr_over(keep(size), size)
        for column, codes in enumerate(every):
            own = pools.cell_of(drawn[rows], np.broadcast_to(codes, (rows.size, codes.size)))
            result[rows, column] = np.where(own == cells[rows], pure.p, pure.q)
    return np.asarray(result / len(pools.views))


def shared_variance(gap: float, share: float, n: int, frequency: float | Floats) -> Floats:
    """Return the variance of an estimated yes/no share f, given the people's values.

    Args:
        gap: keep - move of the reports on the attribute.
        share: the share of the n reports that are on the attribute.
        n: the number of reports.
        frequency: f.
    """
    n, f = checked(n, frequency)
    # A reported half has r = (1 + gap theta)/2, theta = 1 - 2 f up to its sign. So r (1 - r)/gap^2
    # is (1 - (gap theta)^2)/(4 gap^2), over n share reports; less the sampling of people.
    with_sampling = (1 - (gap * (1 - 2 * f)) ** 2) / (4 * share * gap**2)
    return np.asarray((with_sampling - f * (1 - f)) / n)

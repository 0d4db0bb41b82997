"""k-RR over tables of different sizes for whole populations; see protocol/profile_truth.py."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.random import Generator

from deniable.errors import InvalidReport
from deniable.mechanisms.base import Candidates, Codes, Counts, Floats, Records, Reports
from deniable.mechanisms.cells import moved, no_counts
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism
from deniable.mechanisms.profile_pools import Pools
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.thresholds import as_fraction


class TruthMechanism(ProfileMechanism):
    """A mechanism that reports the cell of one drawn table, after k-RR.

    Its counts have a row per table and a column per cell of the largest one.
    """

    parameters: TruthParameters

    @property
    @abstractmethod
    def pools(self) -> Pools:
        """The tables that are drawn from."""

    @property
    def _most(self) -> int:
        """The cells of the largest table."""
        return self.parameters.sizes[-1]

    def telling(self, counts: Counts, attributes: Subset) -> float:
        """Return the number of reports on tables that contain all of the attributes."""
        return self.pools.told(counts.reports, attributes)

    def pure_over(self, cells: int) -> Pure:
        """Return the probabilities of k-RR over a number of cells."""
        keep = as_fraction(self.parameters.keep(cells))
        return Pure.of(keep, (1 - keep) / (cells - 1))

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the cell of each profile in a drawn table, after k-RR."""
        drawn = rng.integers(0, self.parameters.tables, size=len(codes))
        own, sizes = self.pools.cell_of(drawn, codes), self.pools.cells[drawn]
        for cells in self.parameters.sizes:
            rows = np.flatnonzero(sizes == cells)
            own[rows] = moved(own[rows], cells, self.parameters.keep(cells), rng)
        reports["symbol"] = drawn * self._most + own

    def zero(self) -> Counts:
        """Return the counts of no reports."""
        return no_counts(self.parameters.tables, self._most)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each cell of each table was reported.

        Cost: linear; a few megabytes and an integer per cell.

        Raises:
            InvalidReport: if a table or a cell does not exist.
        """
        symbols = self.records(reports)["symbol"]
        counted = count_symbols(symbols, self.parameters.tables * self._most)
        table = counted.reshape(-1, self._most)
        if np.any(table[np.arange(self._most) >= self.pools.cells[:, None]]):
            raise InvalidReport("record", "The cell must be one of the drawn table's.")
        return Counts(table.sum(axis=1), table)

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols = self.records(reports)["symbol"].astype(np.int64)
        drawn, cells = np.divmod(symbols, self._most)
        every = self.every_profile()
        result = np.empty((drawn.size, len(every)))
        for size in self.parameters.sizes:
            rows = np.flatnonzero(self.pools.cells[drawn] == size)
            pure = self.pure_over(size)
            for column, codes in enumerate(every):
                whole = np.broadcast_to(codes, (rows.size, codes.size))
                own = self.pools.cell_of(drawn[rows], whole)
                result[rows, column] = np.where(own == cells[rows], pure.p, pure.q)
        result /= self.parameters.tables
        return np.log(result) if log else result

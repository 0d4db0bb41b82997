"""MargRR for whole populations; the model stands in protocol/profile_unary.py."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.mechanisms import bitmaps, unary
from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.cells import no_counts
from deniable.mechanisms.closed_form import checked
from deniable.mechanisms.inp_rr import bits_at_once, cell_sums, summed_variance
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import Reader, Reading
from deniable.mechanisms.profile_symbols import count_symbols
from deniable.mechanisms.profile_tables import TableMechanism, weighted
from deniable.protocol.marg_rr import MargRRParameters

_CHUNK = 2**17
_COHORTS = 2**16
"""Tables that the kernel tells apart at a time."""


class MargRR(TableMechanism):
    """One bit for each cell of one drawn table of k attributes.

    Its counts have a row per table and a column per cell of the largest one.
    """

    parameters_type = MargRRParameters
    adds_bits = True
    parameters: MargRRParameters

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write a bit for each cell of a drawn table: a bit operation per cell and 64 profiles."""
        # Imported here because Numba takes most of a second to load and few commands simulate.
        from deniable.kernels.simulate_bits import simulate_basic

        noise = (self.parameters.zero, self.parameters.one)
        drawn = rng.integers(0, self.parameters.marginals, size=len(codes))
        own = self.pools.cell_of(drawn, codes)
        sent = simulate_basic(own, self.parameters.most_cells, noise, rng)
        reports["marginal"] = drawn
        reports["bits"] = sent["bits"] & self._masks[drawn]

    @property
    def _at_once(self) -> int:
        return bits_at_once(self.parameters.most_cells)

    @cached_property
    def _masks(self) -> bitmaps.Packed:
        """The bits of each table's cells, packed as in a report."""
        most = self.parameters.most_cells
        sizes, kinds = np.unique(self.pools.cells, return_inverse=True)
        packed = np.packbits(np.arange(most) < sizes[:, None], axis=1, bitorder="little")
        return np.asarray(packed[kinds])

    def zero(self) -> Counts:
        """Return the counts of no reports."""
        return no_counts(self.parameters.marginals, self.parameters.most_cells)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each bit of each table was reported.

        Cost: linear in the bytes; the counts and a few megabytes.

        Raises:
            InvalidReport: if a table does not exist, or a bit beyond its cells is set.
        """
        records, counts = self.records(reports), self.zero()
        if records.size and int(records["marginal"].max()) >= self.parameters.marginals:
            raise InvalidReport("record", f"The marginal must be below {counts.reports.size}.")
        if self.dtype["bits"].itemsize == 1:
            self._count_bytes(records, counts)
        else:
            self._count_bits(records, counts)
        beyond = np.arange(counts.table.shape[1]) >= self.pools.cells[:, None]
        if np.any(counts.table[beyond]):
            raise InvalidReport("record", "The bits beyond the drawn table's cells must be zero.")
        return counts

    def _count_bytes(self, records: Reports, counts: Counts) -> None:
        """Add reports of one byte of bits: each of its 256 values is counted, then its bits."""
        most = self.parameters.most_cells
        values = self._byte_values(records, counts.reports.size)
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
        if most < 8 and np.any(values[:, 1 << most :]):
            raise InvalidReport("record", "The bits beyond the drawn table's cells must be zero.")
        counts.reports[:] += values.sum(axis=1)
        counts.table[:] += values @ bits[:, :most].astype(np.int64)

    def _byte_values(self, records: Reports, tables: int) -> NDArray[np.int64]:
        """Return how often each table was reported with each value of its byte."""
        if records.itemsize == 2:  # the table's number is a byte, too: both as one symbol
            symbols = np.ascontiguousarray(records).view("<u2")
            return count_symbols(symbols, 2**16).reshape(256, 256).T[:tables]
        seen = np.zeros(256 * tables, dtype=np.int64)
        step = max(_CHUNK, seen.size)
        for start in range(0, records.size, step):
            part = records[start : start + step]
            places = part["marginal"].astype(np.int64) * 256 + part["bits"][:, 0]
            seen += np.bincount(places, minlength=seen.size)
        return seen.reshape(-1, 256)

    def _count_bits(self, records: Reports, counts: Counts) -> None:
        """Add reports of any number of bits."""
        # Imported here because Numba takes most of a second to load and few commands count.
        from deniable.kernels.bit_counts import count_bits

        layout = [("cohort", "<u2"), ("bits", "u1", (self.dtype["bits"].itemsize,))]
        for first in range(0, counts.reports.size, _COHORTS):
            block = slice(first, min(first + _COHORTS, counts.reports.size))
            for start in range(0, records.size, _CHUNK):
                part = records[start : start + _CHUNK]
                part = part[(part["marginal"] >= block.start) & (part["marginal"] < block.stop)]
                copied = np.empty(part.size, dtype=layout)
                copied["cohort"], copied["bits"] = part["marginal"] - first, part["bits"]
                size = block.stop - block.start
                totals, table = count_bits(copied, size, self.parameters.most_cells)
                counts.reports[block] += totals
                counts.table[block] += table

    def reader(self, counts: Counts) -> Reader:
        """Return tables as sums of the cells' estimates."""

        def read(attributes: Subset) -> Reading:
            readings = []
            for pool in self.pools.summed(counts.table, counts.reports, attributes):
                if pool.reports == 0:
                    continue
                merged = pool.cells // pool.observed.size
                share = pool.observed.reshape(-1) / pool.reports
                reading = cell_sums(self.pure, share, merged, pool.reports)
                # A rare cell has variance merged q (1 - q)/(N gap^2): inverse variances weigh.
                readings.append((reading, pool.reports / merged))
            return weighted(readings, int(np.prod([self.inner[i] for i in attributes])))

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        records, every = self.records(reports), self.every_profile()
        most, drawn = self.parameters.most_cells, records["marginal"].astype(np.int64)
        ones = bitmaps.unpacked(records["bits"], most).astype(np.float64)
        result = np.empty((records.size, len(every)))
        for table in np.unique(drawn).tolist():
            rows, cells = np.flatnonzero(drawn == table), int(self.pools.cells[table])
            own = self.pools.cell_of(np.full(len(every), table), every)
            found = unary.log_likelihood(self.pure, ones[rows, :cells], np.eye(cells)[own])
            result[rows] = found - np.log(self.parameters.marginals)
        return result if log else np.exp(result)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        With N = n k/d reports on it and m/2 cells in each half of a table, the variance of their
        sum, and f (1 - f)(1/N - 1/n) because they are a sample of the people.

        Guarantees: given the people's values, and exact for N reports on the attribute.
        """
        share = self._share_of_first
        number, f = checked(n, frequency)
        # N = n share reports, a sample of the people: f (1 - f)(1/N - 1/n) beside the noise.
        noise = summed_variance(self.pure, self.parameters.most_cells // 2, number, f) / share
        return np.asarray(noise + f * (1 - f) * (1 / share - 1) / number)

"""InpPS for whole populations; the model stands in protocol/inp_ps.py.

k-RR over all cells moves a report to any cell alike, so that the reports' table of some attributes
is the true one times keep - move, plus a constant: no sum over estimated cells is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from deniable.mechanisms.base import (
    Candidates,
    Codes,
    Counts,
    Floats,
    Records,
    Reports,
)
from deniable.mechanisms.cells import moved, no_counts, one_row
from deniable.mechanisms.closed_form import checked
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, summed
from deniable.mechanisms.profile_symbols import count_symbols, krr_reading
from deniable.protocol.inp_ps import InpPSParameters


class InpPS(ProfileMechanism):
    """Preferential sampling over all cells of the profile."""

    parameters_type = InpPSParameters
    parameters: InpPSParameters

    def _send(self, codes: Codes, reports: Reports, rng: Generator) -> None:
        """Write the cell of each profile after k-RR."""
        shape = self.parameters
        reports["symbol"] = moved(self.packed(codes), shape.cells, shape.keep, rng)

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per cell."""
        return no_counts(1, self.parameters.cells)

    def accumulate(self, reports: Records) -> Counts:
        """Return how often each cell was reported.

        Cost: linear; a few megabytes and 2^D integers.

        Raises:
            InvalidReport: if a symbol is not one of the cells.
        """
        symbols = self.records(reports)["symbol"]
        table = count_symbols(symbols, self.parameters.cells)
        return one_row(symbols.size, table)

    def reader(self, counts: Counts) -> Reader:
        """Return tables as the reports' tables, corrected.

        Cost: O(2^D) per table.
        """
        pure, bits = self.pure, self.parameters.bits

        def read(attributes: Subset) -> Reading:
            observed = summed(counts.table[0], bits, attributes)
            merged = self.parameters.cells // observed.size
            return krr_reading(observed, pure.q, pure.gap, merged)

        return read

    def likelihood(
        self, reports: Records, candidates: Candidates = None, *, log: bool = False
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols = self.records(reports)["symbol"]
        own = self.packed(self.every_profile())
        result: Floats = np.where(symbols[:, None] == own, self.pure.p, self.pure.q)
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        With r = 2^(D-1) move + gap f the share of reports in that half of the cells,
        Var = r (1 - r)/(n gap^2) - f (1 - f)/n.

        Guarantees: exact, given the people's values.
        """
        n, f = checked(n, frequency)
        # A binomial of the reports in one half of the cells, less the sampling of people.
        share = self.parameters.cells // 2 * self.pure.q + self.pure.gap * f
        return np.asarray((share * (1 - share) / self.pure.gap**2 - f * (1 - f)) / n)

"""InpPS for whole populations; the model stands in protocol/inp_ps.py.

k-RR over all cells moves a report to any cell alike, so that the reports' table of some attributes
is the true one times keep - move, plus a constant: no sum over estimated cells is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.mechanisms.base import Candidate, Codes, Counts, Floats, Reports
from deniable.mechanisms.closed_form import Pure, checked
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism, Reader, Reading, summed
from deniable.mechanisms.profile_symbols import count_symbols, krr_reading, moved
from deniable.protocol import Parameters
from deniable.protocol.inp_ps import InpPSParameters


class InpPS(ProfileMechanism):
    """Preferential sampling over all cells of the profile."""

    parameters_type = InpPSParameters
    parameters: InpPSParameters
    pure: Pure

    def _adopt(self, parameters: Parameters) -> None:
        super()._adopt(parameters)
        self.pure = Pure.of(*self.parameters.support)

    def _send(self, codes: Codes, reports: Reports, rng: np.random.Generator) -> None:
        """Write the cell of each profile after k-RR."""
        shape = self.parameters
        reports["symbol"] = moved(self.packed(codes), shape.cells, shape.keep, rng)

    def zero(self) -> Counts:
        """Return the counts of no reports: one row, a column per cell."""
        cells = self.parameters.cells
        return Counts(np.zeros(1, dtype=np.int64), np.zeros((1, cells), dtype=np.int64))

    def accumulate(self, reports: Reports | bytes | memoryview) -> Counts:
        """Return how often each cell was reported.

        Cost: linear; a few megabytes and 2^D integers.

        Raises:
            InvalidReport: if a symbol is not one of the cells.
        """
        symbols = self.records(reports)["symbol"]
        table = count_symbols(symbols, self.parameters.cells)
        return Counts(np.array([symbols.size], dtype=np.int64), table[None, :])

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
        self,
        reports: Reports | bytes | memoryview,
        candidates: Sequence[Candidate] | None = None,
        *,
        log: bool = False,
    ) -> Floats:
        """Return P(report | profile), a column per profile of `every_profile`."""
        symbols = self.records(reports)["symbol"]
        own = self.packed(self.every_profile())
        result: Floats = np.where(symbols[:, None] == own, self.pure.p, self.pure.q)
        return np.log(result) if log else result

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of a level of a yes/no attribute.

        With r = 2^(D-1) move + gap f the share of reports in that half of the cells,
        Var = r (1 - r)/(n gap^2) - f (1 - f)/n.

        Guarantees: exact, given the people's values.
        """
        n, f = checked(n, frequency)
        # A binomial of the reports in one half of the cells, less the sampling of people.
        share = self.parameters.cells // 2 * self.pure.q + self.pure.gap * f
        return np.asarray((share * (1 - share) / self.pure.gap**2 - f * (1 - f)) / n)

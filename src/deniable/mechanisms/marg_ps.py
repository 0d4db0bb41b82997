"""MargPS for whole populations; the model stands in protocol/marg_ps.py."""

from __future__ import annotations

import numpy as np

from deniable.mechanisms.base import Counts, Floats
from deniable.mechanisms.closed_form import sign_variance
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import Reader, Reading
from deniable.mechanisms.profile_symbols import krr_reading
from deniable.mechanisms.profile_tables import TableMechanism, weighted
from deniable.mechanisms.profile_truth import TruthMechanism
from deniable.protocol.marg_ps import MargPSParameters


class MargPS(TableMechanism, TruthMechanism):
    """k-RR over the cells of one drawn table of k attributes."""

    parameters_type = MargPSParameters
    parameters: MargPSParameters

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

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute.

        Among yes/no attributes: (1 - (gap theta)^2)/(4 n gap^2 k/d) - f (1 - f)/n,
        theta = 1 - 2 f.

        Guarantees: given the people's values, and exact for n k/d reports on the attribute.
        """
        gap = self.pure_over(self.parameters.most_cells).gap
        return sign_variance(gap, self._share_of_first, n, frequency)

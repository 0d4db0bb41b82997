"""Marginal methods of [CKS18]: each report is about one drawn table of k attributes.

The table of k attributes is estimated from the reports that drew it; one of fewer attributes from
all drawn tables that contain it.
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

import numpy as np

from deniable.mechanisms.base import Counts, Floats
from deniable.mechanisms.moments import Subset
from deniable.mechanisms.profile_base import ProfileMechanism, Reading, unknown
from deniable.mechanisms.profile_pools import Pools
from deniable.protocol.profile_marginals import MarginalParameters


class TableMechanism(ProfileMechanism):
    """A mechanism that reports about one drawn table of `order` attributes."""

    parameters: MarginalParameters

    @cached_property
    def pools(self) -> Pools:
        """The C(d, k) tables, in lexicographic order, as the protocol numbers them."""
        tables = list(combinations(range(len(self.answers)), self.parameters.order))
        return Pools(tables, self.inner)

    @property
    def _share_of_first(self) -> float:
        """P(a given attribute is in the drawn table)."""
        return self.parameters.order / len(self.answers)

    def telling(self, counts: Counts, attributes: Subset) -> float:
        """Return the number of reports on tables that contain all of the attributes."""
        return self.pools.told(counts.reports, attributes)


def weighted(readings: list[tuple[Reading, float]], cells: int) -> Reading:
    """Return the mean of independent readings of one table, by given weights.

    Edge cases: readings of weight 0 are left out; without any other, all is NaN.
    """
    used = [(reading, weight) for reading, weight in readings if weight > 0]
    if not used:
        return unknown(cells)
    total = sum(weight for _, weight in used)
    mean: Floats = np.zeros(cells)
    covariance: Floats = np.zeros((cells, cells))
    for (found, spread), weight in used:
        # Independent readings: Var(sum a_i x_i) = sum a_i^2 Var x_i with a_i = weight / total.
        mean = mean + found * (weight / total)
        covariance = covariance + spread * (weight / total) ** 2
    return mean, covariance

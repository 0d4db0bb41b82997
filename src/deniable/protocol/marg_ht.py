"""MargHT: one Hadamard coefficient of one table of k attributes [CKS18, section 4.3].

Model: a table is drawn, then one of its m - 1 coefficients alpha = 1..m-1, m the number of its
cells, both uniformly; the sign (-1)^<alpha, j> of the profile's cell j in it is reported through a
coin.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from deniable.errors import InvalidReport
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_parameters import read_symbol, symbol_layout
from deniable.protocol.profile_sign import SignParameters


@frozen
class MargHTParameters(MarginalParameters, SignParameters):
    """The integers of MargHT: levels, order, and the threshold `keep` of the true sign."""

    mechanism: ClassVar[str] = "marg_ht"

    def _check_size(self) -> None:
        self._check_tables()

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 (marginal * (cells of the largest table) + alpha) + sign."""
        return symbol_layout(2 * self.marginals * self.most_cells)

    def check_record(self, record: bytes) -> None:
        """The table must be one of C(d, k), and alpha one of its coefficients but the constant."""
        count = 2 * self.marginals * self.most_cells
        symbol = read_symbol(self.layout, record, count)
        number, alpha = divmod(symbol // 2, self.most_cells)
        if not 0 < alpha < self.cells(number):
            raise InvalidReport("record", "The coefficient must be one of the marginal's.")

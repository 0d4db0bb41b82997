"""MargRR: one bit for each cell of one table of k attributes [CKS18, section 4.3]."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from deniable.errors import InvalidReport
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Item, Layout
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_parameters import symbol_item
from deniable.protocol.profile_unary import ParallelParameters, check_bits


@frozen
class MargRRParameters(MarginalParameters, ParallelParameters):
    """The integers of MargRR: levels, order, and the thresholds `one` and `zero` of the bits."""

    mechanism: ClassVar[str] = "marg_rr"

    def _check_size(self) -> None:
        self._check_tables()

    @cached_property
    def layout(self) -> Layout:
        """The table, in 1, 2 or 4 bytes; a bit per cell of the largest table."""
        packed = Item("bits", 1, (self.most_cells + 7) // 8)
        return Layout((symbol_item("marginal", self.marginals), packed))

    def check_record(self, record: bytes) -> None:
        """The table must be one of C(d, k), and no bit set beyond its cells."""
        values = self.layout.unpack(record)
        number = values["marginal"]
        if not (isinstance(number, int) and number < self.marginals):
            raise InvalidReport("record", f"The marginal must be below {self.marginals}.")
        check_bits(values["bits"], self.cells(number))

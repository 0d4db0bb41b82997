"""MargRR: one bit for each cell of one table of k attributes [CKS18, section 4.3]."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidReport
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number, packed
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_unary import ParallelParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Bits, Channel, Public


@frozen
class MargRRParameters(MarginalParameters, ParallelParameters):
    """The integers of MargRR: answers, order, and the thresholds `one` and `zero` of the bits."""

    mechanism: ClassVar[str] = "marg_rr"

    def _check_size(self) -> None:
        self._check_tables()

    @cached_property
    def layout(self) -> Layout:
        """The table, in 1, 2 or 4 bytes; a bit per cell of the largest table."""
        return Layout((number("marginal", self.marginals), packed("bits", self.most_cells)))

    def check_record(self, record: bytes) -> None:
        """The table must be one of C(d, k), and no bit set beyond its cells."""
        values = self.layout.check(record)
        cells = self.cells(int(values["marginal"]))
        if int.from_bytes(bytes(values["bits"]), "little") >> cells:
            raise InvalidReport("record", f"The bits from {cells} on must be zero.")

    @cached_property
    def channel(self) -> Channel:
        """A table for every report, then a bit per cell of it."""
        from deniable.protocol.channel import Channel

        examples = tuple((table,) for table in self._one_of_each_size)
        numbers = (self._about_tables(),)
        return Channel(numbers, self._rest, self._own, self.layout, examples=examples)

    def _rest(self, public: Public) -> Bits:
        return self._bits_of(self.cells(public[0]))

    def _own(self, answer: Answer, public: Public) -> int:
        return 1 << self.cell(public[0], answer.codes)

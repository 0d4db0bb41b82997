"""InpRR: one bit for each of the 2^D cells of the whole profile [CKS18, section 4.2]."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, packed
from deniable.protocol.profile_parameters import WHOLE, check_count, code_of
from deniable.protocol.profile_unary import ParallelParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MOST_CELLS = 2**16
"""8 KB for a report, and as many coins on the device."""


@frozen
class InpRRParameters(ParallelParameters):
    """The integers of InpRR: answers, order, and the thresholds `one` and `zero` of the bits."""

    mechanism: ClassVar[str] = "inp_rr"

    def _check_size(self) -> None:
        check_count("inp_rr", "bits", self.cells, MOST_CELLS, WHOLE)

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.answers)

    @cached_property
    def cells(self) -> int:
        """2^D, the number of cells."""
        return 1 << sum(self.bits)

    def cell(self, codes: tuple[int, ...]) -> int:
        """Return the cell of a profile."""
        return code_of(codes, self.bits)

    @cached_property
    def layout(self) -> Layout:
        """ceil(2^D / 8) bytes, bit i in byte i // 8 at weight 2^(i % 8)."""
        return Layout((packed("bits", self.cells),))

    @cached_property
    def channel(self) -> Channel:
        """A bit per cell."""
        from deniable.protocol.channel import Channel

        return Channel((), self._bits_of(self.cells), self._own, self.layout, direct=True)

    def _own(self, answer: Answer, public: Public) -> int:
        return 1 << self.cell(answer.codes)

"""InpPS: preferential sampling, k-RR over all 2^D cells of the profile [CKS18, section 4.2].

Model: the profile's cell is reported with probability keep = E/(E + 2^D - 1), epsilon = ln E, any
other with probability (1 - keep)/(2^D - 1).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.declared import threshold
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import KeepParameters
from deniable.protocol.profile_parameters import (
    WHOLE,
    ProfileParameters,
    check_count,
    code_of,
    symbol_layout,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MOST_CELLS = 2**20
"""The most cells. The collector counts each, and k-RR over that many says very little."""


@frozen
class InpPSParameters(ProfileParameters, KeepParameters):
    """The integers of InpPS.

    Attributes:
        answers, order: as of every profile.
        keep: threshold of reporting the profile's own cell.
    """

    keep: int = threshold()

    mechanism: ClassVar[str] = "inp_ps"

    def _check_size(self) -> None:
        check_count("inp_ps", "cells", self.cells, MOST_CELLS, WHOLE)

    @property
    def odds(self) -> int:
        """2^D - 1, the other cells."""
        return self.cells - 1

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
        """The cell, in 1, 2 or 4 bytes."""
        return symbol_layout(self.cells)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the report is the profile's own cell), and P(it is a given other one)."""
        return self.kept, (1 - self.kept) / self.odds

    @cached_property
    def channel(self) -> Channel:
        """A cell, through k-RR."""
        from deniable.protocol.channel import Channel, Symbol

        return Channel(
            (), Symbol(self.kept, self.cells), self._own, self.layout, digits=(), direct=True
        )

    def _own(self, answer: Answer, public: Public) -> int:
        return self.cell(answer.codes)

"""k-RR over tables of different sizes at one epsilon: thresholds from one coin.

Model: `truth` is the threshold of a coin that tells the truth, truth/(T - truth) = E the largest
ratio that may occur, T = 2^64. Over m cells k-RR then keeps the true one with the threshold

    keep(m) = floor( T truth / (truth + (m - 1)(T - truth)) ),

integers throughout, so that every language has the same. It is E/(E + m - 1) rounded down, and the
ratio of k-RR rises with it: no table exceeds E.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from deniable.errors import InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.declared import threshold
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.profile_parameters import ProfileParameters, symbol_layout
from deniable.protocol.thresholds import ONE
from deniable.protocol.truth_thresholds import check_truth, truth_ratio

if TYPE_CHECKING:
    from deniable.protocol.channel import Symbol


def keep_threshold(truth: int, cells: int) -> int:
    """Return the threshold of keeping the true one of `cells` cells."""
    # E/(E + m - 1) with E = truth/(T - truth), rounded down: no table's ratio exceeds E.
    return ONE * truth // (truth + (cells - 1) * (ONE - truth))


@frozen
class TruthParameters(ProfileParameters):
    """Parameters of k-RR over tables of different sizes.

    Attributes:
        answers, order: as of every profile.
        truth: threshold of a coin that tells the truth, from which those of the tables follow.
    """

    truth: int = threshold()

    @property
    @abstractmethod
    def tables(self) -> int:
        """The number of tables that a report can be about."""

    @abstractmethod
    def cells(self, number: int) -> int:
        """Return the number of cells of a table."""

    @abstractmethod
    def cell(self, number: int, codes: tuple[int, ...]) -> int:
        """Return the cell of a profile in a table."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The numbers of cells that tables have, rising."""

    def _check(self) -> None:
        super()._check()
        check_truth("truth", self.mechanism, self.truth, 1)
        for cells in self.sizes:
            check_truth("truth", self.mechanism, self.keep(cells), cells - 1)

    @cached_property
    def layout(self) -> Layout:
        """The symbol table * (cells of the largest table) + cell, in 1, 2 or 4 bytes."""
        return symbol_layout(self.tables * self.sizes[-1])

    def check_record(self, record: bytes) -> None:
        """The table must be one of them all, and the cell one of its cells."""
        super().check_record(record)
        number, cell = divmod(int.from_bytes(record, "little"), self.sizes[-1])
        if not cell < self.cells(number):
            raise InvalidReport("record", "The cell must be one of the table's.")

    def keep(self, cells: int) -> int:
        """Return the threshold of keeping the true one of `cells` cells."""
        return keep_threshold(self.truth, cells)

    @cached_property
    def epsilon_once(self) -> int:
        """The largest ln( keep(m) (m - 1)/(1 - keep(m)) ) of any table."""
        ratios = (truth_ratio(cells - 1, self.keep(cells)) for cells in self.sizes)
        return epsilon.epsilon_of(max(ratios))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the report is the profile's own cell), and a given other one, in the largest table."""
        cells = self.sizes[-1]
        keep = thresholds.as_fraction(self.keep(cells))
        return keep, (1 - keep) / (cells - 1)

    def _symbol_of(self, cells: int) -> Symbol:
        """Return k-RR over some cells."""
        from deniable.protocol.channel import Symbol

        return Symbol(thresholds.as_fraction(self.keep(cells)), cells)

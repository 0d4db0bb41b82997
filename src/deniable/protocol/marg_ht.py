"""MargHT: one Hadamard coefficient of one table of k attributes [CKS18, section 4.3].

Model: a table is drawn, then one of its m - 1 coefficients alpha = 1..m-1, m the number of its
cells, both uniformly; the sign (-1)^<alpha, j> of the profile's cell j in it is reported through a
coin.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.errors import InvalidReport
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.hadamard import sign_of
from deniable.protocol.layout import Layout
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_parameters import symbol_layout
from deniable.protocol.profile_sign import SignParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Blocks, Channel, Public


@frozen
class MargHTParameters(MarginalParameters, SignParameters):
    """The integers of MargHT: answers, order, and the threshold `keep` of the true sign."""

    mechanism: ClassVar[str] = "marg_ht"

    def _check_size(self) -> None:
        self._check_tables()

    @cached_property
    def layout(self) -> Layout:
        """The symbol 2 (marginal * (cells of the largest table) + alpha) + sign."""
        return symbol_layout(2 * self.marginals * self.most_cells)

    def check_record(self, record: bytes) -> None:
        """The table must be one of C(d, k), and alpha one of its coefficients but the constant."""
        super().check_record(record)
        number, alpha = divmod(int.from_bytes(record, "little") // 2, self.most_cells)
        if not 0 < alpha < self.cells(number):
            raise InvalidReport("record", "The coefficient must be one of the marginal's.")

    @cached_property
    def channel(self) -> Channel:
        """A table and one of its coefficients for every report, then the profile's sign in it."""
        from deniable.protocol.channel import Channel, Number

        law = self._coefficients((0,)) if len(self.sizes) == 1 else self._coefficients
        numbers = (self._about_tables(), Number("coefficient", law, permanent=False))
        digits = (self.most_cells, 2)
        return Channel(numbers, self._rest(), self._own, self.layout, digits)

    def _coefficients(self, public: Public) -> Blocks:
        # The constant coefficient 0 is never drawn.
        return (1, Fraction(0)), (self.cells(public[0]) - 1, Fraction(1))

    def _own(self, answer: Answer, public: Public) -> int:
        table, coefficient = public
        return 1 - 2 * sign_of(coefficient, self.cell(table, answer.codes))

"""MargPS: k-RR over the cells of one table of k attributes [CKS18, section 4.3]."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_truth import TruthParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public, Symbol


@frozen
class MargPSParameters(MarginalParameters, TruthParameters):
    """The integers of MargPS: answers, order, and the threshold `truth` of a coin."""

    mechanism: ClassVar[str] = "marg_ps"

    def _check_size(self) -> None:
        self._check_tables()

    @property
    def tables(self) -> int:
        """C(d, k)."""
        return self.marginals

    @cached_property
    def channel(self) -> Channel:
        """A table for every report, then k-RR over its cells."""
        from deniable.protocol.channel import Channel

        examples = tuple((table,) for table in self._one_of_each_size)
        digits = (self.most_cells,)
        about = (self._about_tables(),)
        return Channel(about, self._rest, self._own, self.layout, digits, examples)

    def _rest(self, public: Public) -> Symbol:
        return self._symbol_of(self.cells(public[0]))

    def _own(self, answer: Answer, public: Public) -> int:
        return self.cell(public[0], answer.codes)

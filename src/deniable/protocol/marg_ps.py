"""MargPS: k-RR over the cells of one table of k attributes [CKS18, section 4.3]."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Self

from deniable.errors import InvalidReport
from deniable.protocol import thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_parameters import (
    read_shape,
    read_symbol,
    symbol_layout,
    wanted_shape,
)
from deniable.protocol.profile_truth import TruthParameters
from deniable.protocol.truth_thresholds import truth_threshold


@frozen
class MargPSParameters(MarginalParameters, TruthParameters):
    """The integers of MargPS: levels, order, and the threshold `truth` of a coin."""

    mechanism: ClassVar[str] = "marg_ps"

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_tables()
        self._check_truth(self.sizes)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`."""
        levels, order, micros = wanted_shape("marg_ps", wanted, domain, absent)
        return cls(levels, order, truth_threshold(1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        return cls(*read_shape(cls, data), thresholds.from_text("truth", data["truth"]))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        return {**self._published_shape(), "truth": thresholds.to_text(self.truth)}

    @cached_property
    def layout(self) -> Layout:
        """The symbol marginal * (cells of the largest table) + cell, in 1, 2 or 4 bytes."""
        return symbol_layout(self.marginals * self.most_cells)

    def check_record(self, record: bytes) -> None:
        """The table must be one of C(d, k), and the cell one of its cells."""
        symbol = read_symbol(self.layout, record, self.marginals * self.most_cells)
        number, cell = divmod(symbol, self.most_cells)
        if not cell < self.cells(number):
            raise InvalidReport("record", "The cell must be one of the marginal's.")

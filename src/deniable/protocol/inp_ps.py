"""InpPS: preferential sampling, k-RR over all 2^D cells of the profile [CKS18, section 4.2].

Model: the profile's cell is reported with probability keep = E/(E + 2^D - 1), epsilon = ln E, any
other with probability (1 - keep)/(2^D - 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import (
    AUTHORED,
    WHOLE,
    ProfileParameters,
    check_count,
    code_of,
    read_shape,
    read_symbol,
    symbol_layout,
    wanted_shape,
)
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MOST_CELLS = 2**20
"""The most cells. The collector counts each, and k-RR over that many says very little."""


@frozen
class InpPSParameters(ProfileParameters):
    """The integers of InpPS.

    Attributes:
        levels, order: as of every profile.
        keep: threshold of reporting the profile's own cell.
    """

    levels: tuple[int, ...]
    order: int
    keep: int

    mechanism: ClassVar[str] = "inp_ps"
    authored: ClassVar[Mapping[str, Written]] = AUTHORED
    members_published: ClassVar[tuple[str, ...]] = ("keep",)

    def __post_init__(self) -> None:
        self._check_shape()
        check_count("inp_ps", "cells", self.cells, MOST_CELLS, WHOLE)
        _validate.integer("keep", "inp_ps", self.keep, 0, thresholds.ONE)
        check_truth("keep", "inp_ps", self.keep, self.cells - 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`."""
        levels, order, micros = wanted_shape("inp_ps", wanted, domain, absent)
        cells = 1 << sum((count - 1).bit_length() for count in levels)
        check_count("inp_ps", "cells", cells, MOST_CELLS, WHOLE)
        return cls(levels, order, truth_threshold(cells - 1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        return cls(*read_shape(cls, data), thresholds.from_text("keep", data["keep"]))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        return {**self._published_shape(), "keep": thresholds.to_text(self.keep)}

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.levels)

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

    def check_record(self, record: bytes) -> None:
        """The symbol must be one of the cells."""
        read_symbol(self.layout, record, self.cells)

    @property
    def epsilon_once(self) -> int:
        """ln( keep (2^D - 1)/(1 - keep) )."""
        return epsilon.epsilon_of(truth_ratio(self.cells - 1, self.keep))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the report is the profile's own cell), and P(it is a given other one)."""
        keep = thresholds.as_fraction(self.keep)
        return keep, (1 - keep) / (self.cells - 1)

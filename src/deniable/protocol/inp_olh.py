"""InpOLH: optimised local hashing of the whole profile [CKS18, appendix B.2; protocol/olh.py].

The profile itself is hashed, by its canonical bytes: no cell stands for a code that no level has.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout
from deniable.protocol.olh import MAX_SEEDS, MAX_SYMBOLS, OLHParameters, best_symbols
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import (
    AUTHORED,
    WHOLE,
    ProfileParameters,
    check_count,
    read_shape,
    symbol_item,
    wanted_shape,
)
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MOST_RECORDS = 2**20
"""To estimate a table, every possible profile is hashed with every seed."""
POOL = 65_536
"""The usual number of seeds: one per report would cost a hash per report and possible profile."""


@frozen
class InpOLHParameters(ProfileParameters):
    """The integers of InpOLH.

    Attributes:
        levels, order: as of every profile.
        symbols: g, 2 to 65,536.
        seeds: K, the size of the pool, 2 to 2^32.
        keep: threshold of reporting the profile's own symbol.
    """

    levels: tuple[int, ...]
    order: int
    symbols: int
    seeds: int
    keep: int

    mechanism: ClassVar[str] = "inp_olh"
    authored: ClassVar[Mapping[str, Written]] = {
        **AUTHORED,
        "g": OLHParameters.authored["g"],
        "seeds": OLHParameters.authored["seeds"],
    }
    members_published: ClassVar[tuple[str, ...]] = ("symbols", "seeds", "keep")

    def __post_init__(self) -> None:
        self._check_shape()
        check_count("inp_olh", "possible profiles", self.profiles, MOST_RECORDS, WHOLE)
        _validate.integer("symbols", "inp_olh", self.symbols, 2, MAX_SYMBOLS)
        _validate.integer("seeds", "inp_olh", self.seeds, 2, MAX_SEEDS)
        _validate.integer("keep", "inp_olh", self.keep, 0, thresholds.ONE)
        check_truth("keep", "inp_olh", self.keep, self.symbols - 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`, and `g` and `seeds` unless the best g is to be taken."""
        levels, order, micros = wanted_shape("inp_olh", wanted, domain, absent)
        given = wanted.get("g", best_symbols(micros))
        symbols = _validate.integer("g", "inp_olh", given, 2, MAX_SYMBOLS)
        seeds = _validate.integer("seeds", "inp_olh", wanted.get("seeds", POOL), 2, MAX_SEEDS)
        return cls(levels, order, symbols, seeds, truth_threshold(symbols - 1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        levels, order = read_shape(cls, data)
        symbols = _validate.integer("symbols", "inp_olh", data["symbols"], 2, MAX_SYMBOLS)
        seeds = _validate.integer("seeds", "inp_olh", data["seeds"], 2, MAX_SEEDS)
        return cls(levels, order, symbols, seeds, thresholds.from_text("keep", data["keep"]))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        keep = thresholds.to_text(self.keep)
        shape = self._published_shape()
        return {**shape, "symbols": self.symbols, "seeds": self.seeds, "keep": keep}

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.levels)

    @cached_property
    def layout(self) -> Layout:
        """Seed, then symbol, each in 1, 2 or 4 bytes."""
        return Layout((symbol_item("seed", self.seeds), symbol_item("symbol", self.symbols)))

    def check_record(self, record: bytes) -> None:
        """The seed must be one of the pool and the symbol below g."""
        values = self.layout.unpack(record)
        for name, bound in (("seed", self.seeds), ("symbol", self.symbols)):
            value = values[name]
            if not (isinstance(value, int) and value < bound):
                raise InvalidReport("record", f"The {name} must be below {bound}.")

    @property
    def epsilon_once(self) -> int:
        """ln( keep (g - 1)/(1 - keep) ): the seed does not depend on the profile."""
        return epsilon.epsilon_of(truth_ratio(self.symbols - 1, self.keep))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's profile), and P(it supports a given other one)."""
        return thresholds.as_fraction(self.keep), Fraction(1, self.symbols)

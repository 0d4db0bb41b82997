"""InpOLH: optimised local hashing of the whole profile [CKS18, appendix B.2; protocol/olh.py].

The profile itself is hashed, by its canonical bytes: no cell stands for a code that no level has.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import Answer
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number
from deniable.protocol.olh import MAX_SEEDS, MAX_SYMBOLS, symbol_of
from deniable.protocol.parameters import KeepParameters
from deniable.protocol.profile_parameters import (
    WHOLE,
    ProfileParameters,
    check_count,
)

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MOST_RECORDS = 2**20
"""To estimate a table, every possible profile is hashed with every seed."""


@frozen
class InpOLHParameters(ProfileParameters, KeepParameters):
    """The integers of InpOLH.

    Attributes:
        answers, order: as of every profile.
        symbols: g, 2 to 65,536.
        seeds: K, the size of the pool, 2 to 2^32.
        keep: threshold of reporting the profile's own symbol.
    """

    symbols: int = whole(2, MAX_SYMBOLS)
    seeds: int = whole(2, MAX_SEEDS)
    keep: int = threshold()

    mechanism: ClassVar[str] = "inp_olh"

    def _check_size(self) -> None:
        check_count("inp_olh", "possible profiles", self.profiles, MOST_RECORDS, WHOLE)

    @property
    def odds(self) -> int:
        """g - 1, the other symbols; the seed does not depend on the profile."""
        return self.symbols - 1

    @property
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.answers)

    @cached_property
    def layout(self) -> Layout:
        """Seed, then symbol, each in 1, 2 or 4 bytes."""
        return Layout((number("seed", self.seeds), number("symbol", self.symbols)))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's profile), and P(it supports a given other one)."""
        return self.kept, Fraction(1, self.symbols)

    @cached_property
    def channel(self) -> Channel:
        """A seed for every report, then k-RR of the symbol that it gives the profile."""
        from deniable.protocol.channel import Channel, Symbol, uniform

        return Channel(
            (uniform("seed", self.seeds),), Symbol(self.kept, self.symbols), self._own, self.layout
        )

    def _own(self, answer: Answer, public: Public) -> int:
        return symbol_of(answer.words, public[0], self.symbols)

"""InpOLH: optimised local hashing of the whole profile [CKS18, appendix B.2; protocol/olh.py].

The profile itself is hashed, by its canonical bytes: no cell stands for a code that no answer has.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from deniable.protocol.declared import threshold, whole
from deniable.protocol.frozen import frozen
from deniable.protocol.layout import Layout, number
from deniable.protocol.olh import MAX_SEEDS, MAX_SYMBOLS, SeededParameters
from deniable.protocol.profile_parameters import WHOLE, ProfileParameters, check_count

MOST_RECORDS = 2**20
"""To estimate a table, every possible profile is hashed with every seed."""


@frozen
class InpOLHParameters(ProfileParameters, SeededParameters):
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
    def collected(self) -> int:
        """Every table: reports are about whole profiles."""
        return len(self.answers)

    @cached_property
    def layout(self) -> Layout:
        """Seed, then symbol, each in 1, 2 or 4 bytes."""
        return Layout((number("seed", self.seeds), number("symbol", self.symbols)))

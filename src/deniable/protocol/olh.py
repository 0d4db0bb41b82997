"""Optimised local hashing: parameters, epsilon and wire record.

Model: a device draws a seed, uniformly from a pool of K, whose hash function maps every answer to
one of g symbols; its own symbol then passes k-RR over the g symbols,

    P(y | x) = keep if y = x else (1 - keep)/(g - 1),    keep = E/(E + g - 1), epsilon = ln E

and seed and symbol are sent. A report supports the answers that its seed maps to its symbol: its
sender's with probability keep, any other with probability 1/g over the seeds [WBLJ17].

A small pool makes estimation cheap (one look-up per seed and candidate, whatever the number of
reports), but its few functions are shared by everybody: two answers then collide a little more or
less often than 1/g, for good, which adds sum f^2/((g - 1) K) to the variance of a frequency.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from deniable.protocol.declared import threshold, whole
from deniable.protocol.domain import Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Layout, number
from deniable.protocol.parameters import KeepParameters

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel, Public

MAX_SYMBOLS = 65_536
MAX_SEEDS = 2**32
FIRST_INDEX = 1 << 40
"""The hash function of a seed has this number plus the seed; those of Bloom bits are below 2^32."""


class SeededParameters(KeepParameters):
    """Parameters of reports of a seed, and of the symbol that its hash function gives an answer."""

    symbols: int
    seeds: int

    @property
    def odds(self) -> int:
        """g - 1, the other symbols; the seed does not depend on the answer."""
        return self.symbols - 1

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return self.kept, Fraction(1, self.symbols)

    @cached_property
    def channel(self) -> Channel:
        """A seed for every report, then k-RR of the symbol that it gives the answer."""
        from deniable.protocol.channel import Channel, Symbol, uniform

        return Channel(
            (uniform("seed", self.seeds),), Symbol(self.kept, self.symbols), self._own, self.layout
        )

    def _own(self, answer: Answer, public: Public) -> int:
        return symbol_of(answer.words, public[0], self.symbols)


@frozen
class OLHParameters(SeededParameters):
    """The integers of optimised local hashing.

    Attributes:
        symbols: g, 2 to 65,536.
        seeds: K, the size of the pool, 2 to 2^32.
        keep: threshold of reporting the answer's own symbol.
    """

    symbols: int = whole(2, MAX_SYMBOLS)
    seeds: int = whole(2, MAX_SEEDS)
    keep: int = threshold()

    mechanism: ClassVar[str] = "olh"

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Any domain: every answer has canonical bytes to hash."""

    @cached_property
    def layout(self) -> Layout:
        """Seed, u32; symbol, u16."""
        return Layout((number("seed", self.seeds, 4), number("symbol", self.symbols, 2)))


def symbol_of(words: tuple[int, int], seed: int, symbols: int) -> int:
    """Return the symbol to which the hash function of a seed maps an answer."""
    return reduce_to(hash_word(words, FIRST_INDEX + seed), symbols)

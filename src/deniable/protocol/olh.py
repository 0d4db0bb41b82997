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

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.hashing import hash_word, reduce_to
from deniable.protocol.layout import Item, Layout
from deniable.protocol.parameters import Parameters, Written
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MAX_SYMBOLS = 65_536
MAX_SEEDS = 2**32
FIRST_INDEX = 1 << 40
"""The hash function of a seed has this number plus the seed; those of Bloom bits are below 2^32."""

_LAYOUT = Layout((Item("seed", 4), Item("symbol", 2)))
_PUBLISHED = {"symbols", "seeds", "keep"}


def _symbols(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MAX_SYMBOLS)


def _seeds(name: str, owner: str, value: object) -> int:
    return _validate.integer(name, owner, value, 2, MAX_SEEDS)


@frozen
class OLHParameters(Parameters):
    """The integers of optimised local hashing.

    Attributes:
        symbols: g, 2 to 65,536.
        seeds: K, the size of the pool, 2 to 2^32.
        keep: threshold of reporting the answer's own symbol.
    """

    symbols: int
    seeds: int
    keep: int

    mechanism: ClassVar[str] = "olh"
    authored: ClassVar[Mapping[str, Written]] = {
        "epsilon": Written(epsilon.wanted, "1.0"),
        "g": Written(_symbols, "4"),
        "seeds": Written(_seeds, "65536"),
    }

    def __post_init__(self) -> None:
        _symbols("symbols", "olh", self.symbols)
        _seeds("seeds", "olh", self.seeds)
        _validate.integer("keep", "olh", self.keep, 0, thresholds.ONE)
        check_truth("keep", "olh", self.keep, self.symbols - 1)

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, and `g` and `seeds` unless the best g and all seeds are to be taken."""
        if "epsilon" not in wanted:
            raise InvalidParameter("olh needs 'epsilon'.", "Add epsilon = 1.0.")
        micros = epsilon.wanted("epsilon", "olh", wanted["epsilon"])
        symbols = _symbols("g", "olh", wanted["g"]) if "g" in wanted else best_symbols(micros)
        seeds = _seeds("seeds", "olh", wanted.get("seeds", MAX_SEEDS))
        return cls(symbols, seeds, truth_threshold(symbols - 1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the three integers of survey.json."""
        if set(data) != _PUBLISHED:
            raise InvalidParameter("olh has symbols, seeds and keep.")
        return cls(
            _symbols("symbols", "olh", data["symbols"]),
            _seeds("seeds", "olh", data["seeds"]),
            thresholds.from_text("keep", data["keep"]),
        )

    def published(self) -> dict[str, Json]:
        """Return the three integers, the threshold as a string."""
        return {
            "symbols": self.symbols,
            "seeds": self.seeds,
            "keep": thresholds.to_text(self.keep),
        }

    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Any domain: every answer has canonical bytes to hash."""

    @property
    def layout(self) -> Layout:
        """Seed, u32; symbol, u16."""
        return _LAYOUT

    def check_record(self, record: bytes) -> None:
        """The seed must be one of the pool and the symbol below g."""
        values = self.layout.unpack(record)
        for name, bound in (("seed", self.seeds), ("symbol", self.symbols)):
            value = values[name]
            if not (isinstance(value, int) and value < bound):
                raise InvalidReport("record", f"The {name} must be below {bound}.")

    @property
    def memoised(self) -> bool:
        """There is no permanent stage."""
        return False

    @property
    def epsilon_once(self) -> int:
        """ln(keep (g - 1)/(1 - keep)): the seed does not depend on the answer."""
        return epsilon.epsilon_of(truth_ratio(self.symbols - 1, self.keep))

    @property
    def epsilon_forever(self) -> int | None:
        """Every report draws afresh: unbounded."""
        return None

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one)."""
        return thresholds.as_fraction(self.keep), Fraction(1, self.symbols)


def symbol_of(words: tuple[int, int], seed: int, symbols: int) -> int:
    """Return the symbol to which the hash function of a seed maps an answer."""
    return reduce_to(hash_word(words, FIRST_INDEX + seed), symbols)


def best_symbols(micros: int) -> int:
    """Return the g of the least variance of a rare answer: E + 1, rounded down or up.

    n Var = (E - 1 + g)^2 / ((E - 1)^2 (g - 1)); the part that depends on g is compared exactly.
    """
    e = epsilon.exp_micros(micros)
    near = sorted({min(MAX_SYMBOLS, max(2, int(e) + step)) for step in (1, 2)})
    return min(near, key=lambda g: (e - 1 + g) ** 2 / (g - 1))

"""The exact chance of a class of outcomes, as a function of a mechanism's parameters.

Each chance is a value that can be sent to another process, not a closure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from deniable.audit.reading import kept_chance, parts_of
from deniable.protocol import Parameters
from deniable.protocol.channel import Own, Public

Chance = Callable[[Parameters], float]
"""The exact chance of a class under parameters of the same mechanism."""


@dataclass(frozen=True)
class Coin:
    """P(one coin of a rest), by its name in the kind: `one`, `zero`, `keep`.

    Attributes:
        name: of the probability.
        part: the place in a product; 0 elsewhere.
        public: a public part with this rest.
        permanent: True for the coin of the permanent stage.
    """

    name: str
    part: int = 0
    public: Public = ()
    permanent: bool = False

    def __call__(self, parameters: Parameters) -> float:
        """Return the chance under some parameters."""
        rest = parts_of(parameters.channel.rest(self.public))[self.part]
        if self.permanent and rest.stages is not None:
            rest = rest.stages[0]
        chance: Fraction = getattr(rest, self.name)
        return float(chance)


@dataclass(frozen=True)
class Kept:
    """P(a report supports an own symbol, sign, place or point), given its public part."""

    own: Own
    part: int
    public: Public

    def __call__(self, parameters: Parameters) -> float:
        """Return the chance under some parameters."""
        return kept_chance(parts_of(parameters.channel.rest(self.public))[self.part], self.own)


@dataclass(frozen=True)
class Block:
    """P(a public number is in a block of its law), given that it is in no block before `after`.

    Attributes:
        place: of the number in the public part.
        block: its place in the law.
        after: the first block that is possible; 0 for the chance whatever the others are.
    """

    place: int
    block: int
    after: int

    def __call__(self, parameters: Parameters) -> float:
        """Return the chance under some parameters."""
        blocks = parameters.channel.numbers[self.place].given(())
        left = sum(chance for _, chance in blocks[self.after :])
        return float(blocks[self.block][1] / left)

"""The exact chance of a class of outcomes, as a function of a mechanism's parameters.

Each chance is a value that can be sent to another process, not a closure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable.audit.profile_reading import kept_chance
from deniable.protocol import Answer
from deniable.protocol.thresholds import as_fraction

Chance = Callable[[Any], float]
"""The exact chance of a class under parameters of the same mechanism."""


@dataclass(frozen=True)
class Support:
    """P(an answer's own symbol, sign, set or bit), or P(one that is not its own)."""

    place: int = 0

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        return float(parameters.support[self.place])


@dataclass(frozen=True)
class Bit:
    """P(a reported bit is 1): `q_star` or `p_star`, of a part of the report where it has parts."""

    name: str
    part: str = ""

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        part = getattr(parameters, self.part) if self.part else parameters
        return float(getattr(part, self.name))


@dataclass(frozen=True)
class Kept:
    """P(the profile's own cell, symbol or sign), given the public part of the report."""

    answer: Answer
    public: tuple[int, ...]

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        return float(kept_chance(parameters, self.answer, self.public))


@dataclass(frozen=True)
class Order:
    """P(a coefficient of an order), given that none of a lower order was drawn."""

    order: int

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        return float(as_fraction(parameters.orders[self.order]))


@dataclass(frozen=True)
class Group:
    """P(a group of `prefixes`), by its weight."""

    group: int

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        return float(parameters.weights[self.group] / parameters.total_weight)


@dataclass(frozen=True)
class Threshold:
    """P(a coin of one threshold), by its name."""

    name: str

    def __call__(self, parameters: Any) -> float:
        """Return the chance under some parameters."""
        return float(as_fraction(getattr(parameters, self.name)))

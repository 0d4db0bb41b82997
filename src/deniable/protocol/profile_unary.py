"""Parallel randomised response of the cells of a table: one bit each, two probabilities.

Model: the bit of the profile's own cell is 1 with probability `one`, any other with probability
`zero`. Symmetric: one = sqrt(E)/(sqrt(E) + 1) and zero = 1 - one, half of epsilon = ln E for each
of the two bits in which two profiles differ [CKS18, section 3.1]. Asymmetric: one = 1/2 and zero =
1/(E + 1), whose variance of a rare cell is less.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import Written
from deniable.protocol.profile_parameters import (
    AUTHORED,
    ProfileParameters,
    read_shape,
    wanted_shape,
)
from deniable.protocol.truth_thresholds import truth_threshold
from deniable.protocol.unary import worst_ratio


def check_flag(name: str, owner: str, value: object) -> bool:
    """Return a value that is true or false, else raise InvalidParameter."""
    if not isinstance(value, bool):
        raise _validate.invalid(name, owner, "true or false", value)
    return value


@frozen
class ParallelParameters(ProfileParameters):
    """Parameters of one bit per cell.

    Attributes:
        levels, order: as of every profile.
        one: threshold of reporting 1 for the profile's own cell.
        zero: threshold of reporting 1 for any other cell.
    """

    levels: tuple[int, ...]
    order: int
    one: int
    zero: int

    authored: ClassVar[Mapping[str, Written]] = {
        **AUTHORED,
        "asymmetric": Written(check_flag, "true"),
    }
    members_published: ClassVar[tuple[str, ...]] = ("one", "zero")

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_size()
        for name in self.members_published:
            _validate.integer(name, self.mechanism, getattr(self, name), 0, thresholds.ONE)
        if not self.one > self.zero:
            raise InvalidParameter(
                f"{self.mechanism} needs one > zero: otherwise a report says nothing.",
                "Raise 'epsilon'.",
            )
        if not (self.zero > 0 and self.one < thresholds.ONE):
            raise InvalidParameter(
                f"{self.mechanism} would sometimes reveal the answer for certain.",
                "Use a smaller 'epsilon'.",
            )

    def _check_size(self) -> None:
        """Raise InvalidParameter if the profile is too large for this mechanism."""

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon`, `order` and whether the two probabilities are `asymmetric`."""
        levels, order, micros = wanted_shape(cls.mechanism, wanted, domain, absent)
        if check_flag("asymmetric", cls.mechanism, wanted.get("asymmetric", False)):
            # With one = 1/2 the largest ratio is (1 - zero)/zero.
            zero = thresholds.ONE - truth_threshold(1, micros)
            return cls(levels, order, thresholds.ONE // 2, zero)
        if micros < 2:
            raise _validate.invalid("epsilon", cls.mechanism, "at least 0.000002", micros / 1e6)
        one = truth_threshold(1, micros // 2)
        return cls(levels, order, one, thresholds.ONE - one)

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        stages = (thresholds.from_text(name, data[name]) for name in cls.members_published)
        return cls(*read_shape(cls, data), *stages)

    def published(self) -> dict[str, Json]:
        """Return the integers, thresholds as strings."""
        stages = {n: thresholds.to_text(getattr(self, n)) for n in self.members_published}
        return {**self._published_shape(), **stages}

    @cached_property
    def epsilon_once(self) -> int:
        """ln( one/zero (1 - zero)/(1 - one) ): two profiles differ in two bits."""
        return epsilon.epsilon_of(worst_ratio(*self.support, 1, 1))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """one and zero."""
        return thresholds.as_fraction(self.one), thresholds.as_fraction(self.zero)


def check_bits(packed: object, count: int) -> None:
    """Raise InvalidReport if a bit beyond the first `count` of packed bytes is set."""
    if isinstance(packed, bytes) and int.from_bytes(packed, "little") >> count:
        raise InvalidReport("record", f"The bits from {count} on must be zero.")

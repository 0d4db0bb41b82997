"""Parameters of the mechanisms of profiles that report one sign: the coin that keeps it.

Model: which function of the profile is reported is drawn independently of the profile; its value
+-1 is kept with probability `keep` = E/(E + 1), epsilon = ln E, and flipped otherwise. So a report
says nothing but the coin, and the largest ratio is keep/(1 - keep).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Self

from deniable import _validate
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
from deniable.protocol.truth_thresholds import check_truth, truth_ratio, truth_threshold

MOST_COEFFICIENTS = 2**21
"""The most coefficients of a question: each is a count, and an estimate, on the other side."""


@frozen
class SignParameters(ProfileParameters):
    """Parameters whose only probability is that of the true sign.

    Attributes:
        levels, order: as of every profile.
        keep: threshold of reporting the true sign.
    """

    levels: tuple[int, ...]
    order: int
    keep: int

    authored: ClassVar[Mapping[str, Written]] = AUTHORED
    members_published: ClassVar[tuple[str, ...]] = ("keep",)

    def __post_init__(self) -> None:
        self._check_shape()
        self._check_size()
        _validate.integer("keep", self.mechanism, self.keep, 0, thresholds.ONE)
        check_truth("keep", self.mechanism, self.keep, 1)

    def _check_size(self) -> None:
        """Raise InvalidParameter if the profile is too large for this mechanism."""

    @classmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Read `epsilon` and `order`."""
        levels, order, micros = wanted_shape(cls.mechanism, wanted, domain, absent)
        return cls(levels, order, truth_threshold(1, micros))

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the integers of survey.json."""
        return cls(*read_shape(cls, data), thresholds.from_text("keep", data["keep"]))

    def published(self) -> dict[str, Json]:
        """Return the integers, the threshold as a string."""
        return {**self._published_shape(), "keep": thresholds.to_text(self.keep)}

    @property
    def epsilon_once(self) -> int:
        """ln(keep / (1 - keep))."""
        return epsilon.epsilon_of(truth_ratio(1, self.keep))

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(the sign is the profile's), and P(it is that of an unrelated one)."""
        return thresholds.as_fraction(self.keep), Fraction(1, 2)

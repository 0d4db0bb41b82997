"""The interface of every mechanism's parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar, NamedTuple, Self

from deniable.protocol.canonical import Json
from deniable.protocol.domain import Domain
from deniable.protocol.layout import Layout


class Written(NamedTuple):
    """A parameter that people may write: its check, and an allowed example."""

    check: Callable[[str, str, object], object]
    example: str


class Parameters(ABC):
    """A mechanism's integers: all that a client, a collector and an analyst must agree on.

    Subclasses are frozen dataclasses, one per mechanism, in the file named after it.
    """

    mechanism: ClassVar[str]
    """The mechanism's name in a survey."""

    authored: ClassVar[Mapping[str, Written]]
    """The keys that people may write under `parameters` in a survey.toml.

    Each is checked alone first, so that several mistakes are all said at once.
    """

    @classmethod
    @abstractmethod
    def resolve(cls, wanted: Mapping[str, object], domain: Domain, absent: bool) -> Self:
        """Turn what people wrote (probabilities, or the wanted epsilon) into integers, once.

        Raises:
            InvalidParameter: naming the parameter, what is allowed, and what was found.
        """

    @classmethod
    @abstractmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the parameters of survey.json, refusing anything out of range."""

    @abstractmethod
    def published(self) -> dict[str, Json]:
        """Return the parameters as they stand in survey.json."""

    @abstractmethod
    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Raise InvalidParameter unless these parameters can carry the domain's answers."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The wire record."""

    @abstractmethod
    def check_record(self, record: bytes) -> None:
        """Raise InvalidReport unless a client with these parameters could have sent `record`."""

    @property
    @abstractmethod
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one).

        Of Bloom filters: P(a bit is reported that the answer sets), and one that it does not set.
        """

    @property
    @abstractmethod
    def memoised(self) -> bool:
        """True if a permanent response bounds the epsilon of any number of reports."""

    @property
    @abstractmethod
    def epsilon_once(self) -> int:
        """The epsilon of one report, in micros, rounded up."""

    @property
    @abstractmethod
    def epsilon_forever(self) -> int | None:
        """The epsilon of all reports ever made of one value, in micros; None if it is unbounded."""


def answers_of(domain: Domain, absent: bool) -> int | None:
    """Return the number of answers with the absent one where there is one; None for strings."""
    return None if domain.size is None else domain.size + absent


def cohorts_of(parameters: Parameters) -> int:
    """Return the number of cohorts that a report tells apart; 1 for mechanisms without cohorts."""
    cohorts: int = getattr(parameters, "told_apart", getattr(parameters, "cohorts", 1))
    return cohorts


def told_by(parameters: Parameters) -> str:
    """Return the word for one of the classes that `cohorts_of` counts."""
    words: str = getattr(parameters, "told_by", "cohort")
    return words

"""The interface of every mechanism's parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from deniable.errors import InvalidParameter
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json
from deniable.protocol.declared import REQUIRED, Declared
from deniable.protocol.domain import Domain
from deniable.protocol.layout import Layout
from deniable.protocol.truth_thresholds import check_truth, truth_ratio

if TYPE_CHECKING:
    from deniable.protocol.channel import Channel


class Parameters(ABC):
    """A mechanism's integers: all that a client, a collector and an analyst must agree on.

    Subclasses are `@frozen`, one per mechanism, in the file named after it. Their members are
    declared (protocol/declared.py): reading, writing and ranges follow from that.
    """

    mechanism: ClassVar[str]
    """The mechanism's name in a survey."""

    @classmethod
    def members_declared(cls) -> dict[str, Declared]:
        """Return the declaration of each member, in order."""
        names: tuple[str, ...] = getattr(cls, "__match_args__", ())
        return {name: getattr(cls, name) for name in names}

    def __post_init__(self) -> None:
        for name, declared in self.members_declared().items():
            value = getattr(self, name)
            if value != declared.default:
                declared.check(name, self.mechanism, value)
        self._check()

    def _check(self) -> None:
        """Raise InvalidParameter unless the members, each in its range, fit together."""
        return

    @classmethod
    def from_published(cls, data: Mapping[str, object]) -> Self:
        """Read the parameters of survey.json, refusing anything out of range."""
        declared = cls.members_declared()
        required = {name for name, each in declared.items() if each.default is REQUIRED}
        if not required <= data.keys() <= declared.keys():
            raise InvalidParameter(f"{cls.mechanism} has {', '.join(sorted(required))}.")
        named = {n: declared[n].read(n, cls.mechanism, value) for n, value in data.items()}
        return cls(**named)

    def published(self) -> dict[str, Json]:
        """Return the parameters as they stand in survey.json."""
        declared = self.members_declared().items()
        values = ((name, each, getattr(self, name)) for name, each in declared)
        return {name: each.write(value) for name, each, value in values if value != each.default}

    @abstractmethod
    def check_domain(self, domain: Domain, absent: bool) -> None:
        """Raise InvalidParameter unless these parameters can carry the domain's answers."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The wire record."""

    def check_record(self, record: bytes) -> None:
        """Raise InvalidReport unless a client with these parameters could have sent `record`.

        The bounds of the layout's items are checked; a mechanism adds what more must hold.
        """
        self.layout.check(record)

    @property
    @abstractmethod
    def support(self) -> tuple[Fraction, Fraction]:
        """P(a report supports its sender's answer), and P(it supports a given other one).

        Of Bloom filters: P(a bit is reported that the answer sets), and one that it does not set.
        """

    @property
    def memoised(self) -> bool:
        """True if a permanent response bounds the epsilon of any number of reports."""
        return False

    @property
    @abstractmethod
    def epsilon_once(self) -> int:
        """The epsilon of one report, in micros, rounded up."""

    @property
    def epsilon_forever(self) -> int | None:
        """The epsilon of all reports ever made of one value, in micros; None if it is unbounded.

        It is unbounded where every report is drawn afresh.
        """
        return None

    @property
    @abstractmethod
    def channel(self) -> Channel:
        """The law of reports: the public part, the rest, and the rest that is an answer's own."""

    finds: ClassVar[bool] = False
    """True if a collector finds strings that nobody listed from the reports."""

    @property
    def per_member(self) -> bool:
        """True if an answer is a set whose members have a bit each."""
        return False


class KeepParameters(Parameters):
    """Parameters of one coin, fresh in every report: it tells the truth with the threshold `keep`.

    Model: a report lies on the true side with probability keep, and otherwise uniformly on the
    other side, which is `odds` times as large: epsilon = ln(odds keep / (1 - keep)).
    """

    keep: int

    @property
    @abstractmethod
    def odds(self) -> Fraction | int:
        """The size of the other side in units of the true one."""

    def _check(self) -> None:
        check_truth("keep", self.mechanism, self.keep, self.odds)

    @property
    def kept(self) -> Fraction:
        """P(a report tells the truth), exactly."""
        return thresholds.as_fraction(self.keep)

    @cached_property
    def epsilon_once(self) -> int:
        """ln(odds keep / (1 - keep)): nothing else in a report depends on the answer."""
        return epsilon.epsilon_of(truth_ratio(self.odds, self.keep))


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

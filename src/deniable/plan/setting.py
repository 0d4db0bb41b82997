"""What somebody plans to collect: how many people, which answers, at which epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol import Categories, Domain, Numbers
from deniable.protocol.auto import Choice, choice_of, choices
from deniable.protocol.domain import MAX_CATEGORIES
from deniable.protocol.parameters import answers_of
from deniable.protocol.registry import MECHANISMS

MOST_PEOPLE = 10**12
TYPICAL = 10_000
"""Strings that are tested for, where nobody says how many."""


@dataclass(frozen=True)
class Setting:
    """A collection before it begins.

    Attributes:
        people: how many people report, 1 to 10^12.
        epsilon: what one report may spend.
        domain: the possible answers.
        forever: epsilon of all reports of a value, for a permanent response; None without one.
        absent: whether there is an absent answer.
        listed: how many strings are tested for; 0 if that is not known.

    Raises:
        InvalidParameter: if the number of people or of candidates is out of range.
    """

    people: int
    epsilon: float
    domain: Domain
    forever: float | None = None
    absent: bool = False
    listed: int = 0

    def __post_init__(self) -> None:
        _validate.integer("people", "plan", self.people, 1, MOST_PEOPLE)
        _validate.integer("candidates", "plan", self.listed, 0, 10**9)

    @property
    def answers(self) -> int:
        """The number of answers of a closed domain, an absent one included; 0 for strings."""
        return answers_of(self.domain, self.absent) or 0

    @property
    def tests(self) -> int:
        """How many answers are tested for: all, the candidates, or typically many."""
        return self.answers or self.listed or TYPICAL

    @property
    def wanted(self) -> Mapping[str, object]:
        """The epsilons, as a survey would say them."""
        both: dict[str, object] = {"epsilon": self.epsilon}
        return both if self.forever is None else {**both, "epsilon_forever": self.forever}

    def choices(self) -> list[Choice]:
        """Return every suitable mechanism, in the order of `mechanism = "auto"`."""
        return choices(self.domain, self.absent, self.wanted, self.people, self.listed)

    def choice(self, name: str) -> Choice | None:
        """Return one mechanism; None if it has no form here."""
        return choice_of(name, self.domain, self.absent, self.wanted, self.people, self.listed)

    def with_people(self, people: int) -> Setting:
        """Return the same with another number of people."""
        return replace(self, people=people)

    def with_epsilon(self, epsilon: float) -> Setting:
        """Return the same with another epsilon of one report."""
        return replace(self, epsilon=epsilon)


def of_categories(count: int) -> Categories:
    """Return a domain of so many categories.

    Raises:
        InvalidParameter: unless there are 2 to 65,536.
    """
    count = _validate.integer("categories", "plan", count, 2, MAX_CATEGORIES)
    return Categories(tuple(_names(count)))


def of_bins(count: int) -> Numbers:
    """Return a domain of numbers in so many bins, and two more for what lies outside.

    Raises:
        InvalidParameter: unless there are 1 to 65,534 bins.
    """
    count = _validate.integer("numbers", "plan", count, 1, MAX_CATEGORIES - 2)
    return Numbers(tuple(str(edge) for edge in range(count + 1)))


def known_mechanism(name: str) -> str:
    """Return the name of a mechanism.

    Raises:
        InvalidParameter: if there is none of that name.
    """
    if name not in MECHANISMS:
        raise InvalidParameter(
            f"There is no mechanism '{name:.40}'. Use one of: {', '.join(MECHANISMS)}."
        )
    return name


def _names(count: int) -> Iterator[str]:
    return (str(code) for code in range(count))

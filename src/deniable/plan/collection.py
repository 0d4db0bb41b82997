"""The setting of a planned collection: people, domain of answers, and epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from deniable import _validate
from deniable.authoring import resolve
from deniable.authoring.auto import Choice, choice_of, choices
from deniable.authoring.mechanisms.profiles import DEFAULT_ORDER
from deniable.authoring.profile_noise import mean_answers
from deniable.errors import InvalidParameter
from deniable.mechanisms.chances import Of
from deniable.plan.costs import FOUND
from deniable.plan.profiles.choices import NOT_COMPARED, cells_tested, choices_of_profiles
from deniable.protocol import (
    Attribute,
    Boolean,
    Categories,
    Domain,
    Numbers,
    Profile,
    Sets,
    Strings,
)
from deniable.protocol.domain import MAX_CATEGORIES, MAX_LENGTH, is_alphabet
from deniable.protocol.parameters import answers_of
from deniable.protocol.profile_domain import MAX_ATTRIBUTES, MIN_ATTRIBUTES
from deniable.protocol.registry import MECHANISMS

FIND = ("prefixes", "ngrams")
"""Mechanisms that find strings which nobody listed."""
ALPHABET, LENGTH = "abcdefghijklmnopqrstuvwxyz", 20
"""The default alphabet and length of strings that nobody listed."""
MOST_PEOPLE = 10**12
TYPICAL = 10_000
"""The number of candidate strings that are tested for, where a setting names none."""


@dataclass(frozen=True)
class Setting:
    """A collection before it begins.

    Attributes:
        people: the number of people who report, 1 to 10^12.
        epsilon: of one report.
        domain: the possible answers.
        forever: epsilon of all reports of a value, for a permanent response; None without one.
        absent: True if there is an absent answer.
        listed: the number of candidate strings that are tested for; 0 if it is not known.
        order: of a profile, the number of attributes in each table that is wanted.
        of: what errors are of: people like those who report, or those who report alone.

    Raises:
        InvalidParameter: if the number of people or of candidates is out of range.

    Example:
        >>> Setting(people=50_000, epsilon=1.0, domain=of_categories(10)).people
        50000
    """

    people: int
    epsilon: float
    domain: Domain
    forever: float | None = None
    absent: bool = False
    listed: int = 0
    order: int = DEFAULT_ORDER
    of: Of = "population"

    def __post_init__(self) -> None:
        _validate.integer("people", "plan", self.people, 1, MOST_PEOPLE)
        _validate.integer("candidates", "plan", self.listed, 0, 10**9)

    @property
    def answers(self) -> int:
        """The number of answers of a closed domain, an absent one included; 0 for strings.

        A profile has the number of cells of a table, on (geometric) average.
        """
        if isinstance(self.domain, Profile):
            return round(mean_answers(self.domain.answers) ** self.order)
        return answers_of(self.domain, self.absent) or 0

    @property
    def tests(self) -> int:
        """The number M of tests in the family: all answers, the candidates, or 10,000 strings.

        A profile has all cells of all tables.
        """
        if isinstance(self.domain, Profile):
            return cells_tested(self.domain.answers, self.order)
        # Nobody tests whether somebody holds none of a set's names.
        none = 1 if isinstance(self.domain, Sets) else 0
        return self.answers - none or self.listed or TYPICAL

    @property
    def wanted(self) -> Mapping[str, object]:
        """The epsilons by their survey keys; for a profile also order and people."""
        both: dict[str, object] = {"epsilon": self.epsilon}
        if isinstance(self.domain, Profile):
            return {**both, "order": self.order, "people": self.people}
        return both if self.forever is None else {**both, "epsilon_forever": self.forever}

    def choices(self) -> list[Choice]:
        """Return every suitable mechanism, in the order of `mechanism = "auto"`.

        A profile has first the mechanisms that "auto" compares, then those of the papers. Strings
        over a declared alphabet also have the mechanisms that find strings, which come first where
        no candidates are listed.
        """
        if isinstance(self.domain, Profile):
            if self.forever is not None:
                raise InvalidParameter(
                    "Reports about profiles have no permanent response.", "Leave --forever out."
                )
            return choices_of_profiles(self.domain, self.wanted)
        found = choices(self.domain, self.absent, self.wanted, self.people, self.listed)
        finding = [choice for name in FIND if (choice := self._finding(name)) is not None]
        return [*found, *finding] if self.listed else [*finding, *found]

    def _finding(self, name: str) -> Choice | None:
        """Return a mechanism that finds strings; None where it has no form."""
        if not isinstance(self.domain, Strings) or not self.domain.alphabet or self.forever:
            return None
        # The levels of prefixes are planned for a number of people.
        more = {"people": self.people} if name == "prefixes" else {}
        try:
            parameters = resolve(name, {**self.wanted, **more}, self.domain, self.absent)
        except InvalidParameter:
            return None  # more groups than people, or too many possible n-grams
        return Choice(parameters, NOT_COMPARED, FOUND[name])

    def choice(self, name: str) -> Choice | None:
        """Return one mechanism; None if it has no form here."""
        if isinstance(self.domain, Profile):
            found = choices_of_profiles(self.domain, self.wanted, name)
            return next((choice for choice in found if choice.mechanism == name), None)
        if name in FIND:
            return self._finding(name)
        return choice_of(name, self.domain, self.absent, self.wanted, self.people, self.listed)

    def with_people(self, people: int) -> Setting:
        """Return the same with another number of people."""
        return replace(self, people=people)

    def with_epsilon(self, epsilon: float) -> Setting:
        """Return the same with another epsilon of one report."""
        return replace(self, epsilon=epsilon)


def of_categories(count: int) -> Categories:
    """Return a domain of `count` categories.

    Raises:
        InvalidParameter: unless there are 2 to 65,536.

    Example:
        >>> of_categories(4).size
        4
    """
    count = _validate.integer("categories", "plan", count, 2, MAX_CATEGORIES)
    return Categories(tuple(_names(count)))


def of_bins(count: int) -> Numbers:
    """Return a domain of numbers in `count` bins, and two more for numbers outside of them.

    Raises:
        InvalidParameter: unless there are 1 to 65,534 bins.
    """
    count = _validate.integer("numbers", "plan", count, 1, MAX_CATEGORIES - 2)
    return Numbers(tuple(str(edge) for edge in range(count + 1)))


def of_strings(alphabet: str = ALPHABET, length: int = LENGTH) -> Strings:
    """Return strings over an alphabet, in whatever order it is written, up to a length.

    Raises:
        InvalidParameter: unless there are 2 to 4,096 characters in NFC, and a length of 1 to 256.
    """
    letters = "".join(sorted(set(alphabet)))
    if not is_alphabet(letters):
        raise _validate.invalid("alphabet", "plan", "2 to 4,096 different characters", alphabet)
    return Strings(letters, _validate.integer("length", "plan", length, 1, MAX_LENGTH))


def of_attributes(count: int, answers: int = 2) -> Profile:
    """Return a profile of `count` attributes of `answers` answers each; two answers are yes and no.

    Raises:
        InvalidParameter: unless there are 2 to 32 attributes of 2 to 65,536 answers.
    """
    count = _validate.integer("attributes", "plan", count, MIN_ATTRIBUTES, MAX_ATTRIBUTES)
    answers = _validate.integer("answers", "plan", answers, 2, MAX_CATEGORIES)
    domain: Domain = Boolean() if answers == 2 else of_categories(answers)
    return Profile(tuple(Attribute(f"a{i}", domain) for i in range(1, count + 1)))


def known_mechanism(name: str) -> str:
    """Return the name of a mechanism after checking it.

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

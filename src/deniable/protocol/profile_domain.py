"""Many attributes of one person: the domain of a question whose report covers all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, NamedTuple

from deniable.errors import InvalidAnswer
from deniable.protocol.canonical import Json
from deniable.protocol.domain import Answer, Boolean, Categories, Domain, Numbers
from deniable.protocol.frozen import frozen

MIN_ATTRIBUTES = 2
MAX_ATTRIBUTES = 32
CLOSED_KINDS = (Boolean, Categories, Numbers)
"""The kinds of an attribute: domains whose answers can be listed, one answer each."""


UNKNOWN = "unknown"
"""The label of the answer for an attribute that a device does not know."""


@frozen
class Perhaps(Domain):
    """A closed domain with one more answer, the last: `unknown`, where a profile lacks it."""

    known: Domain
    kind: ClassVar[str] = "perhaps"

    @property
    def labels(self) -> tuple[str, ...]:
        """The answers in words, and `unknown`."""
        return (*self.known.labels, UNKNOWN)

    def code(self, value: object) -> int:
        """Return the index of a value that is known."""
        return self.known.code(value)

    def published(self) -> dict[str, Json]:
        """Return the known domain as it stands in survey.json; the attribute says the rest."""
        return self.known.published()


class Attribute(NamedTuple):
    """One attribute of a profile: its name, and its closed domain."""

    name: str
    domain: Domain


@frozen
class Profile(Domain):
    """Two to 32 attributes, each with a closed domain; an answer has a value for every one.

    A missing value is `unknown` where the attribute declares that, and refused elsewhere.

    Edge cases: its answers are too many to be listed, so that it has no `size` and no `labels`;
    `answers` says how many each attribute has. There is no absent answer.
    """

    attributes: tuple[Attribute, ...]
    kind: ClassVar[str] = "profile"

    @property
    def size(self) -> int | None:
        """Profiles are not listed."""
        return None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in the order of the survey."""
        return tuple(attribute.name for attribute in self.attributes)

    @cached_property
    def answers(self) -> tuple[int, ...]:
        """The number of answers of each attribute."""
        return tuple(attribute.domain.size or 0 for attribute in self.attributes)

    @property
    def cells(self) -> int:
        """The number of possible profiles."""
        return math.prod(self.answers)

    def answer(self, value: object) -> Answer:
        """Return the answer for a mapping from every attribute's name to its value."""
        if not isinstance(value, Mapping):
            raise InvalidAnswer("type", "The value must be a mapping from attribute names.")
        if not value.keys() <= set(self.names):
            raise InvalidAnswer(
                "unknown_field", "The value has an attribute that the question has not."
            )
        codes = tuple(_code(domain, value, name) for name, domain in self.attributes)
        return Answer(profile_key(codes), codes=codes)

    def published(self) -> dict[str, Json]:
        """Return the domain as it stands in survey.json."""
        listed: list[Json] = [
            {
                "name": name,
                "domain": domain.published(),
                **({"unknown": 1} if isinstance(domain, Perhaps) else {}),
            }
            for name, domain in self.attributes
        ]
        return {"type": self.kind, "attributes": listed}


def _code(domain: Domain, value: Mapping[str, object], name: str) -> int:
    """Return the code of an attribute; of a missing one that of `unknown`, where it is declared."""
    if name in value:
        return domain.code(value[name])
    if not isinstance(domain, Perhaps):
        raise InvalidAnswer("missing_field", "The value must have every attribute.")
    return len(domain.known.labels)


def profile_key(codes: tuple[int, ...]) -> bytes:
    """Return the canonical bytes of a profile of codes, in the order of the survey."""
    return b"r" + b"".join(code.to_bytes(4, "little") for code in codes)


def profile_answer(codes: tuple[int, ...]) -> Answer:
    """Return the answer whose attributes have these codes."""
    return Answer(profile_key(codes), codes=codes)

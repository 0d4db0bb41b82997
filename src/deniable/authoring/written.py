"""The keys that people may write for a mechanism, and the function that makes integers of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters

Check = Callable[[str, str, object], Any]
"""Returns a value, given the names of the parameter and its owner, or raises InvalidParameter."""


class Written(NamedTuple):
    """A parameter that people may write: its check, and an allowed example."""

    check: Check
    example: str


class Authoring(NamedTuple):
    """How a mechanism's integers are made of what people wrote.

    Attributes:
        keys: what may be written under `parameters` in a survey.toml. Each is checked alone first,
            so that several mistakes are all said at once.
        resolve: turns what was written (probabilities, or the wanted epsilon), the domain, and
            whether there is an absent answer, into integers. It raises InvalidParameter, naming the
            parameter, what is allowed and what was found.
    """

    keys: Mapping[str, Written]
    resolve: Callable[[Mapping[str, object], Domain, bool], Parameters]


def member(kind: type[Parameters], name: str) -> Check:
    """Return the check of a key that is a member of the published parameters, too."""
    return kind.members_declared()[name].read

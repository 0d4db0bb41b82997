"""From what people wrote to a mechanism's integers: the one door to every formula from epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, overload

from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.parameters import Parameters
from deniable.protocol.registry import part

P = TypeVar("P", bound=Parameters)


def authoring_of(name: str) -> Authoring:
    """Return how the integers of a mechanism are made, by the mechanism's name."""
    found: Authoring = part(name, "authoring")
    return found


@overload
def resolve(
    mechanism: type[P], wanted: Mapping[str, object], domain: Domain, absent: bool
) -> P: ...
@overload
def resolve(
    mechanism: str, wanted: Mapping[str, object], domain: Domain, absent: bool
) -> Parameters: ...
def resolve(
    mechanism: str | type[Parameters], wanted: Mapping[str, object], domain: Domain, absent: bool
) -> Parameters:
    """Return the integers that a survey publishes for what a person wrote.

    Args:
        mechanism: its name, or the class of its parameters.
        wanted: probabilities, or the wanted epsilon, by the mechanism's keys.
        domain: of the answers.
        absent: whether there is an absent answer.

    Raises:
        InvalidParameter: naming the parameter, what is allowed, and what was found.

    Example:
        >>> from deniable.authoring import resolve
        >>> from deniable.protocol import Boolean
        >>> resolve("krr", {"epsilon": 1.0}, Boolean(), absent=False).epsilon_once
        1000000
    """
    name = mechanism if isinstance(mechanism, str) else mechanism.mechanism
    return authoring_of(name).resolve(wanted, domain, absent)

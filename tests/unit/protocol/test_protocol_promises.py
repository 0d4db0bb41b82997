"""The epsilon of every mechanism comes from its integer thresholds, and from nothing else.

That it is the true one is proven by enumeration, in tests/exact and by `deniable audit exact`.
"""

from __future__ import annotations

import pytest

from deniable.authoring import resolve
from deniable.protocol import MECHANISMS, Boolean, Categories, Domain, Parameters, Strings
from deniable.protocol.profile_domain import Attribute, Profile
from deniable.protocol.registry import PROFILE_MECHANISMS

CLOSED = Categories(tuple("abcdef"))
RECORD = Profile(tuple(Attribute(name, Boolean()) for name in "abcd"))
FOUND = {
    "prefixes": {"epsilon": 1.0, "points": 100, "cohorts": 4},
    "ngrams": {"epsilon": 6.0, "k": 32, "m": 4},
}
STEP = 2**52


def parameters_of(name: str) -> Parameters:
    domain: Domain = CLOSED
    if name in PROFILE_MECHANISMS:
        domain = RECORD
    elif name in FOUND:
        domain = Strings("abcdefgh", 6)
    wanted: dict[str, object] = {**FOUND.get(name, {"epsilon": 1.0})}
    if name == "rappor":
        wanted["epsilon_forever"] = 2.0
    return resolve(name, wanted, domain, False)


def moved(value: object, by: int, name: str = "") -> object:
    """Return published parameters with every threshold moved, at any depth."""
    if isinstance(value, dict):
        return {key: moved(part, by, key) for key, part in value.items()}
    if isinstance(value, list):
        return [moved(part, by, name) for part in value]
    if isinstance(value, str) and value.isdigit() and STEP < int(value) < 2**64 - STEP:
        return str(int(value) + (-by if "zero" in name else by))
    return value


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_published_is_all_that_epsilon_needs(name: str) -> None:
    parameters = parameters_of(name)
    read = MECHANISMS[name].from_published(parameters.published())
    assert read == parameters
    assert (read.epsilon_once, read.epsilon_forever) == (
        parameters.epsilon_once,
        parameters.epsilon_forever,
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_another_threshold_is_another_epsilon(name: str) -> None:
    """More often the truth is more epsilon, less often less; of unset bits the other way round."""
    parameters = parameters_of(name)
    published = parameters.published()
    assert moved(published, 0) == published
    further, nearer = (
        MECHANISMS[name].from_published(moved(published, by)) for by in (STEP, -STEP)
    )
    assert nearer.epsilon_once < parameters.epsilon_once < further.epsilon_once

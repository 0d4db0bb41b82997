"""Profiles for the tests of their mechanisms."""

from __future__ import annotations

from functools import cache

from deniable.protocol import Attribute, Boolean, Categories, Domain, Profile


@cache
def attribute_of(answers: int) -> Domain:
    """Return a domain of so many answers."""
    return Boolean() if answers == 2 else Categories(tuple(f"c{code}" for code in range(answers)))


def profile_of(*answers: int) -> Profile:
    """Return a profile of attributes a0, a1, ... with so many answers."""
    return Profile(tuple(Attribute(f"a{i}", attribute_of(r)) for i, r in enumerate(answers)))

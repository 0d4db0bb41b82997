"""Records for the tests of their mechanisms."""

from __future__ import annotations

from functools import cache

from deniable.protocol import Attribute, Boolean, Categories, Domain, Profile


@cache
def attribute_of(levels: int) -> Domain:
    """Return a domain of so many answers."""
    return Boolean() if levels == 2 else Categories(tuple(f"c{code}" for code in range(levels)))


def profile_of(*levels: int) -> Profile:
    """Return a profile of attributes a0, a1, ... with so many levels."""
    return Profile(tuple(Attribute(f"a{i}", attribute_of(r)) for i, r in enumerate(levels)))

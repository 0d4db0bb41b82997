"""Records for the tests of their mechanisms."""

from __future__ import annotations

from functools import cache

from deniable.protocol import Attribute, Boolean, Categories, Domain, Record


@cache
def attribute_of(levels: int) -> Domain:
    """Return a domain of so many answers."""
    return Boolean() if levels == 2 else Categories(tuple(f"c{code}" for code in range(levels)))


def record_of(*levels: int) -> Record:
    """Return a record of attributes a0, a1, ... with so many levels."""
    return Record(tuple(Attribute(f"a{i}", attribute_of(r)) for i, r in enumerate(levels)))

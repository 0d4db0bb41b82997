"""Authoring: from the TOML that people write to the integers of a published survey.

Standard library only, and no part of any client: changing a line here breaks no client in the
field, since what is published holds integers and strings alone.

    survey.toml -> survey -> field, domain, profile -> mechanism, or auto's choice -> survey.json
    wanted epsilon -> mechanisms -> integers

Names are imported when they are first used. Public are the names of `__all__`; all other names of
its modules are internal and may change.
"""

from typing import TYPE_CHECKING

from deniable.protocol.lazy import look_up

if TYPE_CHECKING:
    from deniable.authoring.resolving import authoring_of, resolve
    from deniable.authoring.survey import Authored, read_authored
    from deniable.authoring.written import Authoring, Written, member

__all__ = [
    "Authored",
    "Authoring",
    "Written",
    "authoring_of",
    "member",
    "read_authored",
    "resolve",
]

_HOMES = {
    "Authored": "survey",
    "Authoring": "written",
    "Written": "written",
    "authoring_of": "resolving",
    "member": "written",
    "read_authored": "survey",
    "resolve": "resolving",
}
"""The module of each name."""


def __getattr__(name: str) -> object:
    """Import a name's module when the name is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deniable.authoring' has no attribute {name!r}")
    return look_up(f"{__name__}.{_HOMES[name]}", name)

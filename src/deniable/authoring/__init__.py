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
    from deniable.authoring.truth import truth_threshold
    from deniable.authoring.wanted import EPSILON, EPSILONS, closed_answers, wanted_epsilon
    from deniable.authoring.written import Authoring, Written, member

__all__ = [
    "EPSILON",
    "EPSILONS",
    "Authored",
    "Authoring",
    "Written",
    "authoring_of",
    "closed_answers",
    "member",
    "read_authored",
    "resolve",
    "truth_threshold",
    "wanted_epsilon",
]

_HOMES = {
    "EPSILON": "wanted",
    "EPSILONS": "wanted",
    "Authored": "survey",
    "Authoring": "written",
    "Written": "written",
    "authoring_of": "resolving",
    "closed_answers": "wanted",
    "member": "written",
    "read_authored": "survey",
    "resolve": "resolving",
    "truth_threshold": "truth",
    "wanted_epsilon": "wanted",
}
"""The module of each name."""


def __getattr__(name: str) -> object:
    """Import a name's module when the name is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'deniable.authoring' has no attribute {name!r}")
    return look_up(f"{__name__}.{_HOMES[name]}", name)

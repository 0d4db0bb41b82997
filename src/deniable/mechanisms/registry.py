"""The mechanisms that can be estimated: the populations' side of the one registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.members import Members
from deniable.mechanisms.profile_base import ProfileMechanism
from deniable.protocol import MECHANISMS as REGISTERED
from deniable.protocol import PROFILE_MECHANISMS as PROFILES
from deniable.protocol import Field, Parameters, Profile, Sets
from deniable.protocol.registry import part


class _Populations(Mapping[str, type[Mechanism]]):
    """The class for populations of each registered mechanism, by its name in a survey."""

    def __getitem__(self, name: str) -> type[Mechanism]:
        if name not in REGISTERED:
            raise KeyError(name)
        found: type[Mechanism] = part(name, "population")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(REGISTERED)

    def __len__(self) -> int:
        return len(REGISTERED)


class _Profiles(_Populations):
    """Those whose report covers many attributes: the nine of the paper, and ours."""

    def __getitem__(self, name: str) -> type[ProfileMechanism]:
        if name not in PROFILES:
            raise KeyError(name)
        found: type[ProfileMechanism] = part(name, "population")
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(PROFILES)

    def __len__(self) -> int:
        return len(PROFILES)


MECHANISMS = _Populations()
PROFILE_MECHANISMS = _Profiles()


def mechanism_for(parameters: Parameters) -> Mechanism:
    """Return the mechanism that runs with a survey's integers.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.

    Example:
        >>> from deniable.protocol import Boolean, KRRParameters
        >>> from deniable.authoring import resolve
        >>> mechanism_for(resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)).epsilon
        1.0
    """
    kind: type[Mechanism] = part(parameters.mechanism, "population")
    return kind.from_parameters(parameters)


def mechanism_of(field: Field, absent: bool) -> Mechanism:
    """Return the mechanism of a field: of its parameters, with sets and names of its domain.

    Raises:
        InvalidParameter: if no mechanism of that name is registered.
    """
    mechanism = mechanism_for(field.parameters)
    if isinstance(mechanism, ProfileMechanism) and isinstance(field.domain, Profile):
        return type(mechanism).of(field.parameters, field.domain)
    if isinstance(field.domain, Sets):
        return Members(mechanism, field.domain, absent)
    return mechanism

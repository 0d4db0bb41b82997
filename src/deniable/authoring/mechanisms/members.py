"""Sets that are reported a bit per member: the key `per`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.domain import Domain, Sets
from deniable.protocol.unary import MOST_MEMBERS


def members_of(owner: str, wanted: Mapping[str, object], domain: Domain) -> int:
    """Return the most members of a set if each gets a bit (`per = "bit"`), else 0.

    Raises:
        InvalidParameter: if `per` is something else, or the domain is no set of so few.
    """
    if "per" not in wanted:
        return 0
    check_per("per", owner, wanted["per"])
    if not isinstance(domain, Sets):
        raise InvalidParameter(
            f"The 'per' parameter of {owner} belongs to sets only.", "Remove it."
        )
    if domain.most > MOST_MEMBERS:
        raise InvalidParameter(
            f"A bit per member needs 'most' from 1 to {MOST_MEMBERS}. Got {domain.most}.",
            "Lower 'most', or leave 'per' out to sample one member.",
        )
    return domain.most


def check_per(name: str, owner: str, value: object) -> str:
    """Return "bit", the only value of `per`, else raise InvalidParameter."""
    if value != "bit":
        raise _validate.invalid(name, owner, "'bit', or left out", value)
    return "bit"

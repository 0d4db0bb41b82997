"""MargHT from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, sign
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.marg_ht import MargHTParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> MargHTParameters:
    """Read `epsilon` and `order`."""
    return MargHTParameters(*sign("marg_ht", wanted, domain, absent))


AUTHORING = Authoring(PROFILE_KEYS, resolve)

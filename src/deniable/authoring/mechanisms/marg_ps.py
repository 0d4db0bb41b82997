"""MargPS from what people wrote: one coin, from which the thresholds of tables follow."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, sign
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.marg_ps import MargPSParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> MargPSParameters:
    """Read `epsilon` and `order`."""
    return MargPSParameters(*sign("marg_ps", wanted, domain, absent))


AUTHORING = Authoring(PROFILE_KEYS, resolve)

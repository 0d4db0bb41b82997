"""InpHT from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, sign
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.inp_ht import InpHTParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpHTParameters:
    """Read `epsilon` and `order`."""
    return InpHTParameters(*sign("inp_ht", wanted, domain, absent))


AUTHORING = Authoring(PROFILE_KEYS, resolve)

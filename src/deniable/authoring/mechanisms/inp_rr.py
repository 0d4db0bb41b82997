"""InpRR from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PARALLEL_KEYS, parallel
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.inp_rr import InpRRParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> InpRRParameters:
    """Read `epsilon` and `order`."""
    return InpRRParameters(*parallel("inp_rr", wanted, domain, absent))


AUTHORING = Authoring(PARALLEL_KEYS, resolve)

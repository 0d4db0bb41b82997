"""MargRR from what people wrote."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PARALLEL_KEYS, parallel
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.marg_rr import MargRRParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> MargRRParameters:
    """Read `epsilon` and `order`."""
    return MargRRParameters(*parallel("marg_rr", wanted, domain, absent))


AUTHORING = Authoring(PARALLEL_KEYS, resolve)

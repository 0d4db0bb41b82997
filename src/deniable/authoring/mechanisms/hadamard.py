"""Hadamard response from what people wrote: `epsilon`."""

from __future__ import annotations

from collections.abc import Mapping

from deniable.authoring.truth import truth_threshold
from deniable.authoring.wanted import EPSILON, closed_answers, wanted_epsilon
from deniable.authoring.written import Authoring
from deniable.protocol.domain import Domain
from deniable.protocol.hadamard import HadamardParameters


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> HadamardParameters:
    """Read `epsilon`."""
    count = closed_answers("hadamard", domain, absent)
    micros = wanted_epsilon("hadamard", wanted)
    return HadamardParameters(count, truth_threshold(1, micros))


AUTHORING = Authoring(EPSILON, resolve)

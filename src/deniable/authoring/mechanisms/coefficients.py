"""Coefficients from what people wrote: `epsilon`, `order`, `basis`; the allocation follows."""

from __future__ import annotations

import math
from collections.abc import Mapping

from deniable.authoring.mechanisms.profiles import PROFILE_KEYS, wanted_shape
from deniable.authoring.truth import truth_threshold
from deniable.authoring.written import Authoring, Written, member
from deniable.protocol.coefficients import CoefficientsParameters, functions_of
from deniable.protocol.domain import Domain
from deniable.protocol.profile_selection import Selection
from deniable.protocol.thresholds import ONE

_basis = member(CoefficientsParameters, "basis")


def resolve(wanted: Mapping[str, object], domain: Domain, absent: bool) -> CoefficientsParameters:
    """Read `epsilon`, `order` and `basis`; the allocation follows."""
    answers, order, micros = wanted_shape("coefficients", wanted, domain, absent)
    basis = _basis("basis", "coefficients", wanted.get("basis", "walsh"))
    counts = Selection(functions_of(answers, basis)).counts(order)
    shares = best_orders(len(answers), counts)
    return CoefficientsParameters(answers, order, truth_threshold(1, micros), basis, shares)


def best_orders(attributes: int, counts: tuple[int, ...]) -> tuple[int, ...]:
    """Return the threshold of each order but the last, given that no lower one was drawn.

    Proportional to n_l sqrt(C(d - l, k - l)); integers throughout, with 32 binary digits of the
    root.
    """
    # A coefficient in m tables is drawn in proportion to sqrt(m) (docs/mathematics.md, section 5).
    order = len(counts)
    weights = [
        count * math.isqrt(math.comb(attributes - taken, order - taken) << 64)
        for taken, count in enumerate(counts, 1)
    ]
    return tuple(ONE * weight // sum(weights[taken:]) for taken, weight in enumerate(weights[:-1]))


KEYS: Mapping[str, Written] = {**PROFILE_KEYS, "basis": Written(_basis, '"walsh"')}
AUTHORING = Authoring(KEYS, resolve)

"""The collector's cost of a mechanism of profiles: numbers kept, and operations."""

from __future__ import annotations

import math

from deniable.protocol import (
    CoefficientsParameters,
    InpEMParameters,
    InpHTCMSParameters,
    InpHTParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_sign import SignParameters

COUNTED_BITS = 20
"""Longer reports of inp_em are kept, not counted."""


def profile_words(parameters: ProfileParameters, people: int) -> int:
    """Return the number of numbers in the counts.

    Edge cases: inp_em with more than 20 bits keeps every report.
    """
    if isinstance(parameters, InpRRParameters | InpPSParameters):
        return parameters.cells
    if isinstance(parameters, InpEMParameters):
        return 1 << parameters.width if parameters.width <= COUNTED_BITS else people
    if isinstance(parameters, InpHTParameters | CoefficientsParameters):
        return 2 * parameters.coefficients
    if isinstance(parameters, InpHTCMSParameters):
        return 2 * parameters.rows * parameters.width
    if isinstance(parameters, InpOLHParameters):
        return parameters.seeds * parameters.symbols
    if isinstance(parameters, ViewsParameters):
        return len(parameters.views) * parameters.most_cells
    if isinstance(parameters, MarginalParameters):
        signs = 2 if isinstance(parameters, SignParameters) else 1
        return signs * parameters.marginals * parameters.most_cells
    return people


def profile_operations(parameters: ProfileParameters, people: int) -> int:
    """Return the approximate number of steps of counting n reports and estimating all tables."""
    each = 1
    if isinstance(parameters, InpRRParameters):
        each = parameters.cells
    elif isinstance(parameters, MargRRParameters):
        each = parameters.most_cells
    elif isinstance(parameters, InpEMParameters):
        each = parameters.width
    hashed = 0
    if isinstance(parameters, InpOLHParameters):
        hashed = parameters.profiles * parameters.seeds
    elif isinstance(parameters, InpHTCMSParameters):
        hashed = parameters.profiles * parameters.rows
    cells = 1 << (parameters.order * sum(parameters.bits) // len(parameters.bits))
    tables = math.comb(len(parameters.levels), parameters.order) * cells
    return people * each + hashed + profile_words(parameters, people) + tables

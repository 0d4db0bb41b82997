"""The error of a cell of a table of k attributes, in closed form, for every mechanism of profiles.

Model: n Var of the raw share f of a cell, given the people's values. A table has c cells in the
mechanism's own codes; a share W of the reports is about it.

    k-RR over m cells    (s (1 - s))/(W gap^2) - f (1 - f),  s = (m/c) move + gap f
    a bit per cell       ((m/c) q (1 - q)/gap^2 + f (1 - p - q)/gap)/W + f (1 - f)(1/W - 1)
    signs                sum over the table's coefficients of 1/(g^2 w) / c^2 - f (1 - f)
    a coin per bit       ((keep^2 + (1 - keep)^2)/gap^2)^b / c - f^2 - f (1 - f)
    a hashed profile     as a bit per cell, plus the collisions of profiles in a bucket or a seed

with w the probability that a coefficient is drawn. In `coefficients` and `views` the moments of
fewer attributes come from all reports about them (`protocol/profile_noise.py`).

Accuracy: exact for yes/no attributes that are fair and independent. Where numbers of levels differ,
or are no powers of two, geometric means stand for them.
"""

from __future__ import annotations

import math

from deniable.authoring.auto_profile import profile_orders
from deniable.errors import InvalidParameter
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import (
    CoefficientsParameters,
    InpEMParameters,
    InpHTCMSParameters,
    InpHTParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.profile_noise import mean_levels
from deniable.protocol.thresholds import as_fraction


def cells_of_table(levels: tuple[int, ...], order: int) -> float:
    """Return the number of cells of a table of `order` attributes, as a geometric mean."""
    return mean_levels(levels) ** order


def cell_deviation(parameters: ProfileParameters, people: int, frequency: float) -> float:
    """Return the standard deviation of the raw share of a cell of a table of k attributes.

    Args:
        parameters: of the mechanism.
        people: the number of people who report.
        frequency: the cell's share.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism.
    """
    noise = _noise(parameters, people, frequency)
    return math.sqrt(max(noise, 0.0) / people)


def _noise(parameters: ProfileParameters, people: int, f: float) -> float:
    order, share = parameters.order, 1 / math.comb(len(parameters.levels), parameters.order)
    table = 2 ** (order * sum(parameters.bits) / len(parameters.bits))
    if isinstance(parameters, InpPSParameters):
        return _krr(Pure.of(*parameters.support), parameters.cells / table, 1.0, f)
    if isinstance(parameters, MargPSParameters):
        cells = parameters.sizes[len(parameters.sizes) // 2]
        keep = as_fraction(parameters.keep(cells))
        return _krr(Pure.of(keep, (1 - keep) / (cells - 1)), 1.0, share, f)
    if isinstance(parameters, InpRRParameters):
        return _bits(Pure.of(*parameters.support), parameters.cells / table, 1.0, f)
    if isinstance(parameters, MargRRParameters):
        return _bits(Pure.of(*parameters.support), 1.0, share, f)
    if isinstance(parameters, ViewsParameters | CoefficientsParameters):
        return sum(profile_orders(parameters)) - f * (1 - f)
    if isinstance(parameters, InpHTParameters):
        return _signs(parameters, table, 1 / parameters.coefficients) - f * (1 - f)
    if isinstance(parameters, MargHTParameters):
        return _signs(parameters, table, share / (table - 1)) - f * (1 - f)
    if isinstance(parameters, InpEMParameters):
        keep_bit = float(parameters.support[0])
        gap = float(2 * parameters.support[0] - 1)
        grown = ((keep_bit**2 + (1 - keep_bit) ** 2) / gap**2) ** math.log2(table)
        return float(grown) / table - f**2 - f * (1 - f)
    return _hashed(parameters, people, f)


def _krr(pure: Pure, merged: float, share: float, f: float) -> float:
    # A report falls into the cell with probability s, a yes or no of variance s (1 - s).
    seen = merged * pure.q + pure.gap * f
    return seen * (1 - seen) / (share * pure.gap**2) - f * (1 - f)


def _bits(pure: Pure, merged: float, share: float, f: float) -> float:
    # A pure oracle (docs/mathematics.md, section 2) with m/c bits per cell. Where a share W of
    # people report on the table, they are a sample, which adds f (1 - f) (1/W - 1).
    noise = merged * pure.q * (1 - pure.q) / pure.gap**2 + f * (1 - pure.p - pure.q) / pure.gap
    return noise / share + f * (1 - f) * (1 / share - 1)


def _signs(parameters: InpHTParameters | MargHTParameters, table: float, drawn: float) -> float:
    """Return the sum over a table's coefficients, each drawn with one probability."""
    # Each of the table's c - 1 coefficients has the weight 1/c (docs/mathematics.md, section 5) and
    # the variance 1/(g^2 w) of a sign reported by a share w of people.
    gap = float(2 * as_fraction(parameters.keep) - 1)
    return (table - 1) / (gap**2 * drawn) / table**2


def _hashed(parameters: ProfileParameters, people: int, f: float) -> float:
    """Return n Var where whole profiles are hashed, all profiles taken as equally frequent."""
    cells = cells_of_table(parameters.levels, parameters.order)
    merged = parameters.profiles / cells
    if isinstance(parameters, InpOLHParameters):
        places = (parameters.symbols - 1) * parameters.seeds
        return _bits(Pure.of(*parameters.support), merged, 1.0, f) + people / (cells * places)
    if isinstance(parameters, InpHTCMSParameters):
        pure, width = Pure.of(*parameters.support), parameters.width
        # Squares of a sum over profiles, over all hash functions: M + M (M - 1)/w.
        squares = merged + merged * (merged - 1) / width
        mean = (2 * pure.q - 1) * merged + 2 * pure.gap * f
        noise = (squares - mean**2) / (4 * pure.gap**2) - f * (1 - f)
        return noise + people / (cells * parameters.rows * width)
    raise InvalidParameter(f"There is no closed form of {parameters.mechanism} for profiles.")

"""The error of a cell of a table of k attributes, in closed form, for every mechanism of profiles.

Model: n Var of the raw share f of a cell, given the people's values. A table has c cells in the
mechanism's own codes; a share W of the reports is about it.

    k-RR over m cells    (s (1 - s))/(W gap^2) - f (1 - f),  s = (m/c) move + gap f
    a bit per cell       ((m/c) q (1 - q)/gap^2 + f (1 - p - q)/gap)/W + f (1 - f)(1/W - 1)
    signs                sum over the table's coefficients of 1/(g^2 w) / c^2 - f (1 - f)
    a coin per bit       ((keep^2 + (1 - keep)^2)/gap^2)^b / c - f^2 - f (1 - f)
    a hashed profile     as a bit per cell, plus the collisions of profiles in a bucket or a seed

with w the probability that a coefficient is drawn. In `coefficients` and `views` the moments of
fewer attributes come from all reports about them (`authoring/profile_noise.py`).

Accuracy: exact for yes/no attributes that are fair and independent. Where numbers of answers
differ, or are no powers of two, geometric means stand for them.
"""

from __future__ import annotations

import math

from deniable.authoring.auto_profile import profile_orders
from deniable.authoring.profile_noise import mean_answers
from deniable.mechanisms.closed_form import Pure
from deniable.protocol import CoefficientsParameters, ProfileParameters, ViewsParameters
from deniable.protocol.channel import Bits, Sign, Symbol, unknown_kind


def cells_of_table(answers: tuple[int, ...], order: int) -> float:
    """Return the number of cells of a table of `order` attributes, as a geometric mean."""
    return mean_answers(answers) ** order


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
    # Moments of fewer attributes come from all reports about them: the mathematics of these two.
    if isinstance(parameters, ViewsParameters | CoefficientsParameters):
        return sum(profile_orders(parameters)) - f * (1 - f)
    order, share = parameters.order, 1 / math.comb(len(parameters.answers), parameters.order)
    table = 2 ** (order * sum(parameters.bits) / len(parameters.bits))
    channel, pure = parameters.channel, Pure.of(*parameters.support)
    rests = sorted(channel.rests, key=lambda rest: rest.count)
    match rests[len(rests) // 2], channel.names:
        case Symbol() as rest, ():
            return _krr(pure, rest.size / table, 1.0, f)
        case Symbol() as rest, ("marginal",):
            return _krr(Pure.of(rest.keep, rest.move), 1.0, share, f)
        case Symbol() as rest, ("seed",):
            return _hashed_symbols(parameters, pure, (rest.size - 1) * channel.sizes[0], people, f)
        case Bits() as rest, () if rest.drawn:
            return _bits(pure, rest.width / table, 1.0, f)
        case Bits(), ():
            return _coins(pure, table, f)
        case Bits(), ("marginal",):
            return _bits(pure, 1.0, share, f)
        case Sign() as rest, ("coefficient",):
            return _signs(rest, table, 1 / channel.sizes[0]) - f * (1 - f)
        case Sign() as rest, ("marginal", "coefficient"):
            return _signs(rest, table, share / (table - 1)) - f * (1 - f)
        case Sign(), ("row", "coefficient"):
            rows, width = channel.sizes
            return _hashed_signs(parameters, pure, rows, width, people, f)
        case rest, names:
            raise unknown_kind(f"closed form given {names or 'nothing'}", rest)


def _coins(pure: Pure, table: float, f: float) -> float:
    # Each of b bits is kept by a coin of its own: their noise multiplies.
    keep, gap = pure.p, pure.gap
    grown = ((keep**2 + (1 - keep) ** 2) / gap**2) ** math.log2(table)
    return float(grown) / table - f**2 - f * (1 - f)


def _krr(pure: Pure, merged: float, share: float, f: float) -> float:
    # A report falls into the cell with probability s, a yes or no of variance s (1 - s).
    seen = merged * pure.q + pure.gap * f
    return seen * (1 - seen) / (share * pure.gap**2) - f * (1 - f)


def _bits(pure: Pure, merged: float, share: float, f: float) -> float:
    # A pure oracle (docs/mathematics.md, section 2) with m/c bits per cell. Where a share W of
    # people report on the table, they are a sample, which adds f (1 - f) (1/W - 1).
    noise = merged * pure.q * (1 - pure.q) / pure.gap**2 + f * (1 - pure.p - pure.q) / pure.gap
    return noise / share + f * (1 - f) * (1 / share - 1)


def _signs(rest: Sign, table: float, drawn: float) -> float:
    """Return the sum over a table's coefficients, each drawn with one probability."""
    # Each of the table's c - 1 coefficients has the weight 1/c (docs/mathematics.md, section 5) and
    # the variance 1/(g^2 w) of a sign reported by a share w of people.
    return (table - 1) / (float(rest.gap) ** 2 * drawn) / table**2


def _hashed_symbols(
    parameters: ProfileParameters, pure: Pure, places: int, people: int, f: float
) -> float:
    """Return n Var where whole profiles are hashed, all profiles taken as equally frequent."""
    cells = cells_of_table(parameters.answers, parameters.order)
    return _bits(pure, parameters.profiles / cells, 1.0, f) + people / (cells * places)


def _hashed_signs(
    parameters: ProfileParameters, pure: Pure, rows: int, width: int, people: int, f: float
) -> float:
    """Return the same of one sign of a sketch."""
    cells = cells_of_table(parameters.answers, parameters.order)
    merged = parameters.profiles / cells
    # Squares of a sum over profiles, over all hash functions: M + M (M - 1)/w.
    squares = merged + merged * (merged - 1) / width
    mean = (2 * pure.q - 1) * merged + 2 * pure.gap * f
    noise = (squares - mean**2) / (4 * pure.gap**2) - f * (1 - f)
    return noise + people / (cells * rows * width)

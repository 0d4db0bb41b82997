"""Leverage of one crafted report on a cell of a table of attributes (of one attribute: a level).

Model: a cell's share is a mean over the reports about the attributes, a share `about` of all
reports. In that mean a report counts for at most U and at least -D; an honest one counts for 0 to 1
on average. A liar also chooses the attributes that the report is about, so that one crafted report
counts for U/about honest people, or takes D/about away. The table has r cells (levels in binary
code are padded to the next power of two). Each holds M of the mechanism's own cells, or M profiles;
b is the number of bits of code:

    k-RR over m cells    U = 1/r + (1 - 1/r)/gap,  D = (1/gap - 1)/r          gap = 1 - m move
    a bit per cell       U = M (1 - q)/(p - q),    D = M q/(p - q)            all bits of the cell
    one sign             U = (1 + (r - 1)/g)/r,    D = ((r - 1)/g - 1)/r      g = 2 keep - 1
    a coin per bit       U = (keep/gap)^b,         D = (keep/gap)^(b - 1) (1 - keep)/gap
    a hashed profile     as a bit per cell; with local hashing no seed puts all M into one symbol

Where drawn tables have different sizes, tables of t cells have the weight c_t in the mean. A liar
who takes tables of s cells then has about = sum_t W_t c_t / c_s, with W_t the share of reports on
tables of t cells that contain the attributes. With one sign per report a share is a sum over the
table's r - 1 coefficients, and phi of `Leverage.shift` is concave: liars gain most by spreading
evenly over the coefficients.

Views and coefficients estimate the parts of a table of several attributes from different reports:
`leverage/tables.py` bounds their shift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb, prod

import numpy as np

from deniable._distributions import binomial_isf
from deniable.errors import InvalidParameter
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse
from deniable.mechanisms.moments import Subset
from deniable.privacy.leverage.worth import Leverage
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
from deniable.protocol.profile_marginals import MarginalParameters
from deniable.protocol.profile_sign import SignParameters
from deniable.protocol.thresholds import as_fraction

UNLIKELY = 1e-9
"""The probability that some seed of a pool gives liars more than the stated leverage."""


def profile_leverage(parameters: ProfileParameters) -> Leverage:
    """Return the largest leverage of a crafted report about any attribute."""
    every = [one for i in range(len(parameters.levels)) for one in ways(parameters, i)]
    return max(every, key=lambda one: one.most)


def profile_shift(parameters: ProfileParameters, attribute: int, attackers: float) -> float:
    """Return the largest shift of a level's share that a share of attackers can cause.

    Guarantees: a bound for unbiased shares, apart from chance in the number of honest reports
    about the attribute. With a pool of seeds it holds except with probability 1e-9 over the hash
    functions.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1.
    """
    return max(one.shift(attackers) for one in ways(parameters, attribute))


def ways(parameters: ProfileParameters, attribute: int) -> list[Leverage]:
    """Return the leverages on an attribute, one for each part that a crafted report can choose.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism.
    """
    if isinstance(parameters, ViewsParameters):
        return list(_drawn_cells(parameters, (attribute,)))
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        return list(_contrasts(parameters, attribute))
    if isinstance(parameters, CoefficientsParameters):
        return [_sign(1 << parameters.bits[attribute], sign_gap(parameters), _of_one(parameters))]
    return table_ways(parameters, (attribute,))


def table_ways(parameters: ProfileParameters, attributes: Subset) -> list[Leverage]:
    """Return the leverages on a cell of a table, one for each part a crafted report can choose.

    Args:
        parameters: of a mechanism that reports on a table as a whole: not views or coefficients.
        attributes: of the table, rising, at most as many as were collected together.

    Raises:
        InvalidParameter: if there is no closed form for the mechanism.
    """
    bits = sum(parameters.bits[i] for i in attributes)
    inner = 1 << bits
    if isinstance(parameters, InpPSParameters):
        return [_cells(inner, float(1 - parameters.cells * parameters.support[1]), 1.0)]
    if isinstance(parameters, MargPSParameters):
        return list(_drawn_cells(parameters, attributes))
    if isinstance(parameters, InpRRParameters):
        return [_merged(parameters, parameters.cells // inner, 1.0)]
    if isinstance(parameters, MargRRParameters):
        shares = {
            m: share / (m // inner) for m, share in tables_with(parameters, attributes).items()
        }
        total = sum(shares.values())
        return [_merged(parameters, m // inner, total * (m // inner)) for m in shares]
    if isinstance(parameters, InpEMParameters):
        keep, gap = float(parameters.support[0]), float(2 * parameters.support[0] - 1)
        rest = (keep / gap) ** (bits - 1)
        return [Leverage(rest * keep / gap, rest * (1 - keep) / gap)]
    if isinstance(parameters, InpHTCMSParameters | InpOLHParameters):
        cells = prod(parameters.levels[i] for i in attributes)
        return [hashed_leverage(parameters, parameters.profiles // cells)]
    if isinstance(parameters, InpHTParameters):
        return [_sign(inner, sign_gap(parameters), 1 / parameters.coefficients)]
    if isinstance(parameters, MargHTParameters):
        each = sum(share / (m - 1) for m, share in tables_with(parameters, attributes).items())
        return [_sign(inner, sign_gap(parameters), each)]
    raise InvalidParameter(f"There is no leverage of '{parameters.mechanism}' yet.")


def _each(up: float, down: float, about: float) -> Leverage:
    return Leverage(up / about, down / about, about)


def _cells(levels: int, gap: float, about: float) -> Leverage:
    # k-RR over m cells, in the table of the module docstring.
    return _each(1 / levels + (1 - 1 / levels) / gap, (1 / gap - 1) / levels, about)


def _drawn_cells(
    parameters: MargPSParameters | ViewsParameters, attributes: Subset
) -> Iterator[Leverage]:
    if isinstance(parameters, ViewsParameters):
        levels, shares = parameters.levels, views_with(parameters, attributes)
    else:
        levels = tuple(1 << width for width in parameters.bits)
        shares = tables_with(parameters, attributes)
    cells = prod(levels[i] for i in attributes)
    gaps = {m: krr_gap(parameters, m) for m in shares}
    # Tables of m cells have the weight c_m = gap_m^2 in the mean (see the module docstring).
    total = sum(share * gaps[m] ** 2 for m, share in shares.items())
    for m in shares:
        yield _cells(cells, gaps[m], total / gaps[m] ** 2)


def krr_gap(parameters: MargPSParameters | ViewsParameters, cells: int) -> float:
    """Return keep - move of k-RR over a drawn table of `cells` cells."""
    keep = as_fraction(parameters.keep(cells))
    return float(keep - (1 - keep) / (cells - 1))


def _merged(parameters: InpRRParameters | MargRRParameters, cells: int, about: float) -> Leverage:
    p, q = parameters.support
    return _each(cells * float((1 - q) / (p - q)), cells * float(q / (p - q)), about)


def hashed_leverage(parameters: InpHTCMSParameters | InpOLHParameters, profiles: int) -> Leverage:
    """Return the leverage of a hashed report on a table's cell that holds `profiles` profiles."""
    p, q = parameters.support
    most = profiles
    if isinstance(parameters, InpOLHParameters):
        # A symbol supports Bin(profiles, q) of them: a quantile, with a union bound over all seeds
        # and symbols that a liar can try.
        tried = parameters.seeds * parameters.symbols
        most = min(profiles, binomial_isf(UNLIKELY / tried, profiles, float(q)) + 1)
    gap = float(p - q)
    return Leverage((most - profiles * float(q)) / gap, profiles * float(q) / gap)


def _sign(levels: int, gap: float, each: float) -> Leverage:
    # One sign, in the table of the module docstring: a crafted sign says 1/g of its coefficient.
    others = levels - 1
    up, down = (1 + others / gap) / levels, (others / gap - 1) / levels
    return _each(up, down, each * others)


def _contrasts(parameters: CoefficientsParameters, attribute: int) -> Iterator[Leverage]:
    """Yield the leverage of each level: the contrasts have different weights in different levels.

    With weights u of the r - 1 contrasts and U = sum |u|, a mean of concave phi is at most phi of
    the mean. Hence about = (share of one) U / max |u|. The mean of an honest contrast lies within
    -1..1 by itself; `down` includes the excess over a share of 0 to 1.
    """
    levels, gap = parameters.levels[attribute], sign_gap(parameters)
    undo = np.abs(inverse(contrast_matrix(levels))[:, 1:])
    for row in undo:
        total = float(row.sum())
        about = _of_one(parameters) * total / float(row.max())
        up, down = 1 / levels + total / gap, total / gap + max(total - 1, -1 / levels)
        yield _each(up, down, about)


def sign_gap(parameters: SignParameters) -> float:
    """Return 2 keep - 1, the mean of the reported sign of a coefficient that is 1."""
    return float(2 * as_fraction(parameters.keep) - 1)


def _of_one(parameters: CoefficientsParameters) -> float:
    """Return P(a report is about one given coefficient of one attribute)."""
    first = 1.0 if parameters.order == 1 else float(as_fraction(parameters.orders[0]))
    return first / parameters.counts[0]


def views_with(parameters: ViewsParameters, attributes: Subset) -> dict[int, float]:
    """Return the share of reports on views with all the attributes, by the view's cell count."""
    found = _views_of_sets(parameters)[attributes]
    return {cells: count / len(parameters.views) for cells, count in found.items()}


@lru_cache(maxsize=8)
def _views_of_sets(parameters: ViewsParameters) -> dict[Subset, Counter[int]]:
    """Return, for each set of up to `order` attributes, the views that contain it by cell count."""
    found: dict[Subset, Counter[int]] = {}
    for number, view in enumerate(parameters.views):
        for size in range(1, parameters.order + 1):
            for attributes in combinations(view, size):
                found.setdefault(attributes, Counter())[parameters.cells(number)] += 1
    return found


def tables_with(parameters: MarginalParameters, attributes: Subset) -> dict[int, float]:
    """Return the share of reports on tables with all the attributes, by the table's cell count."""
    # Count the tables by (attributes taken, bits of code), one attribute at a time: no enumeration.
    start = (len(attributes), sum(parameters.bits[i] for i in attributes))
    ways: dict[tuple[int, int], int] = {start: 1}
    for other, width in enumerate(parameters.bits):
        if other in attributes:
            continue
        for (taken, bits), count in list(ways.items()):
            if taken < parameters.order:
                key = (taken + 1, bits + width)
                ways[key] = ways.get(key, 0) + count
    every = comb(len(parameters.levels), parameters.order)
    return {
        1 << bits: count / every
        for (taken, bits), count in ways.items()
        if taken == parameters.order
    }

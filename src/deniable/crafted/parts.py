"""The part of a profile that a report is about, and the share of honest reports about it.

Model: a report says in clear what it is about: a drawn table or view, or a coefficient. The share
of a cell of some attributes is a mean over the reports about tables with all of them. Where these
have different sizes, a table of t cells has the weight c_t in the mean: the squared gap of k-RR, or
one over the cells that a bit each adds up. Whoever crafts reports chooses tables of s cells, and is
then among about = sum_t W_t c_t / c_s, with W_t the share of reports on tables of t cells that
contain the attributes. Of b crafted reports in all, they are phi = b / (b + about (1 - b)) of these
(`among`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import comb, prod
from typing import NamedTuple

import numpy as np

from deniable._distributions import binomial_isf
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Subset
from deniable.protocol import CoefficientsParameters, ProfileParameters, ViewsParameters
from deniable.protocol.rest import Bits, Rest, Sign, Symbol, unknown_kind

_UNLIKELY = 1e-9
"""The probability that some seed of a pool gives crafted reports more than the stated leverage."""
HASHED = ("seed", "row")
"""The first number in clear of a report that is about a hash of the whole profile."""


class Part(NamedTuple):
    """Reports that say something about a cell, all with noise of one kind.

    Attributes:
        rest: the noise.
        bits: U and D of `crafted/cells.py` where a report has a bit for each cell, or as good as
            one: the gain of setting all bits of a cell, and the loss of setting none.
        about: the share of honest reports about the cell, by the weight of a crafted one.
    """

    rest: Rest
    bits: tuple[float, float] | None = None
    about: float = 1.0


def told_by(parameters: ProfileParameters) -> str:
    """Return the name of the number in clear that says what a report is about; "" if none does."""
    return next(iter(parameters.channel.names), "")


@lru_cache(maxsize=1024)
def whole_tables(parameters: ProfileParameters, attributes: Subset) -> tuple[Part, ...]:
    """Return the parts that reports on tables are about, one for each size that can be chosen.

    Raises:
        InvalidParameter: if reports are not about tables, or of an unknown kind.
    """
    told, channel = told_by(parameters), parameters.channel
    rest, inner = channel.typical, 1 << sum(parameters.bits[i] for i in attributes)
    if told in HASHED:
        cells = prod(parameters.answers[i] for i in attributes)
        return (Part(rest, _hashed(parameters, parameters.profiles // cells)),)
    if isinstance(rest, Bits) and rest.drawn == 0:  # a coin for each bit of the code
        return (Part(rest),)
    if told == "view":
        shares = views_with(parameters, attributes)
    elif told == "marginal":
        shares = tables_with(parameters, attributes)
    elif told:
        raise InvalidParameter(f"There is no leverage of '{parameters.mechanism}' on tables.")
    else:
        shares = {cells_of(rest): 1.0}
    rests = {cells_of(one): one for one in channel.rests}
    if isinstance(rest, Symbol):
        squares = {m: gap_of(rests[m]) ** 2 for m in shares}
        total = sum(share * squares[m] for m, share in shares.items())
        return tuple(Part(rests[m], None, total / squares[m]) for m in shares)
    merged = {m: m // inner for m in shares}
    total = sum(share / merged[m] for m, share in shares.items())
    return tuple(Part(rests[m], _merged(rests[m], merged[m]), total * merged[m]) for m in shares)


def _merged(rest: Rest, cells: int) -> tuple[float, float]:
    """Return U and D of a cell of the table that holds some of the mechanism's own cells."""
    if not isinstance(rest, Bits):
        raise unknown_kind("leverage on a cell", rest)
    p, q = rest.one, rest.zero
    return cells * float((1 - q) / (p - q)), cells * float(q / (p - q))


def _hashed(parameters: ProfileParameters, profiles: int) -> tuple[float, float]:
    """Return U and D of a cell of the table that holds some profiles, of a hashed report."""
    p, q = parameters.support
    channel, most = parameters.channel, profiles
    rest = channel.typical
    if isinstance(rest, Symbol):
        # A symbol supports Bin(profiles, q) of them: a quantile, with a union bound over all seeds
        # and symbols that can be tried. (Of signs, coefficient 0 is +1 for every profile.)
        tried = rest.size * sum(count for count, _ in channel.numbers[0].given(()))
        most = min(profiles, binomial_isf(_UNLIKELY / tried, profiles, float(q)) + 1)
    gap = float(p - q)
    return (most - profiles * float(q)) / gap, profiles * float(q) / gap


def cells_of(rest: Rest) -> int:
    """Return the number of cells of a table: a report names one, or has a bit for each."""
    if isinstance(rest, Symbol | Bits):
        return rest.size if isinstance(rest, Symbol) else rest.width
    raise unknown_kind("number of cells", rest)


def gap_of(rest: Rest) -> float:
    """Return P(the own value) - P(a given other one): of a sign, the mean of one that is +1."""
    if isinstance(rest, Symbol):
        return float(rest.keep - rest.move)
    if isinstance(rest, Sign):
        return float(rest.gap)
    raise unknown_kind("gap", rest)


def of_signs(parameters: ProfileParameters) -> bool:
    """Tell whether a report is the sign of one coefficient of a table."""
    signed = isinstance(parameters.channel.typical, Sign)
    return signed and told_by(parameters) not in HASHED


def of_one_coefficient(parameters: ProfileParameters, attributes: Sequence[int]) -> Floats:
    """Return P(a report is about one given coefficient of some attributes), by its order 1, 2, ...

    Raises:
        InvalidParameter: if reports are not about coefficients.
    """
    if told_by(parameters) == "marginal":
        shares = tables_with(parameters, tuple(attributes))
        return np.full(len(attributes), sum(share / (m - 1) for m, share in shares.items()))
    if told_by(parameters) != "coefficient":
        raise InvalidParameter(f"There is no leverage of '{parameters.mechanism}' on coefficients.")
    blocks = parameters.channel.numbers[0].given(())
    if len(blocks) == 1:  # all orders alike
        return np.full(parameters.order, 1 / blocks[0][0])
    drawn, left, later = [], 1.0, Fraction(1)
    for _, chance in blocks[:-1]:
        share = float(chance / later)
        drawn.append(left * share)
        left, later = left * (1 - share), later - chance
    return np.asarray(np.array([*drawn, left]) / np.array([count for count, _ in blocks]))


def in_contrasts(parameters: ProfileParameters) -> bool:
    """Tell whether coefficients are means of contrasts, not of Walsh's signs."""
    # A channel has the values of one function at a time. That the functions are an orthogonal basis
    # with these weights in a cell is the mathematics of `coefficients` alone.
    return isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts"


def views_of(parameters: ProfileParameters) -> tuple[Subset, ...]:
    """Return the attributes of every view.

    Raises:
        InvalidParameter: if reports are not about views.
    """
    # A channel says which view a report is about, by its number. Which attributes it has is
    # published by this mechanism alone.
    if not isinstance(parameters, ViewsParameters):
        raise InvalidParameter(f"Reports of '{parameters.mechanism}' are not about views.")
    return parameters.views


def views_with(parameters: ProfileParameters, attributes: Subset) -> dict[int, float]:
    """Return the share of reports on views with all the attributes, by the view's cell count."""
    found = _views_of_sets(parameters)[attributes]
    return {cells: count / len(views_of(parameters)) for cells, count in found.items()}


@lru_cache(maxsize=8)
def _views_of_sets(parameters: ProfileParameters) -> dict[Subset, Counter[int]]:
    """Return, for each set of up to `order` attributes, the views that contain it by cell count."""
    found: dict[Subset, Counter[int]] = {}
    for number, view in enumerate(views_of(parameters)):
        cells = cells_of(parameters.channel.rest((number,)))
        for size in range(1, parameters.order + 1):
            for attributes in combinations(view, size):
                found.setdefault(attributes, Counter())[cells] += 1
    return found


def tables_with(parameters: ProfileParameters, attributes: Subset) -> dict[int, float]:
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
    every = comb(len(parameters.answers), parameters.order)
    return {
        1 << bits: count / every
        for (taken, bits), count in ways.items()
        if taken == parameters.order
    }

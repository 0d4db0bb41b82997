"""The collector's cost of a mechanism: numbers kept, and operations of one estimate.

Both follow from the kind of the rest, the number of public parts, and who draws them: numbers that
a device keeps (cohorts) divide people for ever, so that answers are fitted to each part; numbers
that are drawn afresh (seeds, rows) only say which hash function a report is about.
"""

from __future__ import annotations

import math

from deniable.authoring.auto import POOL
from deniable.plan.listed_strings import of_symbols
from deniable.protocol import (
    InpEMParameters,
    NGramsParameters,
    Parameters,
    ProfileParameters,
)
from deniable.protocol.channel import (
    Bits,
    Channel,
    Points,
    Product,
    Rest,
    Sign,
    Subset,
    Symbol,
    unknown_kind,
)

# Each of the two searches is an algorithm for one mechanism.
FOUND = {"prefixes": "n + groups (K log K + M)", "ngrams": "n k (r + 1) + pairs of places"}
"""The work of mechanisms that find strings."""
COUNTED_BITS = 20
"""Longer reports whose bits are counted together are kept, not counted."""


def words(parameters: Parameters, people: int) -> int:
    """Return the number of numbers in the counts: memory in words of 8 bytes, whatever n.

    Edge cases: reports with a seed each, not from a small pool, have no counts and are all kept; so
    are more than 20 bits that are counted together.
    """
    channel = parameters.channel
    # InpEM alone counts all bits of a report together: expectation maximisation needs each pattern.
    if isinstance(parameters, InpEMParameters):
        return 1 << parameters.width if parameters.width <= COUNTED_BITS else people
    # n-grams are counted by their place, in whichever part of a report they are.
    if isinstance(parameters, NGramsParameters):
        return (parameters.places + 1) * parameters.cohorts * (parameters.bits + 1)
    if channel.digits is not None:
        first = channel.sizes[0] if channel.numbers else channel.typical.count
        return first * math.prod(channel.digits)
    if isinstance(channel.typical, Symbol) and _afresh(channel) > POOL:
        return people
    return math.prod(channel.sizes) * max(_cells(rest) for rest in channel.rests)


def _cells(rest: Rest) -> int:
    """Return the numbers that are counted for one public part."""
    match rest:
        case Bits():
            return rest.width
        case Subset():
            return rest.of
        case Symbol() | Sign() | Points():
            return rest.count
        case Product():
            return sum(map(_cells, rest.parts))
    raise unknown_kind("cost", rest)


def _afresh(channel: Channel) -> int:
    """Return the number of outcomes of the numbers that every report draws afresh."""
    each = zip(channel.numbers, channel.sizes, strict=True)
    return math.prod(size for number, size in each if not number.permanent)


def operations(parameters: Parameters, people: int, asked: int) -> int:
    """Return the approximate number of steps of counting n reports and estimating M answers.

    The formulas are those that `explain` prints (`authoring/auto.py`), with numbers put in: an
    order of magnitude, meant for comparing.
    """
    # Tables of a profile are all estimated, whatever is asked.
    if isinstance(parameters, ProfileParameters):
        return _of_profiles(parameters, people)
    channel, rest = parameters.channel, parameters.channel.typical
    publics = math.prod(channel.sizes)
    match rest:
        case Points():
            each = _sorted(rest.count) + (asked if channel.numbers else 0)
            return people + publics * each
        case Sign():
            *rows, coefficients = channel.sizes or (1,)
            return people + math.prod(rows) * (_sorted(coefficients) + (asked if rows else 0))
        case Subset():
            return people * rest.of
        case Symbol() if not channel.numbers:
            return people + rest.size
        case Symbol() if _afresh(channel) > 1:
            return people * asked if publics > POOL else people + publics * asked
        case Symbol():
            most = publics * (rest.size - 1) // 2  # longer lists of strings are screened first
            closed = not of_symbols(parameters) or parameters.answers > 0
            fitted = asked if closed else min(asked, most)
            return people + publics * (asked + fitted**2 * rest.size) + fitted**3
        case Bits() if channel.direct:
            return people * words(parameters, people)
        case Bits():
            fitted = min(asked, publics * rest.width // 2)  # longer lists are screened first
            screened = publics * rest.drawn * asked
            return people * rest.width + screened + publics * fitted**2 + fitted**3
        case Product():
            *_, cohorts = (1, *channel.sizes)
            return people * _cells(rest) + words(parameters, people) + cohorts * asked
    raise unknown_kind("cost", rest)


def _of_profiles(parameters: ProfileParameters, people: int) -> int:
    """Return the steps of counting n reports and estimating all tables of a profile."""
    channel = parameters.channel
    bits = max((rest.width for rest in channel.rests if isinstance(rest, Bits)), default=1)
    named = dict(zip(channel.names, channel.sizes, strict=True))
    # Every possible profile is looked up with every hash function.
    hashed = parameters.profiles * (named.get("seed", 0) + named.get("row", 0))
    cells = 1 << (parameters.order * sum(parameters.bits) // len(parameters.bits))
    tables = math.comb(len(parameters.answers), parameters.order) * cells
    return people * bits + hashed + words(parameters, people) + tables


def _sorted(size: int) -> int:
    """Return size log2 size, the steps of a fast transform."""
    return size * max(1, math.ceil(math.log2(size)))

"""Reading reports by their mechanism's channel: the public part, the rest, and the answer's own.

Slow and plain, report by report, and apart from `mechanisms/`: an audit should not repeat the
mistakes of the code that it audits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.protocol import Answer, Parameters
from deniable.protocol.channel import (
    Bits,
    Channel,
    Own,
    Points,
    Product,
    Public,
    Rest,
    Sign,
    Subset,
    Symbol,
    Value,
    several,
    unknown_kind,
    whole,
)

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Report = tuple[Public, Value]
"""A report: its public part, and the rest."""


@dataclass(frozen=True)
class Said:
    """Readings of reports with one kind of rest, beside what is their answer's own.

    Attributes:
        part: the place in a product; 0 elsewhere.
        public: the public part of the first of them.
        rest: the kind, with its probabilities.
        owns, values: of every report.
    """

    part: int
    public: Public
    rest: Rest
    owns: list[Own]
    values: list[Value]

    def tables(self) -> tuple[Bools, Bools]:
        """Return the reported bits, and the answer's own, a row per report."""
        if not isinstance(self.rest, Bits):
            raise unknown_kind("table of bits", self.rest)
        width = self.rest.width
        return bit_table(width, self.values), bit_table(width, self.owns)

    def supported(self) -> int:
        """Return the number of reports that support their answer."""
        supports = support_of(self.rest)
        return sum(supports(o, v) for o, v in zip(self.owns, self.values, strict=True))


def reports_of(parameters: Parameters, records: Sequence[bytes]) -> list[Report]:
    """Return the public part and the rest of every record."""
    channel = parameters.channel
    return [channel.read(channel.layout.unpack(record)) for record in records]


def public_columns(channel: Channel, reports: NDArray[Any]) -> list[Whole]:
    """Return the numbers that a structured array of records shows in clear, a column each."""
    if channel.digits is None:
        return [reports[name].astype(np.int64) for name in channel.names]
    left, columns = reports["symbol"].astype(np.int64), []
    for size in reversed(channel.digits):
        left, digit = np.divmod(left, size)
        columns.append(digit)
    return [left, *reversed(columns)][: len(channel.names)]


def said(channel: Channel, answer: Answer, reports: Sequence[Report]) -> list[Said]:
    """Return reports of an answer by kind of rest; those of a product, part by part."""
    own = cache(lambda public: channel.own(answer, public))
    groups: dict[tuple[int, Rest], Said] = {}
    routes: dict[Public, list[Said]] = {}
    for public, value in reports:
        about = public if channel.examples else ()
        route = routes.get(about)
        if route is None:
            rest = channel.rest(public)
            route = routes[about] = [
                groups.setdefault((place, part), Said(place, public, part, [], []))
                for place, part in enumerate(parts_of(rest))
            ]
        mine = own(public)
        owns: Sequence[Own] = mine if isinstance(mine, tuple) else (mine,)
        values = value if isinstance(value, tuple) else (value,)
        for group, each, shown in zip(route, owns, values, strict=True):
            group.owns.append(each)
            group.values.append(shown)
    return list(groups.values())


def parts_of(rest: Rest) -> tuple[Rest, ...]:
    """Return the parts of a product; any other rest alone."""
    return rest.parts if isinstance(rest, Product) else (rest,)


def bit_table(width: int, masks: Sequence[Own] | Sequence[Value]) -> Bools:
    """Return sets of bits as a table, a row each."""
    size = (width + 7) // 8
    packed = b"".join(whole(mask).to_bytes(size, "little") for mask in masks)
    table = np.frombuffer(packed, dtype=np.uint8).reshape(-1, size)
    return np.unpackbits(table, axis=1, count=width, bitorder="little").astype(bool)


def support_of(rest: Rest) -> Callable[[Own, Value], bool]:
    """Return the function that tells whether a value supports an own.

    Raises:
        InvalidParameter: for rows of bits, where several may be the answer's.
    """
    match rest:
        case Symbol():
            return lambda own, value: own == value
        case Sign():
            # A number that is no sign has its likelier one; 0 counts as +1.
            return lambda own, value: value == int(not isinstance(own, tuple) and own < 0)
        case Subset():
            return lambda own, value: bool(whole(value) >> whole(own) & 1)
        case Points():
            plane = cache(rest.on_plane)
            return lambda own, value: plane(whole(own), whole(value))
    raise unknown_kind("single support", rest)


def kept_chance(rest: Rest, own: Own) -> float:
    """Return P(a value supports an own), by the kind of rest."""
    match rest:
        case Symbol():
            return float(rest.keep)
        case Sign():
            return float(max(rest.chance(own, 0), rest.chance(own, 1)))
        case Subset():
            return float(rest.include)
        case Points():
            return float(rest.inside)
    raise unknown_kind("single support", rest)


def log_ratio(rest: Rest) -> Callable[[Own, Own, Value], float]:
    """Return the function from two owns and a value to ln P(value | one) - ln P(value | other)."""
    match rest:
        case Bits():
            up = math.log(rest.one / rest.zero)
            down = math.log((1 - rest.one) / (1 - rest.zero))

            def bits(one: Own, other: Own, value: Value) -> float:
                mine, theirs, shown = whole(one), whole(other), whole(value)
                mine, theirs = mine & ~theirs, theirs & ~mine
                hits = (shown & mine).bit_count() - (shown & theirs).bit_count()
                return hits * up + (mine.bit_count() - theirs.bit_count() - hits) * down

            return bits
        case Product():
            parts = [log_ratio(part) for part in rest.parts]

            def product(one: Own, other: Own, value: Value) -> float:
                each = zip(parts, several(one), several(other), several(value), strict=True)
                return math.fsum(ratio(a, b, v) for ratio, a, b, v in each)

            return product
        case Sign():
            chance = cache(lambda own, value: math.log(rest.chance(own, value)))
            return lambda one, other, value: chance(one, value) - chance(other, value)
        case Symbol() | Subset() | Points():
            supports, step = support_of(rest), math.log(rest.worst or 1)
            return lambda one, other, value: step * (supports(one, value) - supports(other, value))
    raise unknown_kind("likelihood ratio", rest)


def log_ratios(channel: Channel, one: Answer, other: Answer, reports: Sequence[Report]) -> Floats:
    """Return ln P(report | one answer) - ln P(report | other answer), report by report."""
    mine, theirs = (
        cache(lambda public, answer=answer: channel.own(answer, public)) for answer in (one, other)
    )
    ratio = cache(lambda public: log_ratio(channel.rest(public)))
    first = log_ratio(channel.typical)
    ratios: Floats = np.array(
        [
            (ratio(public) if channel.examples else first)(mine(public), theirs(public), value)
            for public, value in reports
        ],
        dtype=np.float64,
    )
    return np.asarray(ratios.round(9))

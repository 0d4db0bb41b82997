"""A question's answer at a glance: one number with its interval, a few bars, the last epochs.

The number is the share of yes, the share of the leading answer, or the median of numbers. A page
of many questions shows one for each; it is what a store keeps of an answer, as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from deniable.results.labels import shortened
from deniable.results.table import Table
from deniable.results.table.columns import Row, plain
from deniable.results.words.shares import bounded, nothing_learned

MOST_BARS = 5
MOST_EPOCHS = 12
"""The number of epochs of the small trend, the newest."""
Kind = Literal["yes", "leading", "member", "found", "median", "nothing"]
"""yes: the share of yes. leading: the most frequent answer. member: the most frequent one of sets
and profiles, whose shares do not add up to 1. found: a string that nobody listed. median: of
numbers. nothing: there is no such number, and `problem` says why."""


@dataclass(frozen=True)
class Point:
    """The same number in one epoch."""

    epoch: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Glance:
    """An answer at a glance.

    Attributes:
        kind: what the number is.
        label: the answer that it is about.
        value, low, high: the number and its 95% interval; shares are parts of 1.
        field: the field that it is about, empty where there is one.
        bars: the most frequent answers, or all bins, with their shares.
        trend: the number in the last epochs, rising; empty for one epoch.
        problem: why there is no number.
        n, simulated: the reports that it comes from.
        made: when it was computed, in seconds since 1970; 0 if unsaid.
    """

    kind: Kind = "nothing"
    label: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    field: str = ""
    bars: tuple[tuple[str, float], ...] = ()
    trend: tuple[Point, ...] = ()
    problem: str = ""
    n: int = 0
    simulated: int = 0
    made: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Return the glance as JSON; never NaN or infinity."""
        found: dict[str, object] = plain(asdict(self))
        return found

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Glance:
        """Return the glance that `as_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: if it is something else.
        """
        known = {name: told[name] for name in cls.__dataclass_fields__}
        numbers = {name: _number(told[name]) for name in ("value", "low", "high")}
        bars = tuple((str(label), _number(share)) for label, share in told["bars"])
        points = ({name: _number(one[name]) for name in _ENDS} for one in told["trend"])
        epochs = (int(one["epoch"]) for one in told["trend"])
        trend = tuple(Point(epoch, **each) for epoch, each in zip(epochs, points, strict=True))
        return cls(**{**known, **numbers, "bars": bars, "trend": trend})

    @property
    def shown(self) -> tuple[str, str, str]:
        """The number and the ends of its interval as people read them."""
        return rounded(self.value, self.low, self.high, share=self.kind != "median")


_ENDS = ("value", "low", "high")


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def rounded(value: float, low: float, high: float, *, share: bool = True) -> tuple[str, str, str]:
    """Return a number and the ends of its interval, with the digits that the interval leaves.

    The ends have two significant digits of the interval's length, and the number one less: what
    is rounded away is then less than a tenth of the interval.

    >>> rounded(0.333, 0.3261, 0.3399)
    ('33%', '32.6%', '34.0%')
    """
    if not math.isfinite(value):
        return ("n/a", "n/a", "n/a")
    scale, sign = (100, "%") if share else (1, "")
    length = scale * (high - low)
    known = math.isfinite(length) and length > 0
    digits = min(4, max(0, math.ceil(1 - math.log10(length)))) if known else 1

    def text(number: float, places: int) -> str:
        if not math.isfinite(number):
            return "no bound"
        told = f"{scale * number:,.{places}f}"
        return (told if float(told.replace(",", "")) else told.removeprefix("-")) + sign

    return text(value, max(0, digits - 1)), text(low, digits), text(high, digits)


def glance_of(table: Table) -> Glance:
    """Return the glance of a table of shares, without a trend."""
    about = table.about
    base = Glance(bars=_bars(table), n=about.n, simulated=about.simulated)
    if not about.n:
        return replace(base, problem="There are no reports yet.")
    row = leading_row(table)
    if row is None or nothing_learned(table):
        # The bars would be noise.
        return replace(base, bars=(), problem="Too few reports yet: no answer stands out.")
    return replace(base, **_told(table, row))


def leading_row(table: Table, label: str = "") -> Row | None:
    """Return the row of a table that a glance is about; the one of `label` where it is given."""
    if table.about.domain == "boolean" or label:
        wanted = label or "true"
        return next((row for row in table.rows if row["value"] == wanted and row.learned), None)
    rows = [row for row in table.rows if row.learned and row.stands_out]
    if table.about.domain == "profile":  # what few people have says more than that many lack it
        rows = [row for row in rows if not row["value"].endswith("=false")]
    return max(rows, key=lambda row: row.frequency, default=None)


def point_of(table: Table, label: str, epoch: int) -> Point | None:
    """Return the share of an answer in one epoch; None where it was not learned."""
    row = leading_row(table, label)
    if row is None:
        return None
    return Point(epoch, *_shares(row))


def glance_of_numbers(glance: Glance, numbers: Table) -> Glance:
    """Return the glance of bins with their median, from the table of their numbers."""
    value, low, high = median_of(numbers)
    if not math.isfinite(value):
        return replace(glance, kind="nothing", problem="The median lies in a bin without an edge.")
    found = replace(glance, kind="median", label="median", problem="")
    return replace(found, value=value, low=low, high=high)


def median_of(numbers: Table) -> tuple[float, float, float]:
    """Return the median of a table of numbers, with the ends of its interval."""
    row = next(row for row in numbers.rows if row["value"] == "median")
    return (row.estimate, *row.interval)


def _told(table: Table, row: Row) -> dict[str, Any]:
    about = table.about
    kinds: dict[str, Kind] = {"boolean": "yes", "set": "member", "profile": "member"}
    kind: Kind = "found" if about.kind == "discovery" else kinds.get(about.domain, "leading")
    value, low, high = _shares(row)
    return {"kind": kind, "label": row["value"], "value": value, "low": low, "high": high}


def _shares(row: Row) -> tuple[float, float, float]:
    low, high = row.interval
    return bounded(row.frequency), bounded(low), bounded(high)


def _bars(table: Table) -> tuple[tuple[str, float], ...]:
    rows = [row for row in table.rows if row.learned]
    if table.about.domain == "boolean":
        rows = [row for row in rows if row["value"] == "true"]
    elif table.about.domain == "profile":
        rows = [row for row in rows if not row["value"].endswith("=false")][:MOST_BARS]
    elif table.about.domain != "numbers":
        rows = sorted(rows, key=lambda row: -row.frequency)[:MOST_BARS]
    return tuple((shortened(row["value"], 24), bounded(row.frequency)) for row in rows)

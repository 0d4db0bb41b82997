"""Lines with their bands: shares or numbers over epochs, and the cumulative curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from deniable.results.charts.lines import drawn
from deniable.results.figures.marks import (
    MOST_COLOURS,
    Scale,
    described,
    grouped,
    marked,
    scale_of,
    text,
)
from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import Table
from deniable.results.table.text import percent, typical_error

_WIDE_RANGE = 100
_MOST_LABELS = 5
_NUMBERS = ("median", "mean")
_YES = "yes"


@dataclass(frozen=True)
class Dot:
    """A point of a line with its interval, its words, and the smoothed line at its place."""

    x: float
    y: float
    low: float
    high: float
    words: str
    smooth: float = math.nan


@dataclass(frozen=True)
class Series:
    """A line: its name, and its points from left to right."""

    name: str
    dots: tuple[Dot, ...]


def shares_over_time(table: Table) -> str:
    """Return the figure of shares by epoch: a line for each of the most frequent answers."""
    share, _, interval, _ = table.columns.main
    error = typical_error(table)

    def dot(row: Row, name: str) -> Dot:
        low, high = row[interval or ""]
        told = f"{percent(low, error)} to {percent(high, error)}"
        words = f"{name}, {day(row)}: {percent(row[share or ''], error)}, {told}"
        smooth = row["smoothed"] if row["smoothed"] is not None else math.nan
        when = date.fromisoformat(row["from"]).toordinal()
        return Dot(when, row[share or ""], low, high, words, smooth)

    found = []
    for name in drawn(table):
        rows = [r for r in table.rows if shortened(str(r["value"]), 60) == name and r.learned]
        told = _YES if table.about.domain == "boolean" and name == "true" else name
        found.append(Series(told, tuple(dot(row, told) for row in rows)))
    ends = [end for one in found for dot_ in one.dots for end in (dot_.low, dot_.high)]
    wide = scale_of(ends)
    y = Scale(max(0.0, wide.low), min(1.0, wide.high) if wide.high > 0 else 1.0)
    return plot(table, found, y, lambda value: f"{100 * value:.6g}%", _days(table))


def numbers_over_time(table: Table) -> str:
    """Return the figure of the median and the mean by epoch."""
    found = []
    for name in _NUMBERS:
        rows = [row for row in table.rows if row["value"] == name and row.estimate is not None]
        dots = [_number_dot(row, name) for row in rows if math.isfinite(row.estimate)]
        found.append(Series(name, tuple(dots)))
    ends = [end for one in found for dot in one.dots for end in (dot.y, dot.low, dot.high)]
    return plot(table, found, scale_of(ends), lambda value: f"{value:.4g}", _days(table))


def _number_dot(row: Row, name: str) -> Dot:
    low, high = row.even_interval if all(map(math.isfinite, row.even_interval)) else row.interval
    words = f"{name}, {day(row)}: {row.estimate:.4g}, {low:.4g} to {high:.4g} if bins are even"
    return Dot(date.fromisoformat(row["from"]).toordinal(), row.estimate, low, high, words)


def curve(table: Table) -> str:
    """Return the figure of a cumulative curve."""
    error = typical_error(table)
    dots = []
    for row in table.rows:
        low, high = row.interval
        told = f"{percent(row.below, error)}, {percent(low, error)} to {percent(high, error)}"
        dots.append(Dot(row.x, row.below, low, high, f"below {row.x:g}: {told}"))
    edges = [dot.x for dot in dots]
    log = edges[0] > 0 and edges[-1] >= _WIDE_RANGE * edges[0]
    x = Scale(edges[0], edges[-1], log)
    step = -(-len(edges) // (_MOST_LABELS + 1))
    labels = [(edge, f"{edge:g}") for edge in edges[::step]]
    series = [Series("share below", tuple(dots))]
    return plot(table, series, Scale(0.0, 1.0), lambda v: f"{100 * v:.6g}%", (x, labels))


def day(row: Row) -> str:
    """Return the first day of a row's epoch as people say it."""
    when = date.fromisoformat(row["from"])
    return f"{when.day} {when:%b %Y}"


Axis = tuple[Scale, Sequence[tuple[float, str]]]


def _days(table: Table) -> Axis:
    days = sorted({date.fromisoformat(row["from"]).toordinal() for row in table.rows})
    step = -(-len(days) // _MOST_LABELS)
    shown = [date.fromordinal(one) for one in days[::step]]
    year = len({one.year for one in shown}) > 1
    labels = [f"{one.day} {one:%b %Y}" if year else f"{one.day} {one:%b}" for one in shown]
    axis = Scale(days[0], days[-1] if len(days) > 1 else days[0] + 1)
    return axis, [(one.toordinal(), name) for one, name in zip(shown, labels, strict=True)]


def plot(
    table: Table, series: Sequence[Series], y: Scale, told: Callable[[float], str], across: Axis
) -> str:
    """Return lines with their bands: the axes at the sides, every point a mark."""
    x, labels = across
    grid = "".join(
        f'<line class="grid" x1="0" x2="100%" y1="{_up(y, tick)}" y2="{_up(y, tick)}"/>'
        for tick in y.ticks()
    )
    left = "".join(
        f'<text x="100%" y="{_up(y, tick)}" dy="4" text-anchor="end">{text(told(tick))}</text>'
        for tick in y.ticks()
    )
    below = "".join(
        f'<text x="{x.place(at)}" y="14" text-anchor="{_side(x.at(at))}">{text(name)}</text>'
        for at, name in labels
    )
    stretched = "".join(_line(one, i, x, y) for i, one in enumerate(series))
    dots = "".join(_dots(one, i, x, y) for i, one in enumerate(series))
    names = "".join(
        f'<li class="s{i % MOST_COLOURS}">{text(one.name)}</li>' for i, one in enumerate(series)
    )
    legend = f'<ul class="legend">{names}</ul>\n' if len(series) > 1 else ""
    inside = (
        f'{legend}<svg class="left" aria-hidden="true">{left}</svg>'
        f'<svg class="area">{grid}<svg viewBox="0 0 100 100" preserveAspectRatio="none" '
        f'width="100%" height="100%" aria-hidden="true">{stretched}</svg>{dots}</svg>'
        f'<svg class="below" aria-hidden="true">{below}</svg>'
    )
    return grouped(described(table), inside, "plot")


def _up(scale: Scale, value: float) -> str:
    return f"{100 - scale.at(value):.2f}%"


def _side(place: float) -> str:
    return "start" if place < 12 else "end" if place > 88 else "middle"


def _line(series: Series, place: int, x: Scale, y: Scale) -> str:
    upper = [(x.at(dot.x), 100 - y.at(dot.high)) for dot in series.dots]
    lower = [(x.at(dot.x), 100 - y.at(dot.low)) for dot in series.dots]
    line = [(x.at(dot.x), 100 - y.at(dot.y)) for dot in series.dots]
    name = f"s{place % MOST_COLOURS}"
    known = [dot for dot in series.dots if math.isfinite(dot.smooth)]
    smooth = [(x.at(dot.x), 100 - y.at(dot.smooth)) for dot in known]
    dashed = f'<polyline class="smooth {name}" points="{_points(smooth)}"/>' if smooth else ""
    return (
        f'<polygon class="band {name}" points="{_points([*upper, *reversed(lower)])}"/>'
        f'<polyline class="line {name}" points="{_points(line)}"/>'
        f"{dashed}"
    )


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{a:.2f},{b:.2f}" for a, b in places)


def _dots(series: Series, place: int, x: Scale, y: Scale) -> str:
    found = []
    for dot in series.dots:
        at, up = x.place(dot.x), _up(y, dot.y)
        high = 100 - y.at(dot.y) < 14
        tip = (
            f'<text class="tip" x="{at}" y="{up}" dy="{22 if high else -12}" '
            f'text-anchor="{_side(x.at(dot.x))}">{text(dot.words)}</text>'
        )
        ends = f'y1="{_up(y, dot.low)}" y2="{_up(y, dot.high)}"'
        whisker = f'<line class="whisker" x1="{at}" x2="{at}" {ends}/>'
        mark = f'{whisker}<circle cx="{at}" cy="{up}" r="4"/>{tip}'
        found.append(marked(dot.words, mark, f"mark s{place % MOST_COLOURS}"))
    return "".join(found)

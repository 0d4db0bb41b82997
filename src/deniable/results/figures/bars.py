"""Shares as bars, a line of the page each: name, bar with its interval, number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from deniable.results.charts.bars import shown_rows
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
from deniable.results.table.columns import UNLEARNED, Ends, Row
from deniable.results.table.table import Table
from deniable.results.table.text import percent, typical_error

_ROOM = 60
_YES = {"true": "yes", "false": "no"}


@dataclass(frozen=True)
class Bar:
    """A bar: its name, the share and its interval, and how it looks."""

    name: str
    share: float
    interval: Ends
    look: str = "shown"


def bar_figure(table: Table) -> str:
    """Return the figure of a table of shares; of yes/no the bar of yes, out of all people."""
    rows, error = shown_rows(table), typical_error(table)
    labels = [column.name for column in table.columns.labels]
    boolean = table.about.domain == "boolean"
    if boolean and len(rows) == 2 and labels == ["value"]:
        rows = tuple(row for row in rows if row["value"] == "true")
    bars = [_bar(table, row, labels, boolean) for row in rows]
    left = len(table.rows) - len(shown_rows(table))
    more = f'<p class="quiet">… and {left:,} more, in the table below</p>' if left else ""
    whole = Scale(0.0, 1.0) if boolean and len(bars) == 1 else None
    return grouped(described(table), bar_lines(bars, error, whole) + more, "bars")


def side_by_side(table: Table, by: str) -> str:
    """Return the figure of groups: under every answer, a bar for each value of a segment."""
    share, _, interval, _ = table.columns.main
    error, parts = typical_error(table), []
    names = drawn(table)
    groups = list(dict.fromkeys(str(row[by]) for row in table.rows))
    bars = {
        name: [
            Bar(
                str(row[by]),
                row[share or ""],
                row[interval or ""],
                f"s{groups.index(str(row[by])) % MOST_COLOURS}",
            )
            for row in table.rows
            if shortened(str(row["value"]), 60) == name and row.drawn
        ]
        for name in names
    }
    scale = _scale([bar for each in bars.values() for bar in each])
    for name, each in bars.items():
        told = _YES.get(name, name) if table.about.domain == "boolean" else name
        parts.append(f'<p class="bars-of">{text(told)}</p>{bar_lines(each, error, scale, told)}')
    return grouped(described(table), "\n".join(parts), "bars")


def bar_lines(bars: Sequence[Bar], error: float, scale: Scale | None = None, of: str = "") -> str:
    """Return a line for each bar, all on one scale, and the scale below them."""
    scale = scale or _scale(bars)
    lines = [_line(bar, scale, error, of) for bar in bars]
    ticks = "".join(
        f'<text x="{scale.place(tick)}" y="12" text-anchor="{_anchor(scale.at(tick))}">'
        f"{100 * tick:.6g}%</text>"
        for tick in scale.ticks(4)
    )
    axis = f'<div class="bar-line axis" aria-hidden="true"><svg height="16">{ticks}</svg></div>'
    return "\n".join([*lines, axis])


def _bar(table: Table, row: Row, labels: Sequence[str], boolean: bool) -> Bar:
    share, _, interval, _ = table.columns.main
    told = [_YES.get(str(row[n]), str(row[n])) if boolean else str(row[n]) for n in labels]
    name = shortened(", ".join(told), _ROOM)
    if not row.drawn:
        return Bar(name, math.nan, UNLEARNED, "faint")
    return Bar(name, row[share or ""], row[interval or ""], "shown" if row.stands_out else "faint")


def _scale(bars: Sequence[Bar]) -> Scale:
    ends = [end for bar in bars for end in (bar.share, *bar.interval)]
    return scale_of(ends, zero=True)


def _anchor(place: float) -> str:
    return "start" if place < 8 else "end" if place > 92 else "middle"


def _line(bar: Bar, scale: Scale, error: float, of: str) -> str:
    known = math.isfinite(bar.share)
    share = percent(bar.share, error)
    ends = " to ".join(percent(end, error) for end in bar.interval) if known else ""
    words = f"{f'{of}, ' if of else ''}{bar.name}: {share}{f', {ends}' if ends else ''}"
    mark = marked(words, _drawn(bar, scale)) if known else ""
    return (
        f'<div class="bar-line {bar.look}"><span class="name">{text(bar.name)}</span>'
        f'<svg height="26">{mark}</svg><span class="value">{share}</span>'
        f'<span class="tip">{ends}</span></div>'
    )


def _drawn(bar: Bar, scale: Scale) -> str:
    zero, end = sorted((scale.at(0.0), scale.at(bar.share)))
    low, high = (scale.place(end) for end in bar.interval)
    width = max(0.0, end - zero)
    whisker = '<line class="whisker" x1="{}" x2="{}" y1="{}" y2="{}"/>'
    return (
        f'<rect class="fill" x="{zero:.2f}%" y="4" width="{width:.2f}%" height="18"/>'
        + whisker.format(low, high, 13, 13)
        + whisker.format(low, low, 9, 17)
        + whisker.format(high, high, 9, 17)
        + f'<line class="zero" x1="{scale.place(0.0)}" x2="{scale.place(0.0)}" y1="0" y2="26"/>'
    )

"""Shares by group: lines over epochs with their bands, or bars of a segment's values side by side.

A line is an answer; where the reports are also apart by segment, an answer has a panel of its own,
and each value of the segment a line of its own colour. A dashed line is the smoothed one.
"""

from __future__ import annotations

from typing import Any

from deniable.results.charts.look import COLOURS, altair, finished, theme_of, titled
from deniable.results.labels import shortened
from deniable.results.table.columns import plain
from deniable.results.table.table import Table

_MOST_LINES = 7
"""The most lines that are drawn, of the most frequent answers."""
_MOST_PANELS = 4
"""The most answers that have a panel each, where lines are segments."""
_KEYS = ("from", "to")


def lines(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the picture of shares by group.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours = altair(), theme_of(theme)
    names, segments = drawn(table), _segments(table)
    data = _data(table, names)
    if "epoch" not in table.columns.place:
        chart = _fitted(alt, _beside(alt, data, names, width))
    elif not segments:
        chart = _fitted(alt, _over_time(alt, data, names, width))
    else:
        # A panel per answer, a colour per segment's value.
        values = list(dict.fromkeys(str(row[segments[0]]) for row in table.rows))
        panels = [
            _over_time(alt, [one for one in data if one["answer"] == name], values, width - 90)
            for name in names[:_MOST_PANELS]
        ]
        named = zip(panels, names, strict=False)
        chart = alt.vconcat(*(panel.properties(title=name) for panel, name in named))
    title = titled(table, width, *table.about.what, *key_lines(table)) if heading else (None, [])
    return finished(chart, colours, *title)


def _colour(alt: Any, names: list[str], width: int) -> Any:
    scale = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    legend = alt.Legend(title=None, orient="top", columns=max(1, width // 180))
    return alt.Color("line:N", scale=scale, legend=legend if len(names) > 1 else None)


def _axes(alt: Any, over: bool) -> tuple[Any, Any, Any, list[Any]]:
    axis = alt.Axis(title=None, grid=False, labelAngle=0, labelOverlap=True)
    # Days are UTC days: a reader's time zone must not move them.
    when = alt.X("when:T", axis=axis, scale=alt.Scale(type="utc"))
    x = when if over else alt.X("group:N", axis=axis, sort=None)
    percent = alt.Axis(format="~%", title="share of people", tickCount=6, domain=False, ticks=False)
    low, y = (alt.Y(f"{name}:Q", axis=percent) for name in ("low", "share"))
    told = [alt.Tooltip("line:N"), alt.Tooltip("group:N")]
    told += [alt.Tooltip(f"{name}:Q", format=".3%") for name in ("share", "low", "high")]
    return x, low, y, told


def _over_time(alt: Any, data: list[dict[str, object]], names: list[str], width: int) -> Any:
    base, colour = alt.Chart(alt.Data(values=data)), _colour(alt, names, width)
    x, low, y, told = _axes(alt, True)
    line = alt.Y("smoothed:Q")
    return alt.layer(
        base.mark_area(opacity=0.18).encode(x=x, y=low, y2="high:Q", color=colour),
        base.mark_line(strokeWidth=1.2, opacity=0.75).encode(x=x, y=y, color=colour),
        base.mark_line(strokeWidth=2.4, strokeDash=[6, 3]).encode(x=x, y=line, color=colour),
        base.mark_point(filled=True, size=34, opacity=1).encode(
            x=x, y=y, color=colour, tooltip=told
        ),
    ).properties(width=width, height=min(300, width))


def _beside(alt: Any, data: list[dict[str, object]], names: list[str], width: int) -> Any:
    base, colour = alt.Chart(alt.Data(values=data)), _colour(alt, names, width)
    x, low, y, told = _axes(alt, False)
    beside = alt.XOffset("line:N", sort=names)
    rule = base.mark_rule(strokeWidth=2)
    return alt.layer(
        rule.encode(x=x, xOffset=beside, y=low, y2="high:Q", color=colour),
        base.mark_point(filled=True, size=60, opacity=1).encode(
            x=x, xOffset=beside, y=y, color=colour, tooltip=told
        ),
    ).properties(width=width, height=min(300, width))


def _fitted(alt: Any, chart: Any) -> Any:
    return chart.properties(autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))


def drawn(table: Table) -> list[str]:
    """Return the answers that are drawn, the most frequent first."""
    share = table.columns.main[0] or ""
    sums: dict[str, float] = {}
    for row in table.rows:
        value = row[share]
        known = value is not None and value == value
        sums[_answer(table, row)] = sums.get(_answer(table, row), 0.0) + (value if known else 0.0)
    # Of a yes/no question "false" says nothing that "true" does not.
    if table.about.domain == "boolean" and "true" in sums:
        return ["true"]
    return sorted(sums, key=lambda name: -sums[name])[:_MOST_LINES]


def _answer(table: Table, row: Any) -> str:
    keys = (*_KEYS, *_segments(table))
    labels = [str(row[c.name]) for c in table.columns.of("label") if c.name not in keys]
    return shortened(", ".join(labels), 60)


def _segments(table: Table) -> list[str]:
    by = table.about.more.get("by", ())
    return [name for name in ([by] if isinstance(by, str) else by) if name != "epoch"]


def _data(table: Table, names: list[str]) -> list[dict[str, object]]:
    share, _, interval, _ = table.columns.main
    over, segments = "epoch" in table.columns.place, _segments(table)
    found = []
    for row in table.rows:
        name = _answer(table, row)
        if name not in names:
            continue
        low, high = row[interval or ""]
        segment = ", ".join(str(row[one]) for one in segments)
        smoothed = plain(row["smoothed"]) if "smoothed" in table.columns.place else None
        numbers = {"share": row[share or ""], "low": low, "high": high}
        marks = {"answer": name, "line": segment if over and segments else name}
        marks |= {"group": row["from"] if over else segment}
        found.append({**marks, "when": marks["group"], **plain(numbers), "smoothed": smoothed})
    return found


def key_lines(table: Table) -> list[str]:
    """Return the key of the chart."""
    of = f" of the {table.about.of}" if table.about.of else ""
    if "epoch" in table.columns.place:
        told = [f"dots and band: estimate and 95% interval{of} of each epoch", "dashed: smoothed"]
    else:
        told = [f"dot and line: estimate and 95% interval{of}"]
    return [" · ".join(told)]


def caption(table: Table) -> str:
    """Return the key as one line, for a page."""
    return "; ".join(key_lines(table))


def described(table: Table) -> str:
    """Return a description of the chart, for those who do not see it."""
    by = table.about.more.get("by", "group")
    names = ", ".join(drawn(table))
    told = " ".join(table.about.what)
    return (
        f"Shares by {by if isinstance(by, str) else ' and '.join(by)} of {names}, with 95% "
        f"intervals, from {table.about.reports}. {told} The table below has every number."
    )

"""The cumulative curve of numbers in bins: the share below each edge, with its band."""

from __future__ import annotations

from typing import Any

from deniable.results.charts.look import COLOURS, altair, finished, theme_of, titled
from deniable.results.table.columns import plain
from deniable.results.table.table import Table

_WIDE_RANGE = 100
"""Edges whose largest is this many times the smallest stand on a logarithmic axis."""


def cumulative_picture(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the curve.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours = altair(), theme_of(theme)
    rows = [
        plain({"x": r.x, "below": r.below, "low": r.interval[0], "high": r.interval[1]})
        for r in table.rows
    ]
    edges = [row["x"] for row in rows]
    far = edges and edges[0] > 0 and edges[-1] >= _WIDE_RANGE * edges[0]
    axis = alt.Axis(title="x", grid=False, format="~g", labelOverlap=True)
    x = alt.X("x:Q", axis=axis, scale=alt.Scale(type="log" if far else "linear", nice=False))
    percent = alt.Axis(format="~%", title="share of people below x", domain=False, ticks=False)
    y = alt.Y("below:Q", axis=percent, scale=alt.Scale(domain=[0, 1], clamp=True))
    base = alt.Chart(alt.Data(values=rows))
    told = [alt.Tooltip("x:Q", format="~g")]
    told += [alt.Tooltip(f"{name}:Q", format=".3%") for name in ("below", "low", "high")]
    chart = alt.layer(
        base.mark_area(opacity=0.2, color=COLOURS[0]).encode(
            x=x, y=alt.Y("low:Q", axis=percent), y2="high:Q"
        ),
        base.mark_line(color=COLOURS[0], strokeWidth=2).encode(x=x, y=y),
        base.mark_point(color=COLOURS[0], filled=True, size=36, opacity=1).encode(
            x=x, y=y, tooltip=told
        ),
    ).properties(
        width=width,
        height=min(300, width),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    title = titled(table, width, cumulative_caption(table)) if heading else (None, [])
    return finished(chart, colours, *title)


def cumulative_caption(table: Table) -> str:
    """Return the key of the curve."""
    return f"line: share below each edge of the bins; band: 95% interval of the {table.about.of}"


def cumulative_described(table: Table) -> str:
    """Return a description of the curve, for those who do not see it."""
    middle = table.rows[len(table.rows) // 2]
    return (
        f"Cumulative curve with its 95% band over {len(table.rows)} edges, from "
        f"{table.about.reports}: {100 * middle.below:.1f}% lie below {middle.x:g}. The table below "
        "has every number."
    )

"""Numbers by group: the median and the mean over epochs, or of a segment's values."""

from __future__ import annotations

from typing import Any

from deniable.results.charts.look import COLOURS, altair, finished, theme_of, titled
from deniable.results.table.columns import plain
from deniable.results.table.table import Table

_DRAWN = ("mean", "median")


def number_lines(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the picture of mean and median by group.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours = altair(), theme_of(theme)
    over = "epoch" in table.columns.place
    axis = alt.Axis(title=None, grid=False, labelAngle=0, labelOverlap=True)
    when = alt.X("group:T", axis=axis, scale=alt.Scale(type="utc"))
    x = when if over else alt.X("group:N", axis=axis, sort=None)
    y_axis = alt.Axis(title=None, format="~g", domain=False, ticks=False)
    y = alt.Y("estimate:Q", axis=y_axis, scale=alt.Scale(zero=False))
    names = list(dict.fromkeys(row["line"] for row in _data(table)))
    scale = alt.Scale(domain=names, range=[COLOURS[i % len(COLOURS)] for i in range(len(names))])
    colour = alt.Color("line:N", scale=scale, legend=alt.Legend(title=None, orient="top"))
    base = alt.Chart(alt.Data(values=_data(table)))
    low = alt.Y("low:Q", axis=y_axis, scale=alt.Scale(zero=False))
    told = [alt.Tooltip("line:N")]
    told += [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("estimate", "low", "high")]
    dots = base.mark_point(filled=True, size=40, opacity=1)
    layers = [dots.encode(x=x, y=y, color=colour, tooltip=told)]
    if over:
        area = base.mark_area(opacity=0.18)
        layers = [
            area.encode(x=x, y=low, y2="high:Q", color=colour),
            base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour),
            *layers,
        ]
    else:
        rule = base.mark_rule(strokeWidth=2)
        layers = [rule.encode(x=x, y=low, y2="high:Q", color=colour), *layers]
    chart = alt.layer(*layers).properties(
        width=width,
        height=min(300, width),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    title = titled(table, width, number_lines_caption(table)) if heading else (None, [])
    return finished(chart, colours, *title)


def number_lines_caption(_: Table) -> str:
    """Return the key of the picture."""
    return "band: 95% interval if bins are evenly filled"


def _data(table: Table) -> list[dict[str, Any]]:
    over = "epoch" in table.columns.place
    by = table.about.more.get("by", ())
    segments = [name for name in ([by] if isinstance(by, str) else by) if name != "epoch"]
    found = []
    for row in table.rows:
        if row.value not in _DRAWN:
            continue
        segment = ", ".join(str(row[name]) for name in segments)
        name = f"{row.value}, {segment}" if over and segments else row.value
        ends = {"estimate": row.estimate, "low": row.even_interval[0], "high": row.even_interval[1]}
        found.append({"line": name, "group": row["from"] if over else segment, **plain(ends)})
    return found


def number_lines_described(table: Table) -> str:
    """Return a description of the picture, for those who do not see it."""
    medians = [one for one in _data(table) if one["line"].startswith("median")]
    ends = [one for one in (*medians[:1], *medians[-1:]) if one["estimate"] is not None]
    told = " and ".join(f"{one['estimate']:.4g} ({one['group']})" for one in ends)
    return (
        f"Mean and median by {table.about.more.get('by')}, with intervals, from "
        f"{table.about.reports}. {f'The median is {told}. ' if told else ''}The table below has "
        "every number."
    )

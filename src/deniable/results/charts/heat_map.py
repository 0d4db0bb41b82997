"""An association as a picture: a heat map of two fields, with the interval in every cell.

Colour is the share of people with both answers. An orange frame and an arrow upwards mark two
answers that go together more often than by chance, a grey frame and an arrow downwards less often:
the 95% interval of their odds ratio leaves out 1. Where the test finds no dependence nothing is
marked: one interval in twenty leaves out 1 by chance. More than two fields are drawn pair by pair.
"""

from __future__ import annotations

import math
from typing import Any

from deniable.results.charts.look import Theme, altair, finished, theme_of, titled
from deniable.results.labels import distinct, shortened
from deniable.results.table.columns import Row, plain
from deniable.results.table.table import Table

_MOST_LABELS = 40
"""The number of answers of a field that are drawn; the table has the rest."""
_MOST_PAIRS = 6
_ROW_HEIGHT = 42
_TEXT_ROOM = 62
"""A narrower cell has no room for its numbers; the tooltip and the table have them."""
ARROWS = {"more": " ↑", "less": " ↓", "none": ""}
_KEY = (
    "colour and number: share of people with both answers, {intervals} below · "
    "↑ orange frame: more often together than by chance · ↓ grey frame: less often"
)


def heat_map_key(table: Table) -> str:
    """Return the meaning of the marks."""
    return _KEY.format(intervals=table.about.intervals)


def heat_map(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the heat map of an association, one under the other for more than two fields.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours = altair(), theme_of(theme)
    tables = [table] if len(table.columns.labels) == 2 else _pairs(table)[:_MOST_PAIRS]
    maps = [_heat(alt, one, colours, width) for one in tables]
    drawn = maps[0]
    if len(maps) > 1:
        drawn = alt.vconcat(*maps, spacing=28).resolve_scale(color="independent")
    title = titled(table, width, *heat_map_key(table).split(" · ")) if heading else (None, [])
    return finished(drawn, colours, *title, domain=False, ticks=False, grid=False, titlePadding=10)


def _pairs(table: Table) -> list[Table]:
    return [part for part in table.parts.values() if part.about.kind == table.about.kind]


def heat_map_described(table: Table) -> str:
    """Return a description of the heat map, for those who do not see it."""
    names = [column.name for column in table.columns.labels]
    top = sorted(table.rows, key=lambda row: -row.probability)[:3]
    largest = ", ".join(
        f"{' with '.join(shortened(row[n], 30) for n in names)} {100 * row.probability:.1f}%"
        for row in top
    )
    return (
        f"Heat map of the shares of {len(table.rows)} combinations of {' and '.join(names)} with "
        f"{table.about.intervals}s, from {table.about.reports}. Largest: {largest}."
    )


def _heat(alt: Any, table: Table, colours: Theme, width: int) -> Any:
    names = [column.name for column in table.columns.labels]
    every = [list(dict.fromkeys(table.column(name)))[:_MOST_LABELS] for name in names]
    rows = distinct([shortened(v, max(12, width // 26)) for v in every[0]])
    room = max(8, width // (8 * (len(every[1]) + 2)))
    columns = distinct([shortened(v, room) for v in every[1]])
    down, across = every
    places = [dict(zip(down, rows, strict=True)), dict(zip(across, columns, strict=True))]
    cell = (width - 180) / max(1, len(columns))
    scale: dict[str, Any] = {"paddingInner": 0.04, "paddingOuter": 0.02}
    base = alt.Chart(alt.Data(values=_data(table, names, places))).encode(
        x=alt.X(
            "x:N",
            title=names[1],
            sort=None,
            scale=alt.Scale(domain=columns, **scale),
            axis=alt.Axis(orient="top", labelAngle=0 if cell > 70 else -45),
        ),
        y=alt.Y("y:N", title=names[0], sort=None, scale=alt.Scale(domain=rows, **scale)),
    )
    second = bool(table.columns.of("second_interval"))
    layers = [_squares(alt, base, colours, second=second)]
    if cell >= _TEXT_ROOM:
        layers += _numbers(alt, base, colours)
    return alt.layer(*layers).properties(
        width=max(120, width - 180), height=max(60, _ROW_HEIGHT * len(rows))
    )


def _data(table: Table, names: list[str], places: list[dict[str, str]]) -> list[dict[str, object]]:
    """Return the chart's data; labels are printable, numbers finite or None."""
    one, two = names
    rows = [row for row in table.rows if row[one] in places[0] and row[two] in places[1]]
    most = max((row.probability for row in rows), default=1.0) or 1.0
    data: list[dict[str, object]] = []
    for row in rows:
        frame = direction(row) if table.about.more["dependent"] else "none"
        low, high = plain(row.interval)
        ends = row.crafted_interval if "crafted_interval" in row else (None, None)
        data.append(
            {
                "y": places[0][row[one]],
                "x": places[1][row[two]],
                "share": row.probability,
                "low": low,
                "high": high,
                "second_low": plain(ends[0]),
                "second_high": plain(ends[1]),
                "shown": f"{100 * row.probability:.1f}%{ARROWS[frame]}",
                "interval": "" if low is None else f"{100 * low:.1f} to {100 * high:.1f}",
                "frame": frame,
                "deep": bool(row.probability > 0.72 * most),
            }
        )
    return data


def direction(row: Row) -> str:
    """Return whether two answers go together more or less often than by chance, or neither."""
    low, high = row.odds_ratio_interval
    learned = math.isfinite(row.odds_ratio) and math.isfinite(row.odds_ratio_std_error)
    if not learned or low <= 1 <= high:
        return "none"
    return "more" if low > 1 else "less"


def _squares(alt: Any, base: Any, colours: Theme, *, second: bool) -> Any:
    scale = alt.Scale(range=list(colours.ramp), domainMin=0)
    frames = alt.Scale(
        domain=list(ARROWS), range=[colours.truth, colours.muted, "rgba(0, 0, 0, 0)"]
    )
    names = ("share", "low", "high", *(("second_low", "second_high") if second else ()))
    numbers = [alt.Tooltip(f"{name}:Q", format=".3%") for name in names]
    return base.mark_rect(cornerRadius=3, strokeWidth=2).encode(
        color=alt.Color("share:Q", scale=scale, legend=None),
        stroke=alt.Stroke("frame:N", scale=frames, legend=None),
        tooltip=[alt.Tooltip("y:N", title="first"), alt.Tooltip("x:N", title="second"), *numbers],
    )


def _numbers(alt: Any, base: Any, colours: Theme) -> list[Any]:
    faint, deep = colours.inks
    ink = alt.condition(alt.datum.deep, alt.value(deep), alt.value(faint))
    return [
        base.mark_text(fontSize=13, fontWeight="bold", dy=-7).encode(text="shown:N", color=ink),
        base.mark_text(fontSize=10.5, dy=9).encode(text="interval:N", color=ink),
    ]

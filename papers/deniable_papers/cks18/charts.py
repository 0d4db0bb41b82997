"""The look of [CKS18]'s figures: a line per method, ours drawn thicker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable_papers.base import Rows
from deniable_papers.cks18.methods import EVERY, OURS
from deniable_papers.common.charts import COLOURS, LOOK, altair, data_of, facets, styled

PALETTE = (*COLOURS, "#f06595", "#94d82d", "#000000")
"""A colour per method; black for ours."""


def colours_of(names: Sequence[str] = EVERY) -> Any:
    """Return the scale that gives every method its colour in all figures."""
    alt = altair()
    return alt.Scale(domain=list(names), range=[PALETTE[EVERY.index(name)] for name in names])


def lines(
    rows: Rows, title: str, x: str, x_title: str, panel: str | None = None, *, columns: int = 3,
    log: bool = False, y: str = "total_variation", y_title: str = "mean total variation",
) -> Any:  # fmt: skip
    """Return lines of every method over `x`, in panels by a column of the rows."""
    alt = altair()
    shown = [row for row in rows if row[y] is not None]
    scale = alt.Scale(type="log", base=2) if log else alt.Scale(zero=False)
    # Methods far off would press the others together: a logarithm shows both.
    height = alt.Scale(type="log", nice=False)
    chart = (
        alt.Chart(data_of(shown))
        .mark_line(point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X(f"{x}:Q", title=x_title, scale=scale, axis=alt.Axis(tickCount=5)),
            y=alt.Y(f"{y}:Q", title=y_title, scale=height),
            color=alt.Color("method:N", title=None, scale=colours_of()),
            size=alt.condition(f"datum.method == '{OURS}'", alt.value(3), alt.value(1.5)),
        )
    )
    if panel is None:
        return styled(chart.properties(width=560, height=340), title)
    order = list(dict.fromkeys(str(row[panel]) for row in rows))
    sized = chart.properties(width=210, height=170)
    panels = facets(sized, panel, sort=order, columns=columns)
    return styled(panels.resolve_scale(y="independent", x="independent"), title)


def bars(rows: Rows, title: str, value: str, value_title: str, panel: str) -> Any:
    """Return a bar per method in panels by a column of the rows."""
    alt = altair()
    shown = [row for row in rows if row[value] is not None]
    chart = (
        alt.Chart(data_of(shown))
        .mark_bar()
        .encode(
            x=alt.X(f"{value}:Q", title=value_title),
            y=alt.Y("method:N", title=None, sort=list(EVERY)),
            color=alt.Color("method:N", legend=None, scale=colours_of()),
        )
        .properties(width=230, height=150)
    )
    order = list(dict.fromkeys(str(row[panel]) for row in rows))
    return styled(facets(chart, panel, sort=order, columns=3), title)


def heat(rows: Rows, names: Sequence[str], title: str, columns: int = 2) -> Any:
    """Return heat maps of correlations, a panel per column 'panel' of the rows."""
    alt = altair()
    scale = alt.Scale(scheme="redblue", domain=[1, -1], reverse=True)
    base = alt.Chart().encode(
        x=alt.X("first:N", title=None, sort=list(names)),
        y=alt.Y("second:N", title=None, sort=list(names)),
    )
    squares = base.mark_rect().encode(
        color=alt.Color("correlation:Q", title=None, scale=scale),
    )
    words = base.mark_text(fontSize=9).encode(
        text=alt.Text("correlation:Q", format=".2f"),
        color=alt.condition(
            "abs(datum.correlation) > 0.6", alt.value("#ffffff"), alt.value(LOOK.text)
        ),
    )
    order = list(dict.fromkeys(str(row["panel"]) for row in rows))
    layered = alt.layer(squares, words, data=data_of(rows)).properties(width=260, height=260)
    return styled(facets(layered, "panel", sort=order, columns=columns), title)

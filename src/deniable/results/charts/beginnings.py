"""A picture of the beginnings from which strings were grown."""

from __future__ import annotations

from typing import Any

from deniable._words import plural
from deniable.results.charts.look import FONT, altair, finished, theme_of
from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import Table

_STEP = 20
_LABEL = 24
CAPTION = "How the strings were grown from their beginnings; wider lines are more frequent"


def heights(parents: list[int]) -> list[float]:
    """Return the height of each row: a line of its own under its parent, so that no names meet.

    What grew from a row stands below it, before its next sibling.
    """
    children: list[list[int]] = [[] for _ in parents]
    for place, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(place)
    found, waiting, line = [0.0] * len(parents), [0] if parents else [], 0
    while waiting:
        place = waiting.pop()
        found[place], line = float(line), line + 1
        waiting.extend(reversed(children[place]))
    return found


def beginnings(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the tree as a picture: left the first characters, right whole strings.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours, y = altair(), theme_of(theme), heights(table.column("parent"))
    nodes = [_node(row, table.rows, y[i]) for i, row in enumerate(table.rows)]
    width_of = max(len(row.text) for row in table.rows) * 1.5 + 4
    across = alt.Scale(domain=[0, width_of], nice=False)
    down = alt.Scale(domain=[max(y) + 1, -1], nice=False)
    lines = _lines(alt, nodes, table, across, down).mark_rule(color=colours.visible, opacity=0.7)
    base = alt.Chart(alt.Data(values=nodes)).encode(
        x=alt.X("x:Q", axis=None, scale=across), y=alt.Y("y:Q", axis=None, scale=down)
    )
    points = base.mark_circle(size=22, color=colours.visible, opacity=1)
    named = base.encode(text="label:N")
    words = {"align": "left", "font": FONT, "fontSize": 12}
    layers = alt.layer(
        lines,
        points,
        named.transform_filter("datum.found").mark_text(dx=6, color=colours.text, **words),
        named.transform_filter("!datum.found").mark_text(dx=3, dy=-6, color=colours.muted, **words),
    )
    drawn = layers.properties(width=width - 28, height=max(80, int(_STEP * (max(y) + 2))))
    return finished(drawn, colours, CAPTION if heading else None)


def _lines(alt: Any, nodes: list[dict[str, Any]], table: Table, across: Any, down: Any) -> Any:
    """Return the lines from every row to what it extends, wide where many people are."""
    edges = [
        {**nodes[i], "x0": nodes[row.parent]["x"], "y0": nodes[row.parent]["y"]}
        for i, row in enumerate(table.rows)
        if row.parent >= 0
    ]
    return alt.Chart(alt.Data(values=edges)).encode(
        x=alt.X("x0:Q", axis=None, scale=across),
        x2="x:Q",
        y=alt.Y("y0:Q", axis=None, scale=down),
        y2="y:Q",
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
    )


def _node(row: Row, rows: tuple[Row, ...], y: float) -> dict[str, Any]:
    """Return a row as the picture shows it: an inner one by the characters that it adds."""
    parent = rows[row.parent].text if row.parent >= 0 else ""
    label = row.text if row.found else row.text[len(parent) :]
    share = f"  {100 * row.share:.2g}%" if row.found else ""
    return {
        "x": len(row.text),
        "y": y,
        "label": shortened(label, _LABEL) + share if label else "",
        "found": row.found,
        "width": 1 + 12 * max(0.0, min(row.share, 0.5)),
    }


def tree_words(table: Table) -> str:
    """Return a description of the picture, for those who cannot see it."""
    found = sorted((row for row in table.rows if row.found), key=lambda row: -row.share)
    inner = len(table.rows) - len(found) - 1
    top = ", ".join(f"{shortened(row.text, _LABEL)} {100 * row.share:.2g}%" for row in found[:3])
    most = f" Most frequent: {top}." if top else ""
    lead = f"{plural(inner, 'beginning')} that lead to {plural(len(found), 'string')}"
    return f"A tree of {lead}.{most}"

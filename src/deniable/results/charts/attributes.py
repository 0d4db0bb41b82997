"""Pictures of many attributes: the heat map of correlations, and the dependency tree."""

from __future__ import annotations

from typing import Any

from deniable._words import plural
from deniable.results.charts.beginnings import heights
from deniable.results.charts.look import altair, finished, simulated_line, theme_of
from deniable.results.labels import distinct, shortened
from deniable.results.table.columns import plain
from deniable.results.table.table import Table

CORRELATIONS_KEY = "Correlations; a dot marks pairs that are dependent (Holm, 5%)"
TREE_KEY = "Dependency tree; thick: much mutual information, pale: another edge could be as good"


def correlations(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the heat map of a table of pairs; a dot marks those that are dependent by Holm.

    Edge cases: an attribute that is constant correlates with nothing: "n/a".
    """
    alt, colours = altair(), theme_of(theme)
    attributes = table.about.more["collected"]["attributes"]
    names = distinct([shortened(name, 24) for name in attributes])
    short = dict(zip(attributes, names, strict=True))
    rows = []
    for row in table.rows:
        value = plain(row.smoothed_correlation)
        for first, second in ((row.first, row.second), (row.second, row.first)):
            rows.append(
                {
                    "first": short[first],
                    "second": short[second],
                    "correlation": value,
                    "shown": "n/a" if value is None else f"{value:.2f}",
                    "mark": "•" if row.holm else "",
                }
            )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("first:N", title=None, sort=names, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("second:N", title=None, sort=names),
    )
    blue, orange = "#3b63c4", "#d9480f"
    # Mixed in RGB: other ways to mix colours make a correlation of 0.05 look like one of 0.4.
    scale = alt.Scale(
        domain=[-1, 0, 1], range=[blue, colours.background, orange], interpolate="rgb"
    )
    tooltip = [alt.Tooltip("first:N"), alt.Tooltip("second:N")]
    tooltip.append(alt.Tooltip("correlation:Q", format=".3f"))
    squares = base.mark_rect(stroke=colours.grid, strokeWidth=0.5).encode(
        color=alt.Color("correlation:Q", title=None, scale=scale), tooltip=tooltip
    )
    step = max(14, min(46, (width - 200) // max(2, len(names))))
    texts = [base.mark_text(color=colours.text, fontSize=13, dy=1).encode(text="mark:N")]
    if step >= 34:
        texts = [
            base.mark_text(color=colours.text, fontSize=10).encode(text="shown:N"),
            base.mark_text(color=colours.text, fontSize=12, dy=12).encode(text="mark:N"),
        ]
    chart = alt.layer(squares, *texts).properties(width=alt.Step(step), height=alt.Step(step))
    lines = [
        *simulated_line(table),
        "blue: against each other · orange: together · dot: dependent (Holm, 5%)",
    ]
    return finished(chart, colours, "Correlations" if heading else None, lines)


def correlations_described(table: Table) -> str:
    """Return a description of the heat map, for those who do not see it."""
    names, rows = table.about.more["collected"]["attributes"], table.rows
    sure = [row for row in rows if row.holm]
    known = [row for row in sure if plain(row.smoothed_correlation) is not None]
    top = sorted(known, key=lambda row: -abs(row.smoothed_correlation))[:3]
    told = ", ".join(f"{r.first} with {r.second} {r.smoothed_correlation:+.2f}" for r in top)
    pairs = f"{len(sure)} of {plural(len(rows), 'pair')}"
    strongest = f" Strongest: {told}." if told else ""
    return (
        f"Correlations of {plural(len(names), 'attribute')}: {pairs} surely go together.{strongest}"
    )


def tree_described(table: Table) -> str:
    """Return a description of the tree, for those who do not see it."""
    names, first = table.about.more["collected"]["attributes"], table.rows[0]
    joined = f"{first.first} and {first.second}"
    return f"Tree that joins {plural(len(names), 'attribute')}; most is shared by {joined}."


def dependency_tree(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the tree from left to right; thick edges have much information, pale ones rivals."""
    alt, colours = altair(), theme_of(theme)
    places = layout(table)
    nodes = [{"x": x, "y": y, "name": shortened(name, 24)} for name, (x, y) in places.items()]
    lines = [
        {
            "x": places[row.first][0],
            "y": places[row.first][1],
            "x2": places[row.second][0],
            "y2": places[row.second][1],
            "information": row.information,
            "confidence": 1.0 if plain(row.confidence) is None else row.confidence,
            "pair": f"{shortened(row.first, 24)} - {shortened(row.second, 24)}",
        }
        for row in table.rows
    ]
    room = [min(x for x, _ in places.values()) - 0.2, max(x for x, _ in places.values()) + 0.9]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=room))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(zero=False, reverse=True))
    tooltip = [alt.Tooltip("pair:N"), alt.Tooltip("information:Q", format=".3g")]
    tooltip.append(alt.Tooltip("confidence:Q", format=".0%"))
    edges = alt.Chart(alt.Data(values=lines)).mark_rule(color="#3b63c4").encode(
        x=x,
        y=y,
        x2="x2:Q",
        y2="y2:Q",
        size=alt.Size("information:Q", legend=None, scale=alt.Scale(range=[1, 8])),
        opacity=alt.Opacity(
            "confidence:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0.3, 1])
        ),
        tooltip=tooltip,
    )  # fmt: skip
    base = alt.Chart(alt.Data(values=nodes)).encode(x=x, y=y)
    dots = base.mark_circle(size=70, color=colours.whisker, opacity=1)
    told_by = {"align": "left", "dx": 8, "dy": -10, "fontSize": 12}
    words = base.mark_text(color=colours.text, **told_by).encode(text="name:N")
    # Behind the words, in the background's colour: a name stays legible where it crosses a line.
    halo = base.mark_text(
        color=colours.background, stroke=colours.background, strokeWidth=4, **told_by
    ).encode(text="name:N")
    height = max(120, 30 * len({y for _, y in places.values()}))
    chart = alt.layer(edges, dots, halo, words).properties(width=width - 40, height=height)
    told = [
        *simulated_line(table),
        "thick: much mutual information · pale: another edge could be as good",
    ]
    return finished(chart, colours, "Dependency tree" if heading else None, told)


def layout(table: Table) -> dict[str, tuple[float, float]]:
    """Return where each attribute is drawn: depth to the right, each on a line of its own.

    The root is the attribute whose edges say most; children stand below their parent.
    """
    names, (order, parents) = table.about.more["collected"]["attributes"], rooted(table)
    depth = [0] * len(order)
    for place, parent in enumerate(parents[1:], 1):
        depth[place] = depth[parent] + 1
    tall = heights(parents)
    found = {name: (float(depth[i]), tall[i]) for i, name in enumerate(order)}
    return {name: found[name] for name in names}


def rooted(table: Table) -> tuple[list[str], list[int]]:
    """Return the attributes of a tree, parents before children, and the place of each one's parent.

    The root is the attribute whose edges say most; its parent is -1.
    """
    names = table.about.more["collected"]["attributes"]
    near: dict[str, list[str]] = {name: [] for name in names}
    weight = dict.fromkeys(names, 0.0)
    for row in table.rows:
        for one, other in ((row.first, row.second), (row.second, row.first)):
            near[one].append(other)
            weight[one] += row.information
    order, parents = [max(names, key=weight.__getitem__)], [-1]
    for place, name in enumerate(order):  # grows while it is read: parents before children
        for other in sorted(set(near[name]) - set(order), key=names.index):
            order.append(other)
            parents.append(place)
    return order, parents

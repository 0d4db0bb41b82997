"""Pictures of many attributes: a table's bars, the heat map of correlations, the tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deniable.marginals.correlation import Correlation
from deniable.marginals.independence import PairTest
from deniable.marginals.tree import Tree
from deniable.results.chart import FONT, THEMES, WIDE, Theme, altair
from deniable.results.labels import distinct, printable, shortened
from deniable.results.marginals_cells import CellRow

MOST_CELLS = 64
"""A bar chart shows so many cells."""
Pair = tuple[int, int]


def table_chart(
    cells: Sequence[CellRow], heading: Sequence[str], attackers: float | None = None
) -> Any:
    """Return a table's cells as bars (raw) with 95% intervals, and ticks (smoothed).

    Where a share of attackers is allowed for, a pale band behind each interval shows it.
    """
    alt, colours = altair(), THEMES["light"]
    labels = distinct([shortened(", ".join(cell.values.values()), 48) for cell in cells])
    rows = [_bar(cell, label) for cell, label in zip(cells, labels, strict=True)]
    shown = rows[:MOST_CELLS]
    y = alt.Y("label:N", title=", ".join(map(printable, cells[0].values)), sort=None)
    base = alt.Chart(alt.Data(values=shown)).encode(y=y)
    axis = alt.Axis(format="~%", tickCount=7)
    layers = [
        base.mark_bar(color=colours.visible).encode(x=alt.X("raw:Q", title="share", axis=axis)),
        *([] if attackers is None else [_band(base, colours)]),
        base.mark_rule(color=colours.whisker, strokeWidth=1.5).encode(
            x=alt.X("low:Q", title="share"), x2="high:Q"
        ),
        base.mark_tick(color=colours.truth, thickness=3, size=14).encode(x="smoothed:Q"),
    ]
    crafted = "" if attackers is None else f" · pale band: with {attackers:.3g} crafted reports"
    lines = ["bar: raw · whisker: 95% interval · orange tick: smoothed" + crafted]
    if len(rows) > MOST_CELLS:
        lines.append(f"the first {MOST_CELLS} of {len(rows):,} cells")
    chart = alt.layer(*layers).properties(width=WIDE, height=max(60, 22 * len(shown)))
    return _styled(chart, heading[-1], [heading[1], *lines], colours)


def _bar(cell: CellRow, label: str) -> dict[str, object]:
    """Return the data of one bar; a cell that could not be learned has a label and no bar."""
    learned = bool(np.isfinite(cell.raw))
    attacked_low, attacked_high = cell.attacked_interval or (None, None)
    return {
        "label": label,
        "raw": cell.raw if learned else None,
        "low": cell.low if learned else None,
        "high": cell.high if learned else None,
        "attacked_low": attacked_low,
        "attacked_high": attacked_high,
        "smoothed": cell.smoothed,
    }


def _band(base: Any, colours: Theme) -> Any:
    band = base.mark_rule(color=colours.truth, strokeWidth=7, opacity=0.3)
    return band.encode(x="attacked_low:Q", x2="attacked_high:Q")


def heat_chart(
    attributes: Sequence[str],
    correlations: Mapping[Pair, Correlation],
    tests: Sequence[PairTest],
    *,
    theme: str = "light",
    width: int = WIDE,
    heading: bool = True,
) -> Any:
    """Return the heat map of correlations; a dot marks pairs that are dependent by Holm.

    Edge cases: an attribute that is constant correlates with nothing: "n/a".
    """
    alt, colours = altair(), THEMES[theme]
    names = distinct([shortened(name, 24) for name in attributes])
    sure = {(test.first, test.second) for test in tests if test.holm}
    rows = []
    for (i, j), one in correlations.items():
        for first, second in ((i, j), (j, i)):
            rows.append(
                {
                    "first": names[first],
                    "second": names[second],
                    "correlation": one.value if np.isfinite(one.value) else None,
                    "shown": f"{one.value:.2f}" if np.isfinite(one.value) else "n/a",
                    "mark": "•" if (i, j) in sure else "",
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
    lines = ["blue: against each other · orange: together · dot: dependent (Holm, 5%)"]
    return _styled(chart, "Correlations" if heading else None, lines if heading else [], colours)


def tree_chart(tree: Tree, *, theme: str = "light", width: int = WIDE, heading: bool = True) -> Any:
    """Return the tree from left to right: thick lines say much, pale ones could be others."""
    alt, colours = altair(), THEMES[theme]
    places = layout(tree)
    names = [shortened(name, 24) for name in tree.attributes]
    nodes = [{"x": x, "y": y, "name": names[i]} for i, (x, y) in enumerate(places)]
    lines = [
        {
            "x": places[edge.first][0],
            "y": places[edge.first][1],
            "x2": places[edge.second][0],
            "y2": places[edge.second][1],
            "information": edge.information,
            "confidence": edge.confidence if np.isfinite(edge.confidence) else 1.0,
            "pair": f"{names[edge.first]} - {names[edge.second]}",
        }
        for edge in tree.edges
    ]
    room = [min(x for x, _ in places) - 0.2, max(x for x, _ in places) + 0.9]
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
    height = max(120, 30 * len({y for _, y in places}))
    chart = alt.layer(edges, dots, halo, words).properties(width=width - 40, height=height)
    told = ["thick: much mutual information · pale: another edge could be as good"]
    return _styled(chart, "Dependency tree" if heading else None, told if heading else [], colours)


def layout(tree: Tree) -> list[tuple[float, float]]:
    """Return where each attribute is drawn: depth to the right, leaves one below the other.

    The root is the attribute whose edges say most; a parent stands in the middle of its children.
    """
    weight = np.zeros(len(tree.attributes))
    for edge in tree.edges:
        weight[edge.first] += edge.information
        weight[edge.second] += edge.information
    order = tree.order(int(np.argmax(weight)))
    parent = dict(order)
    children: dict[int, list[int]] = {i: [] for i in range(len(tree.attributes))}
    depth: dict[int, int] = {}
    for place, above in order:
        depth[place] = 0 if above is None else depth[above] + 1
        if above is not None:
            children[above].append(place)
    height: dict[int, float] = {}
    leaves = 0
    for place in _depth_first(order[0][0], children):
        if not children[place]:
            height[place], leaves = float(leaves), leaves + 1
    for place, _ in reversed(order):
        if children[place]:
            height[place] = float(np.mean([height[child] for child in children[place]]))
    return [(float(depth[i]), height[i]) for i in range(len(parent))]


def _depth_first(root: int, children: Mapping[int, list[int]]) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        place = waiting.pop()
        found.append(place)
        waiting.extend(reversed(children[place]))
    return found


def _styled(chart: Any, title: str | None, lines: Sequence[str], colours: Theme) -> Any:
    alt = altair()
    if title is not None:
        subtitle = [printable(line) for line in lines]
        chart = chart.properties(title=alt.TitleParams(text=printable(title), subtitle=subtitle))
    return (
        chart.properties(background=colours.background, padding=14)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=colours.text, titleColor=colours.muted, gridColor=colours.grid,
            labelLimit=0, labelFontSize=12, titleFontSize=12, titleFontWeight="normal",
        )
        .configure_legend(labelColor=colours.text, titleColor=colours.muted)
        .configure_title(
            anchor="start", color=colours.text, subtitleColor=colours.muted, fontSize=16,
            subtitleFontSize=12, subtitlePadding=6, offset=16,
        )
    )  # fmt: skip

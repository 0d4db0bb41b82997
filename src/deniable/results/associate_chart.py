"""An association as a picture: a heat map of two fields, with the interval in every cell.

Colour is the share of people with both answers. An orange frame and an arrow upwards mark two
answers that go together more often than by chance, a grey frame and an arrow downwards less often:
the 95% interval of their odds ratio leaves out 1. Where the test finds no dependence nothing is
marked: one interval in twenty leaves out 1 by chance. More than two fields are drawn pair by pair.
"""

from __future__ import annotations

from typing import Any

from deniable.associate import Joint, odds_ratios
from deniable.errors import InvalidParameter, MissingExtra
from deniable.results.associate_pairs import pairs_of
from deniable.results.associate_result import ALPHA, Association, Cell, cells_of
from deniable.results.chart import FONT, THEMES, WIDE, Theme
from deniable.results.labels import distinct, shortened
from deniable.results.simulated import reports_text

MOST_LABELS = 40
"""So many answers of a field are drawn; the table has the rest."""
MOST_PAIRS = 6
ROW_HEIGHT = 42
TEXT_ROOM = 62
"""A narrower cell has no room for its numbers; the tooltip and the table have them."""
RAMPS = {"light": ("#f1f4fd", "#3b63c4"), "dark": ("#1c2331", "#6f8fec")}
INKS = {"light": ("#1c2430", "#ffffff"), "dark": ("#e8ecf2", "#0d1017")}
ATTACKED = ("attacked_low", "attacked_high")
ARROWS = {"more": " ↑", "less": " ↓", "none": ""}
KEY = (
    "colour and number: share of people with both answers, 95% interval below · "
    "↑ orange frame: more often together than by chance · ↓ grey frame: less often"
)


def association_chart(
    association: Association, *, theme: str = "light", width: int = WIDE, heading: bool = True
) -> Any:
    """Return the heat map of an association, one under the other for more than two fields.

    Args:
        association: what to draw.
        theme: "light" or "dark".
        width: of the whole picture, in pixels.
        heading: whether the picture says itself what was asked, of how many and at what epsilon.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    if theme not in THEMES:
        raise InvalidParameter(f"A chart's theme must be one of {', '.join(THEMES)}.")
    try:
        import altair as alt
    except ImportError:
        raise MissingExtra("analysis", "A chart") from None
    tables = pairs_of(association.joint)[:MOST_PAIRS]
    found = {pair.names for pair in association.pairs if pair.holm < ALPHA}
    maps = [
        _heat(alt, table, association.cells_of_pair(table), theme, width, table.names in found)
        for table in tables
    ]
    drawn = maps[0]
    if len(maps) > 1:
        drawn = alt.vconcat(*maps, spacing=28).resolve_scale(color="independent")
    colours = THEMES[theme]
    drawn = drawn.properties(padding=14, background=colours.background)
    if heading:
        drawn = drawn.properties(title=_title(alt, association, width))
    return _configured(drawn, colours)


def association_described(association: Association) -> str:
    """Return what the heat map shows, for those who do not see it."""
    top = sorted(association.cells, key=lambda cell: -cell.probability)[:3]
    largest = ", ".join(
        f"{' with '.join(shortened(v, 30) for v in cell.values)} {100 * cell.probability:.1f}%"
        for cell in top
    )
    reports = reports_text(association.n, association.simulated)
    return (
        f"Heat map of the shares of {len(association.cells)} combinations of "
        f"{' and '.join(association.fields)} with 95% intervals, from {reports}. "
        f"Largest: {largest}."
    )


def _heat(
    alt: Any, table: Joint, cells: tuple[Cell, ...], theme: str, width: int, marked: bool
) -> Any:
    rows = distinct([shortened(v, max(12, width // 26)) for v in table.labels[0][:MOST_LABELS]])
    room = max(8, width // (8 * (len(table.labels[1]) + 2)))
    columns = distinct([shortened(v, max(8, room)) for v in table.labels[1][:MOST_LABELS]])
    cell = (width - 180) / max(1, len(columns))
    base = alt.Chart(alt.Data(values=_data(table, cells, rows, columns, marked))).encode(
        x=alt.X(
            "x:N",
            title=table.names[1],
            sort=None,
            scale=alt.Scale(domain=columns, paddingInner=0.04, paddingOuter=0.02),
            axis=alt.Axis(orient="top", labelAngle=0 if cell > 70 else -45),
        ),
        y=alt.Y(
            "y:N",
            title=table.names[0],
            sort=None,
            scale=alt.Scale(domain=rows, paddingInner=0.04, paddingOuter=0.02),
        ),
    )
    layers = [_squares(alt, base, theme, attacked=cells[0].attacked_interval is not None)]
    if cell >= TEXT_ROOM:
        layers += _numbers(alt, base, theme)
    return alt.layer(*layers).properties(
        width=max(120, width - 180), height=max(60, ROW_HEIGHT * len(rows))
    )


def _data(
    table: Joint, every: tuple[Cell, ...], rows: list[str], columns: list[str], marked: bool
) -> list[dict[str, object]]:
    """Return the chart's data; labels are printable, numbers finite or None."""
    odds = {cell.values: cell for cell in cells_of(odds_ratios(table))}
    place = [dict(zip(table.labels[i], names, strict=False))
             for i, names in enumerate((rows, columns))]  # fmt: skip
    cells = [c for c in every if c.values[0] in place[0] and c.values[1] in place[1]]
    most = max((cell.probability for cell in cells), default=1.0) or 1.0
    data: list[dict[str, object]] = []
    for cell in cells:
        frame = _frame(odds[cell.values]) if marked else "none"
        low, high = cell.interval if cell.learned else (None, None)
        data.append(
            {
                "y": place[0][cell.values[0]],
                "x": place[1][cell.values[1]],
                "probability": cell.probability,
                "low": low,
                "high": high,
                "share": f"{100 * cell.probability:.1f}%{ARROWS[frame]}",
                "interval": f"{100 * low:.1f} to {100 * high:.1f}"
                if low is not None and high is not None
                else "",
                "frame": frame,
                **dict(zip(ATTACKED, cell.attacked_interval or (), strict=False)),
                "deep": bool(cell.probability > 0.72 * most),
            }
        )  # fmt: skip
    return data


def _frame(ratio: Cell) -> str:
    """Return whether two answers go together more or less often than by chance, or neither."""
    if not ratio.learned or ratio.interval[0] <= 1 <= ratio.interval[1]:
        return "none"
    return "more" if ratio.interval[0] > 1 else "less"


def _squares(alt: Any, base: Any, theme: str, *, attacked: bool) -> Any:
    colours = THEMES[theme]
    scale = alt.Scale(range=list(RAMPS[theme]), domainMin=0)
    frames = alt.Scale(
        domain=list(ARROWS), range=[colours.truth, colours.muted, "rgba(0, 0, 0, 0)"]
    )
    names = ("probability", "low", "high", *(ATTACKED if attacked else ()))
    numbers = [alt.Tooltip(f"{name}:Q", format=".3%") for name in names]
    return base.mark_rect(cornerRadius=3, strokeWidth=2).encode(
        color=alt.Color("probability:Q", scale=scale, legend=None),
        stroke=alt.Stroke("frame:N", scale=frames, legend=None),
        tooltip=[alt.Tooltip("y:N", title="first"), alt.Tooltip("x:N", title="second"), *numbers],
    )


def _numbers(alt: Any, base: Any, theme: str) -> list[Any]:
    faint, deep = INKS[theme]
    ink = alt.condition(alt.datum.deep, alt.value(deep), alt.value(faint))
    return [
        base.mark_text(fontSize=13, fontWeight="bold", dy=-7).encode(text="share:N", color=ink),
        base.mark_text(fontSize=10.5, dy=9).encode(text="interval:N", color=ink),
    ]


def _title(alt: Any, association: Association, width: int) -> Any:
    name = f"{association.question} · {', '.join(association.fields)}"
    reports = reports_text(association.n, association.simulated)
    lines = [
        f"n = {reports} · epsilon {association.epsilon_once:.3g} once, these fields together",
        *KEY.split(" · "),
    ]
    return alt.TitleParams(text=shortened(name, width // 10), subtitle=lines)


def _configured(drawn: Any, colours: Theme) -> Any:
    return (
        drawn.configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=colours.text,
            titleColor=colours.muted,
            domain=False,
            ticks=False,
            grid=False,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=10,
            labelLimit=0,
        )
        .configure_title(
            anchor="start",
            color=colours.text,
            subtitleColor=colours.muted,
            fontSize=16,
            subtitleFontSize=12,
            subtitlePadding=6,
            offset=16,
            limit=0,
        )
    )

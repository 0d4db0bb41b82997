"""A result as a picture: one Altair definition for notebook, PNG, SVG and page.

Bars are estimates, whiskers their 95% intervals, ticks the truth where it is known. An answer
that was not found is grey.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidParameter, MissingExtra
from deniable.protocol.survey import PLAIN_FIELD
from deniable.results.labels import columns, distinct, shortened
from deniable.results.result import Result, Row
from deniable.results.simulated import reports_text

if TYPE_CHECKING:
    from altair import LayerChart

MOST_ROWS = 30
"""So many of the most frequent answers are drawn; the table has the rest."""
MOST_ORDERED_ROWS = 60
"""Bins of numbers are neighbours, so more of them are drawn before some are left out."""
WIDE = 760
VISIBLE, HIDDEN = "stands out from zero", "not enough evidence"
LABEL_COLUMN = 6.8
"""Pixels per column of a label: a wide font such as DejaVu or Verdana at 12 pixels."""
FONT = "Liberation Sans, Arial, Helvetica Neue, Helvetica, sans-serif"


@dataclass(frozen=True)
class Theme:
    """The colours of a chart."""

    background: str
    text: str
    muted: str
    grid: str
    visible: str
    hidden: str
    whisker: str
    truth: str


THEMES = {
    "light": Theme(
        background="#ffffff",
        text="#1c2430",
        muted="#5b6675",
        grid="#e6e9ee",
        visible="#7c9cf0",
        hidden="#c9d0da",
        whisker="#26355f",
        truth="#d9480f",
    ),
    "dark": Theme(
        background="#171c26",
        text="#e8ecf2",
        muted="#9aa5b5",
        grid="#2b3340",
        visible="#5577d8",
        hidden="#4a5466",
        whisker="#d6e0ff",
        truth="#ff922b",
    ),
}


def chart(
    result: Result, *, theme: str = "light", width: int = WIDE, heading: bool = True
) -> LayerChart:
    """Return the chart of a result.

    Args:
        result: what to draw; of many answers the most frequent ones, with a line that says so.
        theme: "light" or "dark".
        width: of the whole picture, labels included, in pixels.
        heading: whether the picture says itself what was asked, of how many and at what epsilon.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt = altair()
    if theme not in THEMES:
        raise InvalidParameter(f"A chart's theme must be one of {', '.join(THEMES)}.")
    colours, shown = THEMES[theme], shown_rows(result)
    labels = distinct([shortened(row.value, max(14, width // 22)) for row in shown])
    base = alt.Chart(alt.Data(values=_data(shown, labels))).encode(y=_answers(alt, labels))
    share = _Share(alt, width)
    layers = [_bars(alt, base, share, colours), _zero(alt, colours)]
    if result.attackers is not None:
        layers.append(_attacked(base, share, colours))
    layers += _whiskers(base, share, colours)
    if any(row.truth is not None for row in shown):
        layers.append(_truth(alt, base, share, colours))
    step = 26 if len(shown) <= MOST_ROWS else 16
    layered = alt.layer(*layers).properties(
        width=width,
        height=max(60, step * len(shown)),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        padding=14,
        background=colours.background,
    )
    if heading:
        layered = layered.properties(title=_title(alt, result, width))
    configured: LayerChart = _configure(layered, colours)
    return configured


def shown_rows(result: Result) -> tuple[Row, ...]:
    """Return the rows that are drawn: all, or the most frequent, in the result's order."""
    most = MOST_ORDERED_ROWS if result.ordered else MOST_ROWS
    if len(result.rows) <= most:
        return result.rows
    by_share = sorted(
        range(len(result.rows)),
        key=lambda i: -result.rows[i].frequency if result.rows[i].learned else float("inf"),
    )
    return tuple(result.rows[i] for i in sorted(by_share[:most]))


def described(result: Result) -> str:
    """Return what the chart shows, for those who do not see it."""
    shown = shown_rows(result)
    top = sorted((row for row in shown if row.stands_out), key=lambda row: -row.frequency)[:3]
    largest = ", ".join(f"{shortened(r.value, 40)} {100 * r.frequency:.1f}%" for r in top)
    reports = reports_text(result.n, result.simulated)
    return (
        f"Bar chart of {len(shown)} estimated shares with 95% intervals from {reports}. "
        + (f"Largest: {largest}. " if top else "No answer stands out from zero. ")
        + "The table below has every number."
    )


def altair() -> Any:
    """Return the Altair module, else raise MissingExtra."""
    try:
        import altair
    except ImportError:
        raise MissingExtra("analysis", "A chart") from None
    return altair


def _data(rows: tuple[Row, ...], labels: list[str]) -> list[dict[str, object]]:
    """Return the chart's data; a row that cannot be learned has a label and no numbers."""
    return [
        {
            "label": label,
            "value": shortened(row.value, 200),
            "frequency": row.frequency if row.learned else None,
            "std_error": row.std_error if row.learned else None,
            "low": row.interval[0] if row.learned else None,
            "high": row.interval[1] if row.learned else None,
            "attacked_low": row.attacked_interval[0] if row.attacked_interval else None,
            "attacked_high": row.attacked_interval[1] if row.attacked_interval else None,
            "kind": VISIBLE if row.stands_out else HIDDEN,
            "truth": row.truth,
        }
        for label, row in zip(labels, rows, strict=True)
    ]


def _answers(alt: Any, labels: list[str]) -> Any:
    # The room for labels is given by their columns, not by the renderer's font: the reader's
    # browser may have a wider one, and would cut off their beginnings.
    room = 12 + LABEL_COLUMN * max(columns(label) for label in labels) if labels else 0
    return alt.Y(
        "label:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=labels, padding=0.35),
        axis=alt.Axis(minExtent=room, maxExtent=room),
    )


class _Share:
    """Makes the horizontal encoding of every layer alike."""

    def __init__(self, alt: Any, width: int) -> None:
        self._alt = alt
        self._ticks = 7 if width > 500 else 4

    def __call__(self, field: str) -> Any:
        axis = self._alt.Axis(
            format="~%", tickCount=self._ticks, domain=False, ticks=False, labelPadding=8
        )
        scale = self._alt.Scale(nice=False, padding=8)
        return self._alt.X(f"{field}:Q", title="share of reports", axis=axis, scale=scale)


def _bars(alt: Any, base: Any, share: _Share, colours: Theme) -> Any:
    scale = alt.Scale(domain=[VISIBLE, HIDDEN], range=[colours.visible, colours.hidden])
    numbers = [alt.Tooltip(f"{name}:Q", format=".3%") for name in ("frequency", "low", "high")]
    return base.mark_bar(cornerRadiusEnd=2).encode(
        x=share("frequency"),
        color=alt.Color("kind:N", scale=scale, legend=None),
        tooltip=[alt.Tooltip("value:N"), *numbers],
    )


def _zero(alt: Any, colours: Theme) -> Any:
    zero = alt.Chart(alt.Data(values=[{"zero": 0}]))
    return zero.mark_rule(color=colours.muted, strokeWidth=1).encode(x=alt.X("zero:Q"))


def _whiskers(base: Any, share: _Share, colours: Theme) -> list[Any]:
    line = base.mark_rule(color=colours.whisker, strokeWidth=1.5)
    cap = base.mark_tick(color=colours.whisker, thickness=1.5, size=8, opacity=1)
    return [
        line.encode(x=share("low"), x2="high:Q"),
        cap.encode(x=share("low")),
        cap.encode(x=share("high")),
    ]


def _attacked(base: Any, share: _Share, colours: Theme) -> Any:
    band = base.mark_rule(color=colours.truth, strokeWidth=7, opacity=0.3)
    return band.encode(x=share("attacked_low"), x2="attacked_high:Q")


def _truth(alt: Any, base: Any, share: _Share, colours: Theme) -> Any:
    return base.mark_tick(color=colours.truth, thickness=3, size=17, opacity=1).encode(
        x=share("truth"), tooltip=[alt.Tooltip("truth:Q", format=".3%")]
    )


def key_lines(result: Result) -> list[str]:
    """Return what the marks of the chart mean, and which rows are drawn."""
    shown = shown_rows(result)
    marks = ["bar: estimate", "whisker: 95% interval"]
    if any(not row.stands_out for row in shown):
        marks.append("grey: not enough evidence")
    if result.attackers is not None:
        marks.append(f"pale band: with {result.attackers:.3g} crafted reports")
    if any(row.truth is not None for row in shown):
        marks.append("orange tick: truth")
    lines = [" · ".join(marks)]
    if len(shown) < len(result.rows):
        lines.append(f"the {len(shown)} most frequent of {len(result.rows):,} answers")
    return lines


def _title(alt: Any, result: Result, width: int) -> Any:
    name = result.question if result.field == PLAIN_FIELD else f"{result.question} · {result.field}"
    forever = "" if result.epsilon_forever is None else f", {result.epsilon_forever:.3g} for ever"
    reports = reports_text(result.n, result.simulated)
    lines = [
        f"n = {reports} · epsilon {result.epsilon_once:.3g} once{forever}",
        *key_lines(result),
    ]
    wrapped = [part for line in lines for part in textwrap.wrap(line, max(20, width // 7))]
    return alt.TitleParams(text=shortened(name, width // 10), subtitle=wrapped)


def _configure(layered: Any, colours: Theme) -> Any:
    return (
        layered.configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=colours.text,
            titleColor=colours.muted,
            gridColor=colours.grid,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
            titlePadding=10,
        )
        # No limit: Vega would cut a label in the middle of a character outside the basic plane,
        # and the renderer refuses the half that is left. `shortened` cuts them instead.
        .configure_axisY(labelLimit=0, ticks=False, domain=False, grid=False, labelPadding=10)
        .configure_title(
            anchor="start",
            color=colours.text,
            subtitleColor=colours.muted,
            fontSize=16,
            fontWeight="bold",
            subtitleFontSize=12,
            subtitlePadding=6,
            offset=16,
            limit=0,
        )
    )

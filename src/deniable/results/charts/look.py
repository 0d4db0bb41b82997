"""The look that all pictures share: colours, fonts, titles."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deniable._words import epsilon_text
from deniable.errors import InvalidParameter, MissingExtra
from deniable.protocol.question import PLAIN_FIELD
from deniable.results.labels import printable, shortened
from deniable.results.table.table import Table

WIDE = 760
FONT = "Liberation Sans, Arial, Helvetica Neue, Helvetica, sans-serif"
COLOURS = ("#3b63c4", "#d9480f", "#2b8a3e", "#862e9c", "#b08900", "#0b7285", "#495057")
"""The colours of the series of a chart, in this order."""


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
    ramp: tuple[str, str]
    inks: tuple[str, str]


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
        ramp=("#f1f4fd", "#3b63c4"),
        inks=("#1c2430", "#ffffff"),
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
        ramp=("#1c2331", "#6f8fec"),
        inks=("#e8ecf2", "#0d1017"),
    ),
}
LOOK = THEMES["light"]


def altair() -> Any:
    """Return the Altair module.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise MissingExtra("analysis", "A chart") from None
    return alt


def theme_of(name: str) -> Theme:
    """Return the colours of a theme, else raise InvalidParameter."""
    if name not in THEMES:
        raise InvalidParameter(f"A chart's theme must be one of {', '.join(THEMES)}.")
    return THEMES[name]


def data_of(rows: Sequence[Any]) -> Any:
    """Return rows as the data of a chart, written into its definition."""
    return altair().Data(values=[dict(row) for row in rows])


def colours(names: Sequence[str]) -> Any:
    """Return a scale that gives the named series the colours of this project, in order."""
    alt = altair()
    return alt.Scale(domain=list(names), range=[COLOURS[i % 7] for i in range(len(names))])


def titled(table: Table, width: int, *lines: str) -> tuple[str, list[str]]:
    """Return the title of a table's picture and the lines below it, cut to its width."""
    about = table.about
    named = "" if about.field == PLAIN_FIELD else about.field
    name = " · ".join(part for part in (about.question, named) if part)
    forever = (
        "" if about.epsilon_forever is None else f", {epsilon_text(about.epsilon_forever)} for ever"
    )
    first = f"n = {about.reports} · epsilon {epsilon_text(about.epsilon_once)} once{forever}"
    told = [first, *lines] if about.question else list(lines)
    wrapped = [part for line in told for part in textwrap.wrap(line, max(20, width // 7))]
    return shortened(name, width // 10), wrapped


def simulated_line(table: Table) -> list[str]:
    """Return a line that says that reports are simulated, where some are."""
    return [table.about.reports] if table.about.simulated else []


def styled(chart: Any, title: str, *subtitle: str) -> Any:
    """Return a chart of lines and dots with its title and the common look."""
    return finished(chart, LOOK, title, subtitle, labelLimit=180)


def finished(
    chart: Any, colours: Theme, title: str | None = None, lines: Sequence[str] = (), **axis: Any
) -> Any:
    """Return the chart in the common look, with a title if it has one."""
    if title is not None:
        subtitle = [printable(line) for line in lines]
        told = altair().TitleParams(text=printable(title), subtitle=subtitle)
        chart = chart.properties(title=told)
    # No limit: Vega would cut a label in the middle of a character outside the basic plane,
    # and the renderer refuses the half that is left. `shortened` cuts them instead.
    axes = {"labelLimit": 0, "labelFontSize": 12, "titleFontSize": 12, **axis}
    return (
        chart.properties(background=colours.background, padding=14)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=colours.text,
            titleColor=colours.muted,
            gridColor=colours.grid,
            titleFontWeight="normal",
            **axes,
        )
        .configure_legend(
            labelLimit=0,
            titleFontWeight="normal",
            labelColor=colours.text,
            titleColor=colours.muted,
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

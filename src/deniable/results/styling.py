"""The look that all charts of lines and dots share: figures of papers, and audits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.errors import MissingExtra
from deniable.results.chart import FONT, THEMES

LOOK = THEMES["light"]
COLOURS = ("#3b63c4", "#d9480f", "#2b8a3e", "#862e9c", "#b08900", "#0b7285", "#495057")
"""Of the series of a chart, in this order."""


def altair() -> Any:
    """Return the Altair module.

    Raises:
        MissingExtra: if it is not installed.
    """
    try:
        import altair as alt
    except ImportError:
        raise MissingExtra("analysis", "A figure") from None
    return alt


def data_of(rows: Sequence[Any]) -> Any:
    """Return rows as the data of a chart, written into its definition."""
    return altair().Data(values=[dict(row) for row in rows])


def colours(names: Sequence[str]) -> Any:
    """Return a scale that gives the named series the colours of this project, in order."""
    alt = altair()
    return alt.Scale(domain=list(names), range=[COLOURS[i % 7] for i in range(len(names))])


def styled(chart: Any, title: str, *subtitle: str) -> Any:
    """Return the chart with its title and the common look."""
    alt = altair()
    return (
        chart.properties(
            title=alt.TitleParams(text=title, subtitle=list(subtitle)),
            background=LOOK.background,
            padding=14,
        )
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=LOOK.text,
            titleColor=LOOK.muted,
            gridColor=LOOK.grid,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
        )
        .configure_legend(labelLimit=0, titleFontWeight="normal", titleColor=LOOK.muted)
        .configure_title(
            anchor="start",
            color=LOOK.text,
            subtitleColor=LOOK.muted,
            fontSize=16,
            subtitleFontSize=12,
            subtitlePadding=6,
            offset=16,
        )
    )

"""Shares as bars: one definition for notebook, PNG, SVG and page.

Bars are the first share of a table, whiskers its 95% intervals, pale bands the intervals that allow
for crafted reports, ticks another share (the truth where it is known, or the smoothed one). An
answer that was not found is grey.
"""

from __future__ import annotations

from typing import Any

from deniable.results.charts.look import Theme, altair, finished, theme_of, titled
from deniable.results.labels import columns, distinct, shortened
from deniable.results.table.columns import Column, Row, plain
from deniable.results.table.table import Table

_MOST_ROWS = 30
"""The number of answers that are drawn, the most frequent first; the table has the rest."""
_MOST_ORDERED_ROWS = 60
"""Bins of numbers are neighbours, so more of them are drawn before some are left out."""
ORDERED_DOMAINS = frozenset({"boolean", "numbers", "profile"})
"""Domains whose answers have an order of their own; the others are shown by frequency."""
_VISIBLE, _HIDDEN = "stands out from zero", "not enough evidence"
SHARE = "share of people"
"""The title of an axis of shares, wherever there is one."""
_LABEL_COLUMN = 6.8
"""Pixels per column of a label: a wide font such as DejaVu or Verdana at 12 pixels."""


def bars(table: Table, *, theme: str, width: int, heading: bool) -> Any:
    """Return the picture of shares; of many answers the most frequent, with a line that says so.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt, colours, shown = altair(), theme_of(theme), shown_rows(table)
    labels = distinct([shortened(_label(table, row), max(14, width // 22)) for row in shown])
    data = alt.Data(values=_data(table, shown, labels))
    base = alt.Chart(data).encode(y=_answers(alt, labels))
    compared = table.about.kind == "comparison"
    share = _Share(alt, width, "difference in the share of people" if compared else SHARE)
    layers = [_bars(alt, base, share, colours), _zero(alt, colours)]
    if _second(table) is not None:
        band = base.mark_rule(color=colours.truth, strokeWidth=7, opacity=0.3)
        layers.append(band.encode(x=share("second_low"), x2="second_high:Q"))
    layers += _whiskers(base, share, colours)
    if _tick(table) is not None:
        mark = base.mark_tick(color=colours.truth, thickness=3, size=17, opacity=1)
        told = alt.Tooltip("tick:Q", format=".3%")
        layers.append(mark.encode(x=share("tick"), tooltip=[told]))
    layered = alt.layer(*layers).properties(
        width=width,
        height=max(60, (26 if len(shown) <= _MOST_ROWS else 16) * len(shown)),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
    )
    lines = (*table.about.what, *key_lines(table))
    title = titled(table, width, *lines) if heading else (None, [])
    return finished(layered, colours, *title, titlePadding=10)


def shown_rows(table: Table) -> tuple[Row, ...]:
    """Return the rows that are drawn: all, or the most frequent, in the table's order."""
    most = _MOST_ORDERED_ROWS if table.about.domain in ORDERED_DOMAINS else _MOST_ROWS
    if len(table.rows) <= most:
        return table.rows
    share = table.columns.main[0] or ""
    rows = table.rows
    by_share = sorted(
        range(len(rows)), key=lambda i: -rows[i][share] if rows[i].learned else float("inf")
    )
    return tuple(rows[i] for i in sorted(by_share[:most]))


def described(table: Table) -> str:
    """Return a description of the chart, for those who do not see it."""
    shown, share = shown_rows(table), table.columns.main[0] or ""
    top = sorted((row for row in shown if row.stands_out), key=lambda row: -row[share])[:3]
    largest = ", ".join(f"{shortened(_label(table, r), 40)} {100 * r[share]:.1f}%" for r in top)
    return (
        f"Bar chart of {len(shown)} estimated shares with {table.about.intervals}s from "
        f"{table.about.reports}. "
        + (f"Largest: {largest}. " if top else "No answer stands out from zero. ")
        + "The table below has every number."
    )


def key_lines(table: Table) -> list[str]:
    """Return the key of the chart: the meaning of its marks, and the rows that are drawn."""
    shown, tick = shown_rows(table), _tick(table)
    of = f" of the {table.about.of}" if table.about.of else ""
    marks = ["bar: estimate", f"whisker: {table.about.intervals}{of}"]
    if any(not row.stands_out for row in shown):
        marks.append("grey: not enough evidence")
    if _second(table) is not None:
        marks.append(f"pale band: with {table.about.crafted:.3g} crafted reports")
    if tick is not None:
        marks.append(f"orange tick: {tick.title}")
    lines = [" · ".join(marks)]
    if len(shown) < len(table.rows):
        lines.append(f"the {len(shown)} most frequent of {len(table.rows):,} answers")
    return lines


def caption(table: Table) -> str:
    """Return the key as one line, for a page."""
    return "; ".join(key_lines(table))


def _label(table: Table, row: Row) -> str:
    return ", ".join(str(row[column.name]) for column in table.columns.labels)


def _second(table: Table) -> Column | None:
    found = table.columns.of("second_interval")
    return found[0] if found and table.about.crafted is not None else None


def _tick(table: Table) -> Column | None:
    ticks = (column for column in table.columns.of("share") if column.tick and column.title)
    return next(ticks, None)


def _data(table: Table, rows: tuple[Row, ...], labels: list[str]) -> list[dict[str, object]]:
    """Return the chart's data; a row that nothing was learned about has a label and no numbers."""
    share, error, interval, _ = table.columns.main
    second, tick = _second(table), _tick(table)
    found = []
    for label, row in zip(labels, rows, strict=True):
        low, high = row[interval or ""] if row.drawn else (None, None)
        ends = (row[second.name] if second is not None else None) or (None, None)
        found.append(
            {
                "label": label,
                "value": shortened(_label(table, row), 200),
                "share": row[share or ""] if row.drawn else None,
                "std_error": row[error or ""] if row.drawn else None,
                "low": low,
                "high": high,
                "second_low": plain(ends[0]),
                "second_high": plain(ends[1]),
                "kind": _VISIBLE if row.stands_out else _HIDDEN,
                "tick": None if tick is None else plain(row[tick.name]),
            }
        )
    return found


def _answers(alt: Any, labels: list[str]) -> Any:
    # The room for labels is given by their columns, not by the renderer's font: the reader's
    # browser may have a wider one, and would cut off their beginnings.
    room = 12 + _LABEL_COLUMN * max(columns(label) for label in labels) if labels else 0
    bare: dict[str, Any] = {"ticks": False, "domain": False, "grid": False, "labelPadding": 10}
    return alt.Y(
        "label:N",
        title=None,
        sort=None,
        scale=alt.Scale(domain=labels, padding=0.35),
        axis=alt.Axis(minExtent=room, maxExtent=room, **bare),
    )


class _Share:
    """Makes the horizontal encoding of every layer alike."""

    def __init__(self, alt: Any, width: int, title: str) -> None:
        self._alt, self._title = alt, title
        self._ticks = 7 if width > 500 else 4

    def __call__(self, field: str) -> Any:
        axis = self._alt.Axis(
            format="~%", tickCount=self._ticks, domain=False, ticks=False, labelPadding=8
        )
        scale = self._alt.Scale(nice=False, padding=8)
        return self._alt.X(f"{field}:Q", title=self._title, axis=axis, scale=scale)


def _bars(alt: Any, base: Any, share: _Share, colours: Theme) -> Any:
    scale = alt.Scale(domain=[_VISIBLE, _HIDDEN], range=[colours.visible, colours.hidden])
    numbers = [alt.Tooltip(f"{name}:Q", format=".3%") for name in ("share", "low", "high")]
    return base.mark_bar(cornerRadiusEnd=2).encode(
        x=share("share"),
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

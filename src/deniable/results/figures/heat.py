"""Heat maps as tables: colour, number and arrow in every cell, at any width."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.results.charts.heat_map import ARROWS, direction
from deniable.results.figures.marks import described, grouped, text
from deniable.results.labels import shortened
from deniable.results.table.columns import Row
from deniable.results.table.table import Table

_MOST_LABELS = 40
_MOST_PAIRS = 6
_SHADES = 7
"""The number of shades of the page's style, h0 to h6, and of each sign m and p."""
_ROOM = 28


def association_figure(table: Table) -> str:
    """Return the heat map of two fields; of more, those of the pairs, one below the other."""
    if len(table.columns.labels) == 2:
        return grouped(described(table), _pair(table), "heats")
    parts = [part for part in table.parts.values() if part.about.kind == table.about.kind]
    inside = [_pair(part) for part in parts[:_MOST_PAIRS]]
    return grouped(described(table), "\n".join(inside), "heats")


def _pair(table: Table) -> str:
    one, two = (column.name for column in table.columns.labels)
    down, across = (list(dict.fromkeys(table.column(n)))[:_MOST_LABELS] for n in (one, two))
    cells = {(row[one], row[two]): row for row in table.rows}
    most = max((row.probability for row in table.rows), default=1.0) or 1.0
    told = bool(table.about.more["dependent"])
    body = [
        [_share(cells.get((first, second)), most, marked=told) for second in across]
        for first in down
    ]
    return heat_table(f"{one} and {two}", down, across, body)


def _share(row: Row | None, most: float, *, marked: bool) -> tuple[str, str]:
    if row is None or not math.isfinite(row.probability):
        return "", "n/a"
    shade = min(_SHADES - 1, int(_SHADES * max(0.0, row.probability) / most))
    which = direction(row) if marked else "none"
    low, high = row.interval
    ends = f"{100 * low:.1f} to {100 * high:.1f}" if math.isfinite(low) else ""
    number = f"<b>{100 * row.probability:.1f}%{ARROWS[which]}</b>"
    return f"h{shade} {which}", f"{number}<small>{ends}</small>"


def correlation_figure(table: Table) -> str:
    """Return the heat map of correlations: their sign by colour and number, a dot if dependent."""
    names = list(table.about.more["collected"]["attributes"])
    cells: dict[tuple[str, str], tuple[str, str]] = {}
    for row in table.rows:
        value = row.smoothed_correlation
        known = value is not None and math.isfinite(value)
        shade = min(_SHADES - 1, int(_SHADES * abs(value))) if known else 0
        mark = " •" if row.holm else ""
        told = f"<b>{value:+.2f}{mark}</b>" if known else "n/a"
        cells[row.first, row.second] = cells[row.second, row.first] = (
            f"{'m' if known and value < 0 else 'p'}{shade}",
            told,
        )
    body = [[cells.get((first, second), ("", "")) for second in names] for first in names]
    return grouped(described(table), heat_table("Correlations", names, names, body), "heats")


def heat_table(
    name: str,
    down: Sequence[str],
    across: Sequence[str],
    cells: Sequence[Sequence[tuple[str, str]]],
) -> str:
    """Return a table of coloured cells, each a class and its HTML, in a region that scrolls."""
    head = "".join(f'<th scope="col">{_label(one)}</th>' for one in across)
    rows = "\n".join(
        f'<tr><th scope="row">{_label(one)}</th>'
        + "".join(f'<td class="{look}">{inside}</td>' for look, inside in line)
        + "</tr>"
        for one, line in zip(down, cells, strict=True)
    )
    return (
        f'<div class="scroll" role="region" aria-label="{text(name)}" tabindex="0">\n'
        f'<table class="heat">\n<caption>{text(name)}</caption>\n'
        f"<thead>\n<tr><td></td>{head}</tr>\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _label(words: str) -> str:
    return text(shortened(str(words), _ROOM))

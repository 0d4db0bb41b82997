"""A table as text, for a terminal; and every cell as people read it, which pages share."""

from __future__ import annotations

import importlib.util
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from statistics import median
from typing import TYPE_CHECKING, Any

from deniable._words import epsilon_text, plural
from deniable.protocol.question import PLAIN_FIELD
from deniable.results.labels import printable, shortened
from deniable.results.table.columns import Cell, Column, Ends, Row
from deniable.results.table.table import Table

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_MOST_ROWS = 200
"""The most rows that a terminal shows; files and JSON hold all of them."""
WIDTH = 100
_ROOM = (48, 28)
"""Columns of a terminal for the label of a row, and for each of several."""


def as_text(table: Table, *, width: int = WIDTH) -> str:
    """Return the table as text: a heading, sentences if they are its point, rows and notes.

    Uses Rich for the rows where it is installed, plain columns elsewhere. Values are shown with
    control characters escaped and long ones cut; JSON, CSV and Parquet hold them exactly.
    """
    drawn = importlib.util.find_spec("rich") is not None
    shown = Shown.of(table, _MOST_ROWS, _ROOM)
    blocks = [_rich_text(one, table, width) if drawn else _plain_text(one) for one in shown.blocks]
    more = len(table.rows) - _MOST_ROWS
    rest = [f"  … and {plural(more, 'row')} more; -o FILE and --json have all."] if more > 0 else []
    limit = table.about.more.get("limit", math.nan) if table.about.kind == "estimate" else math.nan
    notes = [*table.notes, *([limit_sentence(limit)] if math.isfinite(limit) else [])]
    notes = [f"  - {printable(note)}" for note in notes if not _first(note)]
    return "\n".join([*heading(table), "\n\n".join(blocks), *rest, *notes])


def as_short_text(table: Table, rows: int = 12) -> str:
    """Return the heading and the first rows: the table as an interactive Python shows it."""
    first = replace(table, rows=table.rows[:rows], notes=())
    more = len(table.rows) - rows
    return as_text(first).rstrip() + (f"\n… and {plural(more, 'row')} more" if more > 0 else "")


def heading(table: Table) -> list[str]:
    """Return the lines above a table: the question, the number of reports, the epsilons.

    A note that nothing was learned stands above them.
    """
    about, lines = table.about, []
    if about.question:
        plain = about.field in ("", PLAIN_FIELD) or "," in about.field
        name = about.question if plain else f"{about.question}.{about.field}"
        lines.append(f"{name} (version {about.version}): {shortened(about.description, 200)}")
        promised = f"epsilon {epsilon_text(about.epsilon_once)} once"
        if about.memoised is not None:
            forever = about.epsilon_forever
            promised += f", {'no bound' if forever is None else epsilon_text(forever)} for ever"
        lines.append(f"n = {about.reports}, {promised}, {about.mechanism}")
    if about.of:
        lines.append(f"{about.intervals}s are of the {about.of}.")
    # Where nothing was learned that is the first thing to know, before any number.
    return [*filter(_first, table.notes), *lines, *map(printable, about.what)]


def _first(note: str) -> bool:
    return note.startswith("Nothing was learned")


@dataclass(frozen=True)
class Shown:
    """The part of a table that people see, in words.

    Attributes:
        columns: those with a title; of decisions side by side the first.
        lines: a text for each of them, of the first rows.
    """

    columns: tuple[Column, ...]
    lines: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, table: Table, most: int, room: tuple[int, int]) -> Shown:
        """Return the first rows in words, labels cut to the room that they have."""
        groups = _groups(table)
        digits = {one.name: typical_error(table, one.name) for one in table.columns.of("error")}
        space = room[len(table.columns.labels) > 1]
        rows = table.rows[:most]
        lines = tuple(tuple(_text(group, row, digits, space) for group in groups) for row in rows)
        return cls(tuple(group[0] for group in groups), lines)

    @property
    def blocks(self) -> list[Shown]:
        """The columns by block, with the labels in each."""
        found = []
        for block in sorted({column.block for column in self.columns if column.kind != "label"}):
            seen = [column.kind == "label" or column.block == block for column in self.columns]
            lines = (tuple(compress(line, seen)) for line in self.lines)
            found.append(Shown(tuple(compress(self.columns, seen)), tuple(lines)))
        return found or [self]


def _groups(table: Table) -> list[list[Column]]:
    """Return the columns that people see; decisions under one title stand together."""
    groups: list[list[Column]] = []
    for column in table.columns:
        before = groups[-1][-1] if groups else None
        decisions = before is not None and column.kind == before.kind == "decision"
        if decisions and before is not None and column.title == before.title:
            groups[-1].append(column)
        elif column.title:
            groups.append([column])
    return groups


def typical_error(table: Table, name: str = "std_error") -> float:
    """Return the median of an error column, which says how many digits have meaning.

    Edge cases: NaN if nothing was learned.
    """
    errors = [error for error in table.column(name) if error is not None and math.isfinite(error)]
    return median(errors) if errors else math.nan


def _text(group: Sequence[Column], row: Row, digits: dict[str, float], room: int) -> str:
    first = group[0]
    if first.kind == "decision":
        taken = (column.word for column in group if row[column.name])
        return next(taken, first.otherwise if row[first.name] is not None else "")
    return _cell_text(first, row[first.name], digits.get(first.error), room)


def _cell_text(column: Column, cell: Cell, error: float | None = None, room: int = 200) -> str:
    """Return a cell as people read it: nothing for None, n/a for what cannot be learned.

    Args:
        column: what the cell is.
        cell: the cell.
        error: the standard error that says how many digits a share has; three without one.
        room: for a label.
    """
    if cell is None:
        return column.otherwise
    if isinstance(cell, tuple):
        if not all(map(math.isfinite, cell)):
            return _one_sided(column, cell)
        if column.of == "share" and cell[0] <= 0 and cell[1] >= 1:
            return "no information"
        return " to ".join(_number(column, column.of, end, error) for end in cell)
    if column.kind == "label" or isinstance(cell, str):
        return shortened(str(cell), room)
    return _number(column, column.kind, cell, error)


def _one_sided(column: Column, ends: Ends) -> str:
    """Return an interval without a bound on one side; n/a if neither end is known."""
    low, high = ends
    if math.isfinite(low) and high == math.inf:
        return f"{_number(column, column.of, low, None)} or more"
    if math.isfinite(high) and low == -math.inf:
        return f"less than {_number(column, column.of, high, None)}"
    return "n/a"


def _number(column: Column, kind: str, value: float, error: float | None) -> str:
    if not math.isfinite(value):
        return "n/a"
    if kind in ("share", "error"):
        return percent(value, error) if error is not None else f"{100 * value:.3g}%"
    if kind == "p_value":
        return p_text(value)
    if kind == "epsilon":
        return epsilon_text(value)
    if kind == "count":
        return f"{value:,}"
    if column.decimals is not None:
        return f"{value:.{column.decimals}f}"
    return f"{value:.{column.digits}g}" if abs(value) < 1e5 else f"{value:,.0f}"


def limit_sentence(limit: float, what: str = "share") -> str:
    """Say the detection limit: one sentence wherever there is one."""
    if limit >= 1:
        return f"Detection limit: no {what}, however large, is found every second time."
    return (
        f"Detection limit: a {what} of about {percent(limit, limit / 10)} is found every second "
        "time, smaller ones hardly ever."
    )


def percent(share: float, error: float) -> str:
    """Return a share in per cent, with the digits that a standard error leaves meaningful.

    Give all numbers of a table the same error, so that they have the same digits.
    """
    if not math.isfinite(share):
        return "n/a"
    known = math.isfinite(error) and error > 0
    digits = min(4, max(0, 1 - math.floor(math.log10(100 * error)))) if known else 1
    text = f"{100 * share:.{digits}f}"
    return f"{text if float(text) != 0 else text.removeprefix('-')}%"


def p_text(p_value: float) -> str:
    """Return a p-value as people read it."""
    if not math.isfinite(p_value):
        return "n/a"
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def rich_table(shown: Shown, table: Table) -> RichTable:
    """Return the rows for a Rich console; values are text, never markup."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in shown.columns:
        side: Any = "left" if column.kind == "label" else "right"
        drawn.add_column(column.title, justify=side, overflow="fold")
    for row, line in zip(table.rows, shown.lines, strict=False):
        drawn.add_row(*map(Text, line), style="" if row.stands_out else "dim")
    return drawn


def _rich_text(shown: Shown, table: Table, width: int) -> str:
    from rich.console import Console

    file = io.StringIO()
    # In a notebook, Rich would show the text by itself, beside the table that the cell shows.
    Console(file=file, width=width, color_system=None, highlight=False, force_jupyter=False).print(
        rich_table(shown, table)
    )
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")


def _plain_text(shown: Shown) -> str:
    cells = [tuple(column.title for column in shown.columns), *shown.lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [column.kind == "label" for column in shown.columns]
    lines = [
        "  ".join(
            cell.ljust(size) if named else cell.rjust(size)
            for cell, size, named in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * size for size in widths), *lines[1:]])

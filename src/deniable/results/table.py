"""A result as a table in text, for a terminal."""

from __future__ import annotations

import importlib.util
import io
import math
from typing import TYPE_CHECKING

from deniable.protocol.survey import PLAIN_FIELD
from deniable.results.labels import printable, shortened
from deniable.results.result import Result, Row
from deniable.results.simulated import reports_text
from deniable.results.words import percent, typical_error

if TYPE_CHECKING:
    from rich.table import Table

VALUE_COLUMNS = 48
MOST_ROWS = 200
"""A terminal shows so many rows; files and JSON hold all of them."""
WIDTH = 100


def as_text(result: Result, *, width: int = WIDTH) -> str:
    """Return the result as text: a heading, the table and the notes.

    Uses Rich for the table where it is installed, plain columns elsewhere. Values are shown with
    control characters escaped and long ones cut; JSON, CSV and Parquet hold them exactly.
    """
    drawn = importlib.util.find_spec("rich") is not None
    table = _rich_text(result, width) if drawn else _plain_text(result)
    notes = [f"  - {printable(note)}" for note in result.notes]
    more = len(result.rows) - MOST_ROWS
    rest = [f"  ... and {more:,} rows more; -o FILE and --json have all."] if more > 0 else []
    return "\n".join([*heading(result), table, *rest, *notes])


def heading(result: Result) -> list[str]:
    """Return the lines above a table: what was asked, of how many, at what epsilon."""
    name = result.question if result.field == PLAIN_FIELD else f"{result.question}.{result.field}"
    forever = "no bound" if result.epsilon_forever is None else f"{result.epsilon_forever:.4g}"
    reports = reports_text(result.n, result.simulated)
    return [
        f"{name} (version {result.version}): {shortened(result.description, 200)}",
        f"n = {reports}, epsilon {result.epsilon_once:.4g} once, {forever} for ever, "
        f"{result.mechanism}",
    ]


def rich_table(result: Result) -> Table:
    """Return the table for a Rich console; values are text, never markup."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    header, *rows = _cells(result)
    for number, name in enumerate(header):
        table.add_column(name, justify="left" if number == 0 else "right", overflow="fold")
    for row, cells in zip(result.rows[:MOST_ROWS], rows, strict=True):
        style = "" if row.stands_out else "dim"
        table.add_row(*map(Text, cells), style=style)
    return table


def _rich_text(result: Result, width: int) -> str:
    from rich.console import Console

    file = io.StringIO()
    Console(file=file, width=width, color_system=None, highlight=False).print(rich_table(result))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")


def _plain_text(result: Result) -> str:
    cells = _cells(result)
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(
            cell.ljust(size) if i == 0 else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * size for size in widths), *lines[1:]])


def _cells(result: Result) -> list[list[str]]:
    """Return the header and the rows, in words."""
    truth = any(row.truth is not None for row in result.rows)
    header = ["value", "estimate", "std. error", "95% interval", "p-value", "found"]
    if result.attackers is not None:
        header.insert(4, f"with {result.attackers:.3g} crafted")
    header += ["truth"] if truth else []
    error = typical_error(result)
    attacked = result.attackers is not None
    return [header, *(_row_cells(row, error, truth, attacked) for row in result.rows[:MOST_ROWS])]


def _row_cells(row: Row, error: float, truth: bool, attacked: bool) -> list[str]:
    low, high = (percent(end, error) for end in row.interval)
    wide = "n/a"
    if row.attacked_interval is not None:
        wide = " to ".join(percent(end, error) for end in row.attacked_interval)
    known = "" if row.truth is None else percent(row.truth, error)
    return [
        shortened(row.value, VALUE_COLUMNS),
        percent(row.frequency, error),
        percent(row.std_error, error),
        f"{low} to {high}" if row.learned else low,
        *([wide] if attacked else []),
        p_text(row.p_value),
        found_text(row),
        *([known] if truth else []),
    ]


def p_text(p_value: float) -> str:
    """Return a p-value as people read it."""
    if not math.isfinite(p_value):
        return "n/a"
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def found_text(row: Row) -> str:
    """Return how surely an answer was found: by Holm (surest), by Storey only, or not."""
    return "Holm" if row.holm else "Storey" if row.storey else ""

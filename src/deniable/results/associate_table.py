"""An association as text, for a terminal."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from deniable.results.associate_result import Association, Cell, cells_of
from deniable.results.associate_words import association_in_words
from deniable.results.labels import printable, shortened
from deniable.results.simulated import reports_text
from deniable.results.table import MOST_ROWS, WIDTH
from deniable.results.words import percent

VALUE_COLUMNS = 28


def association_as_text(association: Association, *, width: int = WIDTH) -> str:
    """Return the association as text: heading, what it means, the table and the notes.

    Uses Rich for the table where it is installed, plain columns elsewhere. Values are shown with
    control characters escaped and long ones cut; JSON, CSV and Parquet hold them exactly.
    """
    cells = table_cells(association)
    drawn = importlib.util.find_spec("rich") is not None
    table = _rich_text(cells, len(association.fields), width) if drawn else _plain_text(cells)
    more = len(association.cells) - MOST_ROWS
    rest = [f"  ... and {more:,} rows more; -o FILE and --json have all."] if more > 0 else []
    words = association_in_words(association)
    sentences = [printable(text) for text in (*words.learned, *words.not_learned)]
    notes = [f"  - {printable(note)}" for note in association.notes]
    return "\n".join([*_heading(association), *sentences, table, *rest, *_fit(association), *notes])


def _heading(association: Association) -> list[str]:
    how = ", ".join(f"{name} by {how}" for name, how in association.mechanisms.items())
    reports = reports_text(association.n, association.simulated)
    return [
        f"{association.question} (version {association.version}): "
        f"{shortened(association.description, 200)}",
        f"n = {reports}, epsilon {association.epsilon_once:.4g} once for these "
        f"fields together; {how}",
    ]


def _fit(association: Association) -> list[str]:
    joint = association.joint
    return [
        f"Fit: {joint.solver}, {joint.rounds} rounds on {joint.patterns:,} different patterns; no "
        f"table has a log-likelihood larger by more than {joint.gap:.2g}."
    ]


def table_cells(association: Association) -> list[list[str]]:
    """Return the header and the first rows: answers, share with error, conditional share."""
    fields = association.fields
    given = ", ".join(fields[:-1])
    attacked = association.attackers is not None
    crafted = [f"with {association.attackers:.3g} crafted"] if attacked else []
    header = [
        *(*fields, "share", "std. error", "95% interval", *crafted),
        *(f"P({fields[-1]} | {given})", "95% interval", *crafted),
    ]
    cells = association.cells
    error = typical_error(cells)
    conditional = list(cells_of(association.conditionals[0]))
    rows = [
        [
            *(shortened(value, VALUE_COLUMNS) for value in cell.values),
            percent(cell.probability, error),
            percent(cell.std_error, error),
            interval_text(cell, error),
            *([_attacked_text(cell, error)] if attacked else []),
            percent(part.probability, part.std_error),
            interval_text(part, part.std_error),
            *([_attacked_text(part, part.std_error)] if attacked else []),
        ]
        for cell, part in zip(cells[:MOST_ROWS], conditional[:MOST_ROWS], strict=True)
    ]
    return [header, *rows]


def typical_error(cells: Sequence[Cell]) -> float:
    """Return the median standard error of cells; NaN if none has one."""
    errors = [cell.std_error for cell in cells if cell.learned]
    return median(errors) if errors else float("nan")


def interval_text(cell: Cell, error: float) -> str:
    """Return an interval in words, n/a where nothing is known."""
    if not cell.learned:
        return "n/a"
    low, high = (percent(end, error) for end in cell.interval)
    return f"{low} to {high}"


def _attacked_text(cell: Cell, error: float) -> str:
    if cell.attacked_interval is None:
        return "n/a"
    return interval_text(replace(cell, interval=cell.attacked_interval), error)


def _rich_text(cells: list[list[str]], fields: int, width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    header, *rows = cells
    for place, name in enumerate(header):
        table.add_column(name, justify="left" if place < fields else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    file = io.StringIO()
    Console(file=file, width=width, color_system=None, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")


def _plain_text(cells: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    lines = [
        "  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * size for size in widths), *lines[1:]])

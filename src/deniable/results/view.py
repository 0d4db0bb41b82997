"""One finding as text, file and picture: what the commands about records show.

A view is a table with a heading and notes, the JSON object that says the same in full, and, where
there is one, a picture.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidParameter, MissingExtra
from deniable.results.chart_files import html_of, png_of, svg_of
from deniable.results.files import csv_cell
from deniable.results.labels import printable, shortened
from deniable.results.simulated import COLUMN, marked_chart, marked_rows
from deniable.results.table import MOST_ROWS, VALUE_COLUMNS, WIDTH
from deniable.results.writing import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

Cell = str | int | float | bool | None
Picture = Callable[[], Any]
"""Makes an Altair chart."""


@dataclass(frozen=True)
class View:
    """What a command shows.

    Attributes:
        heading: the lines above the table.
        header: the names of the columns as people read them.
        shown: the rows as people read them.
        records: the same rows for programs: every row has the same columns.
        data: the JSON object.
        notes: what a reader must know.
        picture: makes the chart; None where there is nothing to draw.
        described: what the picture shows, for those who do not see it.
    """

    heading: tuple[str, ...]
    header: tuple[str, ...]
    shown: Sequence[Sequence[str]]
    records: Sequence[Mapping[str, Cell]]
    data: Mapping[str, object]
    notes: tuple[str, ...] = ()
    picture: Picture | None = None
    described: str = ""


def view_text(view: View) -> str:
    """Return the view as text; of very many rows the first, with a line that says so."""
    rows = [[shortened(cell, VALUE_COLUMNS) for cell in row] for row in view.shown[:MOST_ROWS]]
    table = _table([list(view.header), *rows]) if view.header else ""
    more = len(view.shown) - MOST_ROWS
    rest = [f"  ... and {more:,} rows more; -o FILE and --json have all."] if more > 0 else []
    notes = [f"  - {printable(note)}" for note in view.notes]
    return "\n".join([*map(printable, view.heading), *([table] if table else []), *rest, *notes])


def _table(lines: list[list[str]]) -> str:
    if importlib.util.find_spec("rich") is not None:
        return _drawn(lines)
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = [
        "  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([text[0], "  ".join("-" * size for size in widths), *text[1:]])


def _drawn(lines: list[list[str]]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in lines[0]:
        table.add_column(name, overflow="fold")
    for line in lines[1:]:
        table.add_row(*map(Text, line))
    file = io.StringIO()
    Console(file=file, width=WIDTH, color_system=None, highlight=False).print(table)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()).strip("\n")


def view_csv(view: View) -> bytes:
    """Return the rows as CSV (RFC 4180, UTF-8, CRLF); what is unknown is an empty cell."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    rows = _rows(view)
    if rows:
        writer.writerow(list(rows[0]))
    for row in rows:
        writer.writerow([csv_cell(value) for value in row.values()])
    return file.getvalue().encode("utf-8", "backslashreplace")


def _rows(view: View) -> list[dict[str, Cell]]:
    return marked_rows(view.records, _simulated(view))


def _simulated(view: View) -> int:
    """Return how many of the reports behind a view are simulated."""
    return int(str(view.data[COLUMN]))


def view_json(view: View) -> bytes:
    """Return the JSON object."""
    return json.dumps(view.data, ensure_ascii=True, allow_nan=False, indent=1).encode()


def view_arrow(view: View) -> pa.Table:
    """Return the rows as an Arrow table, with the notes in its metadata."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("analysis", "An Arrow table") from None
    table = pa.Table.from_pylist(_rows(view))
    notes = json.dumps({"heading": view.heading, "notes": view.notes})
    return table.replace_schema_metadata({"deniable": notes})


def view_parquet(view: View) -> bytes:
    """Return the Arrow table as a Parquet file."""
    table = view_arrow(view)
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def _definition(view: View) -> dict[str, Any]:
    if view.picture is None:
        raise InvalidParameter(
            "There is no picture of this. Write a table instead: .csv, .json or .parquet."
        )
    definition: dict[str, Any] = view.picture().to_dict()
    return marked_chart(definition, int(str(view.data["n"])), _simulated(view))


_KINDS: dict[str, Callable[[View], bytes]] = {
    ".csv": view_csv,
    ".json": view_json,
    ".parquet": view_parquet,
    ".png": lambda view: png_of(_definition(view)),
    ".svg": lambda view: svg_of(_definition(view)),
    ".html": lambda view: html_of(_definition(view), view.heading[0], view.described),
}


def save_view(view: View, path: str | Path) -> None:
    """Write the view to a file of the kind that its name says.

    Guarantees: the file is written whole or not at all.

    Raises:
        InvalidParameter: if the name ends in none of csv, json, parquet, png, svg, html, or if a
            picture is wanted of what has none.
    """
    path = Path(path)
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise InvalidParameter(
            f"The name of a result's file must end in one of "
            f"{', '.join(name[1:] for name in _KINDS)}. Got {path.name!r:.80}."
        )
    data = kind(view)
    with whole_file(path) as temporary:
        temporary.write_bytes(data)

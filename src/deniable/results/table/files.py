"""A table as a file: CSV, JSON, Parquet for programs; PNG, SVG and HTML for people.

The columns decide what a file of rows holds: an interval takes two columns. Stamps repeat the
question and its like in every row, so that files of several questions can be put together.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidParameter, MissingExtra
from deniable.results.charts.files import html_of, png_of, svg_of
from deniable.results.table.columns import Column, plain
from deniable.results.table.table import Table
from deniable.results.table.text import heading
from deniable.results.whole_files import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def file_columns(table: Table) -> tuple[str, ...]:
    """Return the names of a table file's columns.

    Edge cases: a label named like a column of numbers gets an underscore behind its name.
    """
    return tuple(name for name, _ in _named(table))


def _named(table: Table) -> list[tuple[str, Column]]:
    held = (*_stamps(table), *table.columns)
    taken = {*(one.name for one in _stamps(table)), *_numbers(table)}
    return [
        (f"{name}_" if one in table.columns.of("label") and name in taken else name, one)
        for one in held
        for name in one.names
    ]


def _stamps(table: Table) -> tuple[Column, ...]:
    """Return the columns that every row repeats; simulated reports are always marked in one."""
    marked = Column("simulated", "count")
    return (
        (*table.stamps, marked)
        if table.about.simulated and marked not in table.stamps
        else table.stamps
    )


def _numbers(table: Table) -> set[str]:
    return {name for one in table.columns if one.kind != "label" for name in one.names}


def _lines(table: Table) -> Iterator[list[Any]]:
    """Yield the rows as files hold them; None for what is unknown."""
    stamps = [plain(getattr(table.about, one.name)) for one in _stamps(table)]
    for row in table.rows:
        cells = zip(table.columns, row.cells, strict=True)
        yield [*stamps, *(one for column, cell in cells for one in column.spread(cell))]


def as_json(table: Table) -> bytes:
    """Return the table as JSON, as spec/schemas/table.json describes it."""
    return json.dumps(table.as_json(), ensure_ascii=True, allow_nan=False, indent=1).encode()


def as_csv(table: Table) -> bytes:
    """Return the rows as CSV (RFC 4180, UTF-8, CRLF), numbers in full precision.

    Edge cases: a spreadsheet runs a cell that begins with = + - @, a tab or a carriage return as
    a formula, so a value (or other text) that does gets an apostrophe before it, which
    spreadsheets hide. JSON and Parquet hold the exact strings. What cannot be learned, and an
    unknown truth, are empty cells.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([_csv_cell(name) for name in file_columns(table)])
    for line in _lines(table):
        writer.writerow([_csv_cell(cell) for cell in line])
    return file.getvalue().encode("utf-8", "backslashreplace")


def _csv_cell(value: str | int | float | None) -> str | int | float:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def as_arrow(table: Table) -> pa.Table:
    """Return the rows as an Arrow table; everything else is in the metadata."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("analysis", "An Arrow table") from None
    types = {"label": pa.string(), "count": pa.int64(), "decision": pa.bool_()}
    named = _named(table)
    columns = list(zip(*_lines(table), strict=True)) or [()] * len(named)
    arrays = [
        pa.array(list(cells), types.get(column.kind, pa.float64()))
        for (_, column), cells in zip(named, columns, strict=True)
    ]
    about = {key: value for key, value in table.as_json().items() if key != "rows"}
    found = pa.Table.from_arrays(arrays, names=[name for name, _ in named])
    return found.replace_schema_metadata({"deniable": json.dumps(about, allow_nan=False)})


def as_parquet(table: Table) -> bytes:
    """Return the Arrow table as a Parquet file."""
    found = as_arrow(table)
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(found, file)
    return file.getvalue()


def chart_svg(table: Table, **look: Any) -> bytes:
    """Return the picture as SVG; `look` as in `Table.chart`."""
    return svg_of(table.chart(**look).to_dict())


def chart_png(table: Table) -> bytes:
    """Return the picture as PNG, two pixels per point."""
    return png_of(table.chart().to_dict())


def chart_html(table: Table) -> bytes:
    """Return the picture as a page of its own, with everything inline; see `html_of`."""
    title = table.about.question or next(iter(heading(table)), table.about.kind)
    told = "" if table.described is None else table.described(table)
    return html_of(table.chart().to_dict(), title, told)


FORMATS: dict[str, tuple[str, Callable[[Table], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
    "png": ("image/png", chart_png),
    "svg": ("image/svg+xml", chart_svg),
    "html": ("text/html; charset=utf-8", chart_html),
}
"""By the end of a file's name: its media type, and how a table becomes its bytes."""
ROW_FORMATS = ("csv", "json", "parquet")
"""The formats of a table without a picture."""


def save(table: Table, path: str | Path) -> None:
    """Write the table to a file of the kind that its name says.

    Guarantees: the file is written whole or not at all.

    Raises:
        InvalidParameter: if the name ends in none of csv, json, parquet, png, svg, html, or if a
            picture is wanted of what has none.
    """
    path = Path(path)
    data = render(table, format_of(path))
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def format_of(path: Path) -> str:
    """Return the format that a file's name asks for, else raise InvalidParameter."""
    name = path.suffix.lower().removeprefix(".")
    if name in FORMATS:
        return name
    raise InvalidParameter(
        f"The name of a result's file must end in one of {', '.join(FORMATS)}. "
        f"Got {path.name!r:.80}."
    )


def render(table: Table, name: str) -> bytes:
    """Return the bytes of a table in one of FORMATS."""
    return FORMATS[name][1](table)

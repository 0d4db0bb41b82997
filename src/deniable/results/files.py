"""A result as a file: CSV, JSON, Parquet for programs; PNG, SVG and HTML for people.

Every table file has the same columns, one row per answer, so that several can be put together.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.errors import InvalidParameter, MissingExtra
from deniable.results.chart_files import chart_html, chart_png, chart_svg
from deniable.results.result import Result
from deniable.results.writing import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

POINTS = ("likely", "normalised", "projected", "base_cut", "posterior", "smoothed")
"""The point estimates that a row may have."""

COLUMNS = (
    "question",
    "version",
    "field",
    "value",
    "frequency",
    "std_error",
    "low",
    "high",
    "z",
    "p_value",
    "holm",
    "storey",
    "selected_low",
    "selected_high",
    "attacked_low",
    "attacked_high",
    *POINTS,
    "truth",
    "n",
    "simulated",
    "epsilon_once",
    "epsilon_forever",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def as_json(result: Result) -> bytes:
    """Return the result as JSON, as spec/schemas/result.json describes it."""
    return json.dumps(result.as_json(), ensure_ascii=True, allow_nan=False, indent=1).encode()


def as_csv(result: Result) -> bytes:
    """Return the rows as CSV (RFC 4180, UTF-8, CRLF), numbers in full precision.

    Edge cases: a spreadsheet runs a cell that begins with = + - @, a tab or a carriage return as
    a formula, so a value (or other text) that does gets an apostrophe before it, which
    spreadsheets hide. JSON and Parquet hold the exact strings. What cannot be learned, and an
    unknown truth, are empty cells.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in _records(result):
        writer.writerow([csv_cell(row[name]) for name in COLUMNS])
    return file.getvalue().encode("utf-8", "backslashreplace")


def as_arrow(result: Result) -> pa.Table:
    """Return the rows as an Arrow table; the result without its rows is in the metadata."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("analysis", "An Arrow table") from None
    kinds = {name: pa.float64() for name in COLUMNS}
    kinds |= dict.fromkeys(("version", "n", "simulated"), pa.int64())
    kinds |= dict.fromkeys(("question", "field", "value"), pa.string())
    kinds |= dict.fromkeys(("holm", "storey"), pa.bool_())
    summary = {key: value for key, value in result.as_json().items() if key != "rows"}
    schema = pa.schema(
        [(name, kinds[name]) for name in COLUMNS],
        metadata={"deniable": json.dumps(summary, allow_nan=False)},
    )
    return pa.Table.from_pylist(_records(result), schema=schema)


def as_parquet(result: Result) -> bytes:
    """Return the Arrow table as a Parquet file."""
    table = as_arrow(result)
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


FORMATS: dict[str, tuple[str, Callable[[Result], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", as_csv),
    "json": ("application/json", as_json),
    "parquet": ("application/vnd.apache.parquet", as_parquet),
    "png": ("image/png", chart_png),
    "svg": ("image/svg+xml", chart_svg),
    "html": ("text/html; charset=utf-8", chart_html),
}
"""By the end of a file's name: its media type, and how a result becomes its bytes."""


def save(result: Result, path: str | Path) -> None:
    """Write the result to a file of the kind that its name says.

    Guarantees: the file is written whole or not at all.

    Raises:
        InvalidParameter: if the name ends in none of csv, json, parquet, png, svg, html.
    """
    path = Path(path)
    data = render(result, format_of(path))
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


def render(result: Result, name: str) -> bytes:
    """Return the bytes of a result in one of FORMATS."""
    return FORMATS[name][1](result)


def _records(result: Result) -> list[dict[str, str | int | float | None]]:
    """Return the rows with everything that belongs beside them; None for what is unknown."""
    return [
        {
            "question": result.question,
            "version": result.version,
            "field": result.field,
            "value": row.value,
            "frequency": _finite(row.frequency),
            "std_error": _finite(row.std_error),
            "low": _finite(row.interval[0]),
            "high": _finite(row.interval[1]),
            "z": _finite(row.z),
            "p_value": _finite(row.p_value),
            "holm": row.holm,
            "storey": row.storey,
            "selected_low": row.selected_interval[0] if row.selected_interval else None,
            "selected_high": row.selected_interval[1] if row.selected_interval else None,
            "attacked_low": row.attacked_interval[0] if row.attacked_interval else None,
            "attacked_high": row.attacked_interval[1] if row.attacked_interval else None,
            **{name: _finite(row.points.get(name)) for name in POINTS},
            "truth": _finite(row.truth),
            "n": result.n,
            "simulated": result.simulated,
            "epsilon_once": result.epsilon_once,
            "epsilon_forever": result.epsilon_forever,
        }
        for row in result.rows
    ]


def _finite(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def csv_cell(value: str | int | float | None) -> str | int | float:
    """Return a value as a CSV cell that no spreadsheet runs as a formula; see `as_csv`."""
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value

"""An association as a file: CSV, JSON, Parquet for programs; PNG, SVG and HTML for people.

Table files have a column per field and a row per combination of answers.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.associate import Derived, Joint
from deniable.errors import MissingExtra
from deniable.results.associate_chart import ATTACKED, association_chart, association_described
from deniable.results.associate_result import Association, Cell, cells_of, number
from deniable.results.chart_files import html_of, png_of, svg_of
from deniable.results.files import csv_cell, format_of
from deniable.results.simulated import COLUMN, marked_rows
from deniable.results.writing import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERS = ("probability", "std_error", "low", "high")
DERIVED = {
    "conditional": ("conditional", "conditional_low", "conditional_high"),
    "odds_ratio": ("odds_ratio", "odds_ratio_low", "odds_ratio_high"),
}
ATTACKED_DERIVED = {
    name: tuple(f"{name}_{end}" for end in ATTACKED) for name in ("conditional", "odds_ratio")
}
Row = dict[str, str | float | None]


def to_arrow(table: Joint | Association) -> pa.Table:
    """Return a joint distribution as an Arrow table; `.to_pandas()` on it where pandas is there.

    Columns: one of strings per variable, then probability, std_error, low and high; of an
    association also the conditional share of the last field given the others, and for two fields
    the odds ratio; attacked_low and attacked_high of each of them where they were asked for.
    Everything else about an association is in the schema's metadata.

    Edge cases: a variable named like one of these columns gets an underscore behind its name.

    Raises:
        MissingExtra: if PyArrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("analysis", "An Arrow table") from None
    joint = table.joint if isinstance(table, Association) else table
    rows = _rows(table)
    metadata = None
    if isinstance(table, Association):
        about = {key: value for key, value in table.as_json().items() if key not in _PER_CELL}
        metadata = {"deniable": json.dumps(about, allow_nan=False)}
    strings = columns_of(joint.names)
    kinds = [(name, pa.string() if name in strings else pa.float64()) for name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(kinds, metadata=metadata))


_PER_CELL = ("cells", "conditionals", "odds_ratios")


def columns_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return the column of each variable: its name, made different from the numbers' names."""
    derived = [*DERIVED.values(), *ATTACKED_DERIVED.values()]
    taken = {COLUMN, *NUMBERS, *ATTACKED, *(name for names in derived for name in names)}
    return tuple(f"{name}_" if name in taken else name for name in names)


def _rows(table: Joint | Association) -> list[Row]:
    joint = table.joint if isinstance(table, Association) else table
    columns = columns_of(joint.names)
    cells = table.cells if isinstance(table, Association) else cells_of(joint)
    rows: list[Row] = [_row(columns, cell) for cell in cells]
    if isinstance(table, Association):
        _add(rows, "conditional", table.conditionals[0])
        if table.odds is not None:
            _add(rows, "odds_ratio", table.odds)
        return marked_rows(rows, table.simulated)
    return rows


def _row(columns: Sequence[str], cell: Cell) -> Row:
    numbers = (cell.probability, cell.std_error, *cell.interval)
    attacked = cell.attacked_interval
    ends = {} if attacked is None else dict(zip(ATTACKED, map(number, attacked), strict=True))
    return {
        **dict(zip(columns, cell.values, strict=True)),
        **{name: number(value) for name, value in zip(NUMBERS, numbers, strict=True)},
        **ends,
    }


def _add(rows: list[Row], what: str, derived: Derived) -> None:
    for row, cell in zip(rows, cells_of(derived), strict=True):
        values = [cell.probability, *cell.interval, *(cell.attacked_interval or ())]
        names = (*DERIVED[what], *(ATTACKED_DERIVED[what] if cell.attacked_interval else ()))
        row.update({name: number(value) for name, value in zip(names, values, strict=True)})


def _csv(association: Association) -> bytes:
    """Return the rows as CSV (RFC 4180, UTF-8, CRLF); no cell runs as a formula."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    rows = _rows(association)
    writer.writerow(list(rows[0]))
    for row in rows:
        writer.writerow([csv_cell(value) for value in row.values()])
    return file.getvalue().encode("utf-8", "backslashreplace")


def _json(association: Association) -> bytes:
    return json.dumps(association.as_json(), ensure_ascii=True, allow_nan=False, indent=1).encode()


def _parquet(association: Association) -> bytes:
    table = to_arrow(association)
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def association_svg(
    association: Association, *, theme: str = "light", width: int = 760, heading: bool = True
) -> bytes:
    """Return the heat map as SVG."""
    drawn = association_chart(association, theme=theme, width=width, heading=heading)
    return svg_of(drawn.to_dict())


def _png(association: Association) -> bytes:
    return png_of(association_chart(association).to_dict())


def _html(association: Association) -> bytes:
    drawn = association_chart(association).to_dict()
    return html_of(drawn, association.question, association_described(association))


_FORMATS: dict[str, Callable[[Association], bytes]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "png": _png,
    "svg": association_svg,
    "html": _html,
}


def render_association(association: Association, name: str) -> bytes:
    """Return the bytes of an association in one of results.files.FORMATS."""
    return _FORMATS[name](association)


def save_association(association: Association, path: str | Path) -> None:
    """Write the association to a file of the kind that its name says.

    Guarantees: the file is written whole or not at all.

    Raises:
        InvalidParameter: if the name ends in none of csv, json, parquet, png, svg, html.
    """
    path = Path(path)
    data = render_association(association, format_of(path))
    with whole_file(path) as temporary:
        temporary.write_bytes(data)

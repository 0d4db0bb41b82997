"""A table as HTML: the rows of a page, and what a notebook shows."""

from __future__ import annotations

from html import escape

from deniable.results.labels import printable
from deniable.results.table.columns import Column
from deniable.results.table.table import Table
from deniable.results.table.text import Shown, heading

MOST_ROWS = 500
_ROOM = (160, 80)


def rows_html(table: Table, caption: str = "", most: int = MOST_ROWS) -> str:
    """Return the first rows as an HTML table; every string is escaped.

    Rows that do not stand out have the class `faint`; numbers have `number`, and what a narrow page
    leaves out `extra`.
    """
    shown = Shown.of(table, most, _ROOM)
    head = "".join(
        f'<th scope="col"{_class(column)}>{escape(printable(column.title))}</th>'
        for column in shown.columns
    )
    body = []
    for row, line in zip(table.rows, shown.lines, strict=False):
        cells = [
            f"<td{_class(column)}>{escape(text)}</td>"
            for column, text in zip(shown.columns[1:], line[1:], strict=True)
        ]
        faint = "" if row.stands_out else ' class="faint"'
        body.append(f'<tr{faint}><th scope="row">{escape(line[0])}</th>{"".join(cells)}</tr>')
    told = f'<caption class="hidden">{escape(printable(caption))}</caption>\n' if caption else ""
    rows = "\n".join(body)
    return f"<table>\n{told}<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _class(column: Column) -> str:
    names = [] if column.kind == "label" else ["number"]
    names += ["extra"] if column.extra else []
    return f' class="{" ".join(names)}"' if names else ""


def as_html(table: Table) -> str:
    """Return heading, rows and notes, for a notebook."""
    lines = "<br>".join(escape(printable(line)) for line in heading(table))
    notes = "".join(f"<li>{escape(printable(note))}</li>" for note in table.notes)
    return f"<p>{lines}</p>\n{rows_html(table)}\n<ul>{notes}</ul>"

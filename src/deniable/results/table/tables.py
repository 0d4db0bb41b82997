"""Several tables of one question, a field each: shown, written and saved together."""

from __future__ import annotations

from pathlib import Path

from deniable.results.table.files import save
from deniable.results.table.table import Table
from deniable.results.table.text import as_text


class Tables(tuple[Table, ...]):
    """A table per field of a question; one where the question is plain."""

    __slots__ = ()

    def as_json(self) -> dict[str, object]:
        """Return the only table, or all of them by their field."""
        if len(self) == 1:
            return self[0].as_json()
        return {"fields": {table.about.field: table.as_json() for table in self}}

    def text(self) -> str:
        """Return all tables for a terminal, one below the other."""
        return "\n".join(as_text(table) for table in self)

    def save(self, path: Path) -> None:
        """Write each table; of several fields the file's name gets the field's behind it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        for table in self:
            one = len(self) == 1
            save(table, path if one else path.with_stem(f"{path.stem}-{table.about.field}"))

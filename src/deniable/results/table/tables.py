"""Several tables of one question, a field each: shown, written and saved together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable._validate import nearest
from deniable.errors import InvalidParameter
from deniable.results.charts.shown import Chart, below_each_other
from deniable.results.table.columns import Ends
from deniable.results.table.files import save
from deniable.results.table.table import Table, frame_of
from deniable.results.table.text import WIDTH, as_text

if TYPE_CHECKING:
    import pyarrow as pa


class Tables(tuple[Table, ...]):
    """A table per field of a question; one where the question is plain."""

    __slots__ = ()

    def field(self, name: str) -> Table:
        """Return the table of a field.

        Raises:
            InvalidParameter: if there is none.
        """
        known = {table.about.field: table for table in self}
        if name in known:
            return known[name]
        raise InvalidParameter(
            f"There is no table of {name!r:.80}.{nearest(name, known)} There are: "
            f"{', '.join(known)}."
        )

    def as_json(self) -> dict[str, object]:
        """Return the only table, or all of them by their field."""
        if len(self) == 1:
            return self[0].as_json()
        return {"fields": {table.about.field: table.as_json() for table in self}}

    def text(self, width: int = WIDTH) -> str:
        """Return all tables for a terminal, one below the other."""
        return "\n".join(as_text(table, width=width) for table in self)

    @property
    def interval(self) -> dict[str, list[Ends]]:
        """The confidence intervals of every row, by field; see `Table.interval`."""
        return {table.about.field: table.interval for table in self}

    def to_arrow(self) -> pa.Table:
        """Return the rows of all tables as one Arrow table, with a column that names the field."""
        import pyarrow as pa

        tables = [table.to_arrow().replace_schema_metadata(None) for table in self]
        return pa.concat_tables(tables, promote_options="default")

    def to_pandas(self) -> Any:
        """Return the rows of all tables as one data frame; see `Table.to_pandas`."""
        return frame_of(self.to_arrow(), "pandas")

    def to_polars(self) -> Any:
        """Return the rows of all tables as one data frame of Polars."""
        return frame_of(self.to_arrow(), "polars")

    def chart(self, *, theme: str = "light", width: int = 760, heading: bool = True) -> Chart:
        """Return the pictures of all tables, one below the other."""
        look: dict[str, Any] = {"theme": theme, "width": width, "heading": heading}
        return below_each_other([table.chart(**look).altair for table in self])

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "\n".join(table._repr_html_() for table in self)

    def save(self, path: str | Path) -> None:
        """Write each table; of several fields the file's name gets the field's behind it."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        for table in self:
            one = len(self) == 1
            save(table, path if one else path.with_stem(f"{path.stem}-{table.about.field}"))

"""The one type of every answer: a table with columns, rows, a head and notes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from deniable.errors import InvalidParameter
from deniable.protocol.epochs import date_of, day_number, days_of
from deniable.results.report_counts import reports_text
from deniable.results.table.columns import (
    UNLEARNED,
    Cell,
    Column,
    Columns,
    Ends,
    Row,
    plain,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from deniable.results.charts.shown import Chart

LEVEL = 0.95
"""The confidence level of all intervals, unless a table says another."""


def interval_name(level: float) -> str:
    """Return the name of intervals of a level: "95% interval"."""
    return f"{100 * level:.6g}% interval"


@dataclass(frozen=True)
class Epochs:
    """The epochs that a result covers, each `days` UTC days long."""

    first: int
    last: int
    days: int

    @property
    def first_day(self) -> date:
        """The first day of the first epoch."""
        return date_of(days_of(self.first, self.days)[0])

    @property
    def last_day(self) -> date:
        """The last day of the last epoch; of one that is not over, the last that has begun.

        Edge cases: the first day, where this clock is behind the reports.
        """
        ends = days_of(self.last, self.days)[1]
        return max(date_of(min(ends, day_number())), self.first_day)

    def as_json(self) -> dict[str, object]:
        """Return the epochs as JSON, with their days."""
        days = {"first_day": self.first_day.isoformat(), "last_day": self.last_day.isoformat()}
        return {"first": self.first, "last": self.last, **days}


@dataclass(frozen=True)
class About:
    """The head of a table: the question, its reports and their promise.

    Attributes:
        kind: the kind of the answer: estimate, discovery, association, profiles, pairs, plan, ...
        question, version, digest, description: what was asked; empty where there is no question.
        field: the field, or the fields with commas between them.
        domain, mechanism: the kind of answers, and how they were randomised.
        simulated: the number of simulated reports among the n.
        n: the number of reports. Where devices report in every epoch it is not one of people.
        epsilon_once: the epsilon of what is shown, in one report.
        epsilon_forever: the epsilon of all reports of one value; None if every report adds to it.
        memoised: whether a permanent response bounds what many reports reveal; None if unsaid.
        epochs: the epochs that the reports cover; None without reports.
        crafted: the share of crafted reports that second intervals allow for, if any.
        of: what the intervals are of: population or reporters; empty where there are none.
        what: lines for people below the heading: which table this is, and its main finding.
        more: members of the JSON that only this kind of answer has.
    """

    kind: str
    question: str = ""
    version: int = 1
    digest: str = ""
    description: str = ""
    field: str = ""
    domain: str = ""
    mechanism: str = ""
    n: int = 0
    simulated: int = 0
    epsilon_once: float = 0.0
    epsilon_forever: float | None = None
    memoised: bool | None = None
    epochs: Epochs | None = None
    crafted: float | None = None
    of: str = ""
    what: tuple[str, ...] = ()
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def reports(self) -> str:
        """The number of reports in words, with the mark of simulated ones."""
        return reports_text(self.n, self.simulated)

    @property
    def level(self) -> float:
        """The confidence level of the intervals."""
        return float(self.more.get("level", LEVEL))

    @property
    def intervals(self) -> str:
        """The name of the intervals: their level in words."""
        return interval_name(self.level)

    def as_json(self) -> dict[str, object]:
        """Return everything but rows and notes, as spec/schemas/table.json describes it."""
        named = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "more"}
        named["epochs"] = None if self.epochs is None else self.epochs.as_json()
        found: dict[str, object] = plain({**named, "level": LEVEL, **self.more})
        return found


@dataclass(frozen=True)
class Words:
    """A table in words.

    Attributes:
        learned: sentences about the crowd that the reports support.
        not_learned: sentences about their limits, with the detection limit.
        promise: the promise to each person.
    """

    learned: tuple[str, ...] = ()
    not_learned: tuple[str, ...] = ()
    promise: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """The answer of an ask, in every form: text, JSON, CSV, Arrow, HTML, chart.

    Attributes:
        about: its head: the question, its reports and their promise.
        columns: its columns, which say what the cells are.
        rows: one per answer, combination, pair, ...
        notes: sentences that a reader must know.
        words: its meaning, in sentences.
        parts: further tables that belong to it, by name.
        picture: the function that draws it; None where there is nothing to draw.
        described: a description of the picture, for those who do not see it.
        caption: the meaning of the picture's marks.
        stamps: the columns of the head that every row of a file repeats, so that files can be put
            together.

    Example:
        >>> table = Table.of(About("demo"), [Column("value", "label", "value")], [("blue",)])
        >>> table.as_json()["rows"]
        [{'value': 'blue'}]
    """

    about: About
    columns: Columns
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    words: Words = Words()
    parts: Mapping[str, Table] = dataclasses.field(default_factory=dict)
    picture: Callable[..., Any] | None = None
    described: Callable[[Table], str] | None = None
    caption: Callable[[Table], str] | None = None
    stamps: tuple[Column, ...] = ()

    @classmethod
    def of(
        cls,
        about: About,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        **more: Any,
    ) -> Table:
        """Return a table of rows of cells, as many in each as there are columns."""
        named = Columns(columns)
        if wrong := [len(row) for row in rows if len(row) != len(named)]:
            raise InvalidParameter(f"A row must have {len(named)} cells. Got {wrong[0]}.")
        return cls(about, named, tuple(Row(named, tuple(row)) for row in rows), **more)

    @classmethod
    def of_mappings(cls, kind: str, mappings: Sequence[Mapping[str, Cell]]) -> Table:
        """Return a table of mappings, with a column for every key of any of them.

        A column that holds a string is a label, every other one holds numbers. Where a mapping
        lacks a key, the cell is empty.
        """
        names = list(dict.fromkeys(name for one in mappings for name in one))
        texts = {name for one in mappings for name, cell in one.items() if isinstance(cell, str)}
        columns = [Column(name, "label" if name in texts else "number", name) for name in names]
        rows = [tuple(one.get(name) for name in names) for one in mappings]
        return cls.of(About(kind), columns, rows)

    def column(self, name: str) -> list[Any]:
        """Return the cells of a column."""
        place = self.columns.place[name]
        return [row.cells[place] for row in self.rows]

    def with_column(self, column: Column, cells: Sequence[Cell]) -> Table:
        """Return the table with a column in the place of the one of its name, or behind all."""
        place = self.columns.place.get(column.name, len(self.columns))
        columns = Columns([*self.columns[:place], column, *self.columns[place + 1 :]])
        rows = (
            Row(columns, (*row.cells[:place], cell, *row.cells[place + 1 :]))
            for row, cell in zip(self.rows, cells, strict=True)
        )
        return replace(self, columns=columns, rows=tuple(rows))

    def with_truth(self, truth: Mapping[str, float]) -> Table:
        """Return the table with the true share of each value, where `truth` names it."""
        column = Column("truth", "share", "truth", tick=True)
        return self.with_column(column, [truth.get(row["value"]) for row in self.rows])

    def as_json(self) -> dict[str, object]:
        """Return the table as spec/schemas/table.json describes it; never NaN or infinity."""
        columns = [{"name": c.name, "kind": c.kind, "title": c.title} for c in self.columns]
        return {
            **self.about.as_json(),
            "columns": columns,
            "rows": [plain(row) for row in self.rows],
            "notes": list(self.notes),
            "parts": {name: part.as_json() for name, part in self.parts.items()},
        }

    def text(self) -> str:
        """Return the table for a terminal."""
        from deniable.results.table.text import as_text

        return as_text(self)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; everything else is in its metadata."""
        from deniable.results.table.files import as_arrow

        return as_arrow(self)

    def to_pandas(self) -> Any:
        """Return the rows as a data frame.

        Raises:
            MissingExtra: if PyArrow is not installed.
            InvalidParameter: if pandas is not.
        """
        return frame_of(self.to_arrow(), "pandas")

    def to_polars(self) -> Any:
        """Return the rows as a data frame of Polars.

        Raises:
            MissingExtra: if PyArrow is not installed.
            InvalidParameter: if Polars is not.
        """
        return frame_of(self.to_arrow(), "polars")

    @property
    def interval(self) -> list[Ends]:
        """The confidence interval of every row, as (low, high); NaN where nothing was learned.

        Raises:
            InvalidParameter: if such a table has no intervals.
        """
        name = self.columns.main[2]
        if name is None:
            raise InvalidParameter(
                "This table has no intervals.", f"Its columns are: {', '.join(self.columns.place)}."
            )
        return [UNLEARNED if ends is None else ends for ends in self.column(name)]

    def chart(self, *, theme: str = "light", width: int = 760, heading: bool = True) -> Chart:
        """Return the table as a chart, which shows by itself in a notebook.

        Args:
            theme: "light" or "dark".
            width: the width of the whole picture, labels included, in pixels.
            heading: whether the picture has a heading: the question, its reports and epsilon.

        Raises:
            InvalidParameter: if there is no picture of such a table, or no such theme.
            MissingExtra: if Altair is not installed.
        """
        if self.picture is None:
            raise InvalidParameter(
                "There is no picture of this. Write a table instead: .csv, .json or .parquet."
            )
        from deniable.results.charts.shown import Chart

        return Chart(self.picture(self, theme=theme, width=width, heading=heading))

    def save(self, path: str | Path) -> None:
        """Write the table to a file of the kind that its name says; see `results.table.files`."""
        from deniable.results.table.files import save

        save(self, path)

    def __repr__(self) -> str:
        from deniable.results.table.text import as_short_text

        return as_short_text(self)

    def _repr_html_(self) -> str:
        from deniable.results.table.html import as_html

        return as_html(self)


def frame_of(arrow: Any, library: Literal["pandas", "polars"]) -> Any:
    """Return an Arrow table as a data frame of a library.

    Raises:
        InvalidParameter: if it is not installed.
    """
    try:
        if library == "pandas":
            return arrow.to_pandas()
        return import_module(library).from_arrow(arrow)
    except ImportError:
        raise InvalidParameter(
            f"A data frame of {library} needs {library}, which is not installed.",
            f"Run: pip install {library}",
        ) from None

"""Columns that know what they hold, and rows that are read by column.

The kind of a column says how its cells are written for people, which type they have in files, and
what part of a picture they are; nothing else in the package decides any of that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal[
    "label",
    "count",
    "share",
    "error",
    "interval",
    "second_interval",
    "p_value",
    "decision",
    "number",
    "epsilon",
]
"""The kind of a column's cells.

label: a string. count: a whole number. share, error: a part of 1 and its standard error. interval:
two ends of 95% confidence. second_interval: two ends that allow for crafted reports. p_value,
number, epsilon: as they say. decision: whether something was found; None if it was not tested.
"""

Ends = tuple[float, float]
Cell = str | int | float | bool | Ends | None
"""None: there is nothing to say. NaN: it cannot be learned. Files hold neither."""
UNLEARNED: Ends = (math.nan, math.nan)
_SPREAD = ("interval", "second_interval")


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: for programs: the key in JSON, the column in files.
        kind: the kind of its cells.
        title: its heading for people; without one only files and JSON hold the column.
        of: the kind of an interval's ends.
        error: the error column whose typical size says how many digits of shares have meaning.
        word: the word for a decision that was taken; decisions side by side under one title are
            one column for people, the surest first.
        otherwise: the word for a decision that was not taken, and for a missing number.
        digits: the number of significant digits of a number.
        decimals: the number of digits behind the point, in place of `digits`, where numbers stand
            below each other.
        extra: whether narrow pages leave the column out.
        tick: whether a chart marks this share with a tick, beside the bar of another.
        block: where all columns are too wide for a terminal, the block of them that this one stands
            in; blocks stand below each other, and labels in each.
    """

    name: str
    kind: Kind
    title: str = ""
    of: Kind = "share"
    error: str = "std_error"
    word: str = ""
    otherwise: str = ""
    digits: int = 4
    decimals: int | None = None
    extra: bool = False
    tick: bool = False
    block: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a table file that hold it: an interval takes two."""
        if self.kind not in _SPREAD:
            return (self.name,)
        start = self.name.removesuffix("interval").removesuffix("_")
        return tuple(f"{start}_{end}" if start else end for end in ("low", "high"))

    def spread(self, cell: Cell) -> tuple[Any, ...]:
        """Return a cell as `names` hold it; None for what is unknown."""
        if self.kind not in _SPREAD:
            return (plain(cell),)
        return (None, None) if cell is None else tuple(plain(cell))


class Columns(Sequence[Column]):
    """The columns of a table, by place and by name."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = tuple(columns)
        self.place = {column.name: i for i, column in enumerate(self._columns)}

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, place: Any) -> Any:
        return self._columns[place]

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and self._columns == other._columns

    def __hash__(self) -> int:
        return hash(self._columns)

    def of(self, *kinds: Kind) -> tuple[Column, ...]:
        """Return the columns of some kinds, in order."""
        return tuple(column for column in self._columns if column.kind in kinds)

    @cached_property
    def labels(self) -> tuple[Column, ...]:
        """The columns that say what a row is about, as people read them."""
        return tuple(column for column in self.of("label") if column.title)

    @cached_property
    def main(self) -> tuple[str | None, str | None, str | None, str | None]:
        """The names of the first share, error, interval and of the widest decision."""
        share, error, interval, decision = (
            self.of(kind) for kind in ("share", "error", "interval", "decision")
        )
        title = decision[0].title if decision else ""
        tests = [column.name for column in decision if column.title == title]
        return (
            share[0].name if share else None,
            error[0].name if error else None,
            interval[0].name if interval else None,
            tests[-1] if tests else None,
        )


class Row(Mapping[str, Any]):
    """One row: cells by the names of their columns, as keys or as attributes.

    Example:
        >>> columns = Columns([Column("value", "label"), Column("frequency", "share")])
        >>> row = Row(columns, ("blue", 0.25))
        >>> row.frequency, row["value"]
        (0.25, 'blue')
    """

    __slots__ = ("_cells", "_columns")

    def __init__(self, columns: Columns, cells: tuple[Cell, ...]) -> None:
        self._columns = columns
        self._cells = cells

    def __getitem__(self, name: str) -> Any:
        return self._cells[self._columns.place[name]]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._columns.place:
            raise AttributeError(name)
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns.place)

    def __len__(self) -> int:
        return len(self._cells)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and self._cells == other._cells

    def __hash__(self) -> int:
        return hash(self._cells)

    def __repr__(self) -> str:
        return f"Row({dict(self)!r})"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells, in the order of the columns."""
        return self._cells

    @property
    def learned(self) -> bool:
        """True if the share has a finite number and a finite error."""
        share, error, _, _ = self._columns.main
        return all(name is None or math.isfinite(self[name]) for name in (share, error))

    @property
    def drawn(self) -> bool:
        """True if a picture has something to show: a share that was learned, not one of 0 to 1."""
        _, _, interval, _ = self._columns.main
        if not self.learned or interval is None or self[interval] is None:
            return self.learned
        low, high = self[interval]
        return bool(low > 0 or high < 1)

    @property
    def stands_out(self) -> bool:
        """True if the row's test found it; without a test, if its interval lies above 0."""
        _, _, interval, decision = self._columns.main
        found = None if decision is None else self[decision]
        if found is not None or interval is None:
            return bool(found) or interval is None
        return bool(self[interval][0] > 0)


def plain(cell: Any) -> Any:
    """Return a cell that JSON and files can hold: None for NaN and infinities, at any depth."""
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else None
    if isinstance(cell, Mapping):
        return {name: plain(value) for name, value in cell.items()}
    return [plain(one) for one in cell] if isinstance(cell, list | tuple) else cell

"""People's true values by column: from a CSV file, a data frame, or a mapping."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter

Columns = Mapping[str, Sequence[Any]]
"""The values of each column, one per person."""
_MISSING_TYPES = ("NAType", "NaTType")
"""How pandas calls what is not there; comparing one raises."""


def is_missing(cell: object) -> bool:
    """Tell whether a cell says nothing: empty text, None, or not a number."""
    if cell is None or type(cell).__name__ in _MISSING_TYPES:
        return True
    return (isinstance(cell, str) and not cell.strip()) or (
        isinstance(cell, float) and math.isnan(cell)
    )


def read_columns(people: Any) -> Columns:
    """Return the columns of people's values.

    Args:
        people: a CSV file with a heading, a frame of pandas or Polars, an Arrow table, or a mapping
            from names to lists.

    Raises:
        InvalidParameter: without any value: if it is none of these, or columns differ in length.
    """
    if isinstance(people, str | Path):
        return _from_csv(Path(people))
    if hasattr(people, "to_pydict"):  # Arrow
        people = people.to_pydict()
    names = people.keys() if isinstance(people, Mapping) else getattr(people, "columns", None)
    if names is None:
        raise InvalidParameter(
            "People's values must be a CSV file, a data frame, or a mapping from columns to "
            f"lists. Got {type(people).__name__}."
        )
    found = {str(name): _listed(people[name], str(name)) for name in names}
    return _checked(found)


def _listed(column: Any, name: str) -> list[Any]:
    for method in ("to_list", "tolist"):  # of pandas and Polars; of NumPy
        if hasattr(column, method):
            return list(getattr(column, method)())
    if isinstance(column, str | bytes) or not hasattr(column, "__iter__"):
        raise InvalidParameter(f"Column {name!r:.80} must be a list of values.")
    return list(column)


def _checked(columns: dict[str, list[Any]]) -> Columns:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise InvalidParameter("People's values must be columns of one length, at least one.")
    if lengths == {0}:
        raise InvalidParameter("There are no people: the columns are empty.")
    return columns


def _from_csv(path: Path) -> Columns:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            heading = [name.strip() for name in next(reader, [])]
            if len(set(heading)) < len(heading) or not all(heading):
                raise InvalidParameter(
                    f"The first line of {path.name!r:.80} must name each column once."
                )
            rows = [row for row in reader if row]
    except (OSError, UnicodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise InvalidParameter(
            f"The values in {path.name!r:.80} cannot be read: {why}.",
            "Give a CSV file in UTF-8, with a heading.",
        ) from None
    wrong = [number for number, row in enumerate(rows, 2) if len(row) != len(heading)]
    if wrong:
        raise InvalidParameter(
            f"Every line of {path.name!r:.80} must have {len(heading)} cells. "
            f"Line {wrong[0]:,} has another number of them."
        )
    return _checked({name: [row[i] for row in rows] for i, name in enumerate(heading)})

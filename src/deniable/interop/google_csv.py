"""CSV files of google/rappor, row by row, with errors that name file and line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from deniable.errors import InvalidParameter


class Rows:
    """The rows of one file; iterate over it, and ask it for errors about the last row.

    Edge cases: blank lines are left out.

    Attributes:
        line: the line of the last row that was read; after the end, the line behind the last.
    """

    def __init__(self, name: str, file: TextIO) -> None:
        self._name = name
        self._reader = csv.reader(file, strict=True)
        self.line = 0

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        self.line += 1
        try:
            row = next(self._reader)
            while not row:  # a blank line
                row = next(self._reader)
        except UnicodeDecodeError:
            raise self.error("or one soon after it is not UTF-8.", "Save it as UTF-8.") from None
        except csv.Error as error:
            raise self.error(f"is not CSV: {error}.", "Mend its quotes.") from None
        self.line = self._reader.line_num
        return row

    def error(self, what: str, fix: str, line: int | None = None) -> InvalidParameter:
        """Return the error for a line, by default the last one read."""
        at = self.line if line is None else line
        return InvalidParameter(f"{self._name}, line {at:,} {what}", fix)

    def integers(self, cells: list[str], low: int, high: int) -> list[int]:
        """Return cells as integers in low..high.

        Raises:
            InvalidParameter: with the line.
        """
        try:
            if "_" in "".join(cells):  # int() would read 1_0 as 10
                raise ValueError
            values = [int(cell) for cell in cells]
        except ValueError:
            raise self.error("must hold integers.", "Write them in decimal digits.") from None
        if values and not (low <= min(values) and max(values) <= high):
            raise self.error(f"must hold integers from {low:,} to {high:,}.", "Check k, h and m.")
        return values

    def header(self, names: list[str]) -> None:
        """Read the header.

        Raises:
            InvalidParameter: unless it is exactly these names.
        """
        if next(self, None) != names:
            raise self.error(f"must be the header {','.join(names)}.", "Write it exactly so.")


@contextmanager
def reading(path: Path) -> Iterator[Rows]:
    """Open a file for reading row by row.

    Raises:
        InvalidParameter: if it cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield Rows(path.name, file)
    except OSError as error:
        raise InvalidParameter(
            f"The file {path.name!r} cannot be read: {error.strerror or error}.",
            "Check its name and its permissions.",
        ) from None


def write_rows(path: Path, rows: Iterable[Iterable[object]]) -> None:
    """Write rows as they come, each ended by CR LF, as Google's tools do."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)

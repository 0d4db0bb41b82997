"""The rows of `batches`: every one is read with its sum checked, and written with a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from deniable.errors import StoreError
from deniable.store.base import Batch
from deniable.store.sums import row_sum

_SELECT = """
    SELECT batch, question, version, digest, epoch, size, simulated, segments, reports, open, ran,
        sum FROM batches
"""
_INSERT = """
    INSERT INTO batches (batch, question, version, digest, epoch, size, simulated, segments,
        reports, open, ran, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True)
class BatchRow:
    """A batch as the store keeps it.

    `ran` is how many seconds collectors have run since they found its epoch over; None before.
    """

    number: int
    batch: Batch
    size: int
    reports: int = 0
    open: bool = True
    ran: int | None = None

    @property
    def bytes(self) -> int:
        """The bytes that its chunks must have together."""
        return self.reports * self.size

    def more(self, count: int) -> Self:
        """Return the row with `count` more reports; they open it again if it was closed."""
        return replace(self, reports=self.reports + count, open=True)

    def insert(self, connection: sqlite3.Connection) -> None:
        """Write the row as a new one."""
        connection.execute(_INSERT, self._stored())

    def update(self, connection: sqlite3.Connection, number: int | None = None) -> None:
        """Write the row over the one with this number, by default its own."""
        connection.execute(
            "UPDATE batches SET batch = ?, segments = ?, reports = ?, open = ?, ran = ?, sum = ?"
            " WHERE batch = ?",
            (
                self.number,
                self.batch.segments,
                self.reports,
                int(self.open),
                self.ran,
                self._stored()[-1],
                self.number if number is None else number,
            ),
        )

    def _stored(self) -> tuple[object, ...]:
        batch = self.batch
        columns = (
            self.number,
            batch.question,
            batch.version,
            batch.digest,
            batch.epoch,
            self.size,
            int(batch.simulated),
            batch.segments,
            self.reports,
            int(self.open),
            self.ran,
        )
        return (*columns, row_sum(*columns))


def rows(
    connection: sqlite3.Connection, where: str = "TRUE", values: tuple[object, ...] = ()
) -> list[BatchRow]:
    """Return the rows that a condition chooses.

    Raises:
        StoreError: if one of them does not fit its sum.
    """
    found = connection.execute(f"{_SELECT} WHERE {where}", values)
    return [_sound(row) for row in found.fetchall()]


def judged_rows(connection: sqlite3.Connection, where: str = "TRUE") -> Iterator[BatchRow | None]:
    """Yield the rows that a condition chooses, None for each that does not fit its sum."""
    for row in connection.execute(f"{_SELECT} WHERE {where}").fetchall():
        try:
            yield _sound(row)
        except StoreError:
            yield None


def find_row(connection: sqlite3.Connection, batch: Batch, size: int) -> BatchRow | None:
    """Return the row of a batch whose records have a size, if there is one."""
    found = rows(
        connection,
        "question = ? AND version = ? AND digest = ? AND epoch = ? AND size = ? AND simulated = ?"
        " AND segments = ?",
        (
            batch.question,
            batch.version,
            batch.digest,
            batch.epoch,
            size,
            int(batch.simulated),
            batch.segments,
        ),
    )
    return found[0] if found else None


def name_of(batch: Batch) -> str:
    """Return a batch in words, for messages."""
    made_up = ", simulated" if batch.simulated else ""
    where = f", segments {batch.segments:.200}" if batch.segments else ""
    return (
        f"question {batch.question!r:.80}, version {batch.version}, epoch {batch.epoch}"
        f"{made_up}{where}"
    )


def _sound(row: tuple[Any, ...]) -> BatchRow:
    if row_sum(*row[:-1]) != row[-1]:
        raise StoreError(
            "The store is damaged: a row of its table of batches does not fit its sum. Nothing was "
            "changed. Run: deniable store check"
        )
    number, question, version, digest, epoch, size, simulated, segments = row[:8]
    reports, is_open, ran = row[8:11]
    batch = Batch(question, version, digest, epoch, bool(simulated), segments)
    return BatchRow(number, batch, size, reports, bool(is_open), ran)

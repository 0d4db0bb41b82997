"""A row of `batches` as both stores keep it, and what is said of a damaged one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from deniable.errors import StoreError
from deniable.store.base import Batch
from deniable.store.sums import row_sum

SELECT = """
    SELECT batch, question, version, digest, epoch, size, simulated, segments, reports, open, ran,
        sum FROM batches
"""
INSERT = """
    INSERT INTO batches (batch, question, version, digest, epoch, size, simulated, segments,
        reports, open, ran, sum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
DAMAGED_ROW = "The store is damaged: a row of its table of batches does not fit its sum."


class Damaged(StoreError):
    """A part of the store is not what was written."""


@dataclass(frozen=True)
class BatchRow:
    """A batch as a store keeps it.

    `ran` is how many seconds collectors have run since they found its epoch over; None before.
    `beside` is how many of its reports are counted beside the row, by the collectors that took
    them; SQLite counts none so.
    """

    number: int
    batch: Batch
    size: int
    reports: int = 0
    open: bool = True
    ran: int | None = None
    beside: int = 0

    @property
    def bytes(self) -> int:
        """The bytes that its chunks must have together."""
        return self.reports * self.size

    def more(self, count: int) -> Self:
        """Return the row with `count` more reports; they open it again if it was closed."""
        # What a closed row ran was about something else than an open one's.
        ran = self.ran if self.open else None
        return replace(self, open=True, ran=ran, reports=self.reports + count)

    def reopened(self) -> Self:
        """Return the row as an open one."""
        return self.more(0)

    def stored(self) -> tuple[object, ...]:
        """Return the columns, the sum last."""
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
            self.reports - self.beside,
            int(self.open),
            self.ran,
        )
        return (*columns, row_sum(*columns))


def sound_row(columns: tuple[Any, ...], beside: int = 0) -> BatchRow | None:
    """Return the row of these columns, None if they do not fit their sum."""
    if row_sum(*columns[:-1]) != columns[-1]:
        return None
    number, question, version, digest, epoch, size, simulated, segments = columns[:8]
    reports, is_open, ran = columns[8:11]
    batch = Batch(question, version, digest, epoch, bool(simulated), segments)
    return BatchRow(number, batch, size, reports + beside, bool(is_open), ran, beside)


def checked(found: Iterable[BatchRow | None]) -> list[BatchRow]:
    """Return rows of which each one is sound.

    Raises:
        Damaged: if one is None: it does not fit its sum.
    """
    rows = list(found)
    sound = [row for row in rows if row is not None]
    if len(sound) < len(rows):
        raise Damaged(f"{DAMAGED_ROW} Nothing was changed. Run: deniable store check")
    return sound


def check_bytes(row: BatchRow, found: int) -> None:
    """Compare the bytes of a batch's chunks with its number of reports.

    Raises:
        Damaged: if they differ.
    """
    if found != row.bytes:
        raise Damaged(
            f"its chunks hold {found:,} bytes, its {row.reports:,} reports need {row.bytes:,}"
        )


def damage(row: BatchRow, error: Damaged) -> Damaged:
    """Return the error with the name of its batch, and what to do."""
    return Damaged(
        f"The store is damaged in {name_of(row.batch)}: {error}. Run: deniable store check. "
        "Other questions and epochs can be read."
    )


def name_of(batch: Batch) -> str:
    """Return a batch in words, for messages."""
    made_up = ", simulated" if batch.simulated else ""
    where = f", segments {batch.segments:.200}" if batch.segments else ""
    return (
        f"question {batch.question!r:.80}, version {batch.version}, epoch {batch.epoch}"
        f"{made_up}{where}"
    )

"""The rows of `chunks`: written with a sum, and read only if they fit it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from deniable.errors import StoreError
from deniable.store.batches import BatchRow, name_of
from deniable.store.shuffle import RandomBytes
from deniable.store.sums import chunk_sum

_KEY_BYTES = 16

_ALL = "SELECT key, sum, records FROM chunks WHERE batch = ?"


class Damaged(StoreError):
    """A part of the store is not what was written."""


def insert_chunk(
    connection: sqlite3.Connection, number: int, records: bytes, random_bytes: RandomBytes
) -> None:
    """Write one chunk under a random key."""
    key = random_bytes(_KEY_BYTES)
    connection.execute(
        "INSERT INTO chunks (batch, key, sum, records) VALUES (?, ?, ?, ?)",
        (number, key, chunk_sum(number, key, records), records),
    )


def checked_records(
    connection: sqlite3.Connection,
    number: int,
    keys: tuple[bytes, bytes] | None = None,
) -> Iterator[bytes]:
    """Yield the records of each chunk under a batch number, perhaps of a range of keys only.

    Raises:
        Damaged: at the first chunk that does not fit its sum.
    """
    wanted = _ALL if keys is None else f"{_ALL} AND key BETWEEN ? AND ?"
    found = connection.execute(wanted, (number, *(keys or ())))
    for key, expected, records in found:
        if not is_sound(number, key, expected, records):
            raise Damaged("one of its chunks does not fit its sum")
        yield records


def is_sound(number: int, key: object, expected: object, records: object) -> bool:
    """Tell whether a chunk is what was written."""
    if not (isinstance(key, bytes) and isinstance(records, bytes)):
        return False  # damage can change the type of a column too
    return chunk_sum(number, key, records) == expected


def stored_bytes(connection: sqlite3.Connection, number: int) -> int:
    """Return the bytes of the records under a batch number; no record is read for it."""
    found: int = connection.execute(
        "SELECT coalesce(sum(length(records)), 0) FROM chunks WHERE batch = ?", (number,)
    ).fetchone()[0]
    return found


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

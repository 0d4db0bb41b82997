"""Reading the SQLite store. Every call sees one moment of it, on a connection of its own."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from deniable.store.base import Batch, Chunk, Tally
from deniable.store.batches import rows
from deniable.store.chunks import Damaged, check_bytes, checked_records, damage

Reading = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Opens a connection that sees one moment of the store."""

_WANTED = """
    question = ?1 AND (?2 IS NULL OR version = ?2)
        AND (?3 IS NULL OR epoch >= ?3) AND (?4 IS NULL OR epoch <= ?4)
"""


def read_chunks(
    reading: Reading,
    question: str,
    version: int | None,
    first_epoch: int | None,
    last_epoch: int | None,
) -> Iterator[Chunk]:
    """Yield the chunks of a question, one at a time in memory.

    Edge cases: an unknown question has no chunks. The log cannot be truncated before the iterator
    is exhausted or closed.

    Raises:
        StoreError: if a chunk does not fit its sum, or the chunks of a batch are not all there.
    """
    with reading() as connection:
        for row in rows(connection, _WANTED, (question, version, first_epoch, last_epoch)):
            found = 0
            try:
                for records in checked_records(connection, row.number):
                    found += len(records)
                    yield Chunk(row.batch, records, len(records) // row.size)
                check_bytes(row, found)
            except Damaged as error:
                raise damage(row, error) from None


def read_tallies(reading: Reading) -> list[Tally]:
    """Return the number of reports and bytes of each batch, sorted."""
    reports: Counter[Batch] = Counter()
    sizes: Counter[Batch] = Counter()
    stamps: dict[Batch, int] = {}
    with reading() as connection:
        for row in rows(connection):
            reports[row.batch] += row.reports
            sizes[row.batch] += row.bytes
            stamps[row.batch] = max(row.number, stamps.get(row.batch, 0))
    return [Tally(each, reports[each], sizes[each], stamps[each]) for each in sorted(reports)]


def read_counters(reading: Reading) -> dict[tuple[str, str], int]:
    """Return the counters that are above zero."""
    with reading() as connection:
        found = connection.execute("SELECT question, reason, count FROM counters WHERE count > 0")
        return {(question, reason): count for question, reason, count in found}

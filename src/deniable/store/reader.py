"""Reading a store. Every call sees one moment of it, on a connection of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from deniable.errors import StoreError
from deniable.store.base import Batch, Chunk, Tally
from deniable.store.rows import BatchRow, Damaged, check_bytes, damage
from deniable.store.tables import Tables

Reading = Callable[[], AbstractContextManager[Tables]]
"""Opens tables that show one moment of the store."""

_LOOKS = 20
"""The most looks at a store whose epochs are being closed; each of them is closed once."""


def read_chunks(
    reading: Reading, wanted: Callable[[BatchRow], bool], question: str | None = None
) -> Iterator[Chunk]:
    """Yield the chunks of the batches that are wanted, one at a time in memory.

    Edge cases: an unknown question has no chunks. The log of SQLite cannot be truncated, nor the
    tables of an epoch be dropped by PostgreSQL, before the iterator is exhausted or closed.

    Raises:
        StoreError: if a chunk does not fit its sum, or the chunks of a batch are not all there.
    """
    where, values = ("TRUE", ()) if question is None else ("question = ?", (question,))
    for _ in range(_LOOKS):
        with reading() as tables:
            found = [row for row in tables.rows(where, values) if wanted(row)]
            if tables.keep(found):
                for row in found:
                    yield from _chunks_of(tables, row)
                return
    raise StoreError("The store cannot be read while its epochs are being closed. Try again.")


def _chunks_of(tables: Tables, row: BatchRow) -> Iterator[Chunk]:
    found = 0
    try:
        for records in tables.checked_records(row):
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
    opened: set[Batch] = set()
    with reading() as tables:
        for row in tables.rows():
            reports[row.batch] += row.reports
            sizes[row.batch] += row.bytes
            stamps[row.batch] = max(row.number, stamps.get(row.batch, 0))
            if row.open:
                opened.add(row.batch)
    return [
        Tally(each, number, sizes[each], stamps[each], each in opened)
        for each, number in sorted(reports.items())
        if number
    ]

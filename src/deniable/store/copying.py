"""Backups: the batches of one store in another, of either kind, checked before they are believed.

A copy of an open epoch keeps, for as long as the copy is kept, which reports arrived together and
their ids. So closed epochs are copied unless somebody asks for more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from shutil import rmtree

from deniable.errors import StoreError
from deniable.store.base import ACCEPTED, SIMULATED, Batch
from deniable.store.check import check_store
from deniable.store.place import is_database, open_store
from deniable.store.rows import BatchRow
from deniable.store.tabled import TabledStore
from deniable.store.tables import Tables, Transaction

_STEP_BYTES = 32 * 2**20
"""The most bytes of records in one transaction, beside a chunk."""

Copied = dict[Batch, int]
"""The number of reports that were copied, by batch."""


def back_up(place: str | Path, target: Path, *, with_open: bool = False) -> Copied:
    """Write the closed epochs of a store into a new data directory, and check it.

    The directory gets its name when it is whole. The store may be in use.

    Args:
        place: the store.
        target: the directory; it must not exist.
        with_open: copy open epochs with their ids, too.

    Raises:
        StoreError: if the store is damaged or cannot be read, or the target exists.
    """
    if target.exists():
        raise StoreError(f"{target} exists already. Name a new directory.")
    made = target.with_name(f".{target.name}.{token_hex(8)}.new")
    try:
        copied = _copy(place, made, with_open=with_open)
        made.rename(target)
    finally:
        rmtree(made, ignore_errors=True)
    return copied


def restore(source: Path, place: str | Path) -> Copied:
    """Write all that a backup holds into an empty store, and check it.

    Raises:
        StoreError: if the backup is damaged, or the store holds reports already.
    """
    return _copy(source, place, with_open=True)


def _copy(source: str | Path, target: str | Path, *, with_open: bool) -> Copied:
    with _opened(source, create=False) as old, _opened(target, create=True) as new:
        if new.tallies():
            raise StoreError("The store holds reports already. Restore into an empty one.")
        with old._reading() as tables:
            rows = [row for row in tables.rows() if row.reports and (with_open or not row.open)]
            if not tables.keep(rows):
                raise StoreError("An epoch was closed at this moment. Try again.")
            _write(tables, rows, new)
        copied = {tally.batch: tally.reports for tally in new.tallies()}
    problems = check_store(target).problems
    wanted: Counter[Batch] = Counter()
    for row in rows:
        wanted[row.batch] += row.reports
    if problems or copied != wanted:
        words = problems[0].words if problems else "it does not hold what was copied"
        raise StoreError(f"The copy is damaged: {words}. Do not use it.")
    return copied


@contextmanager
def _opened(place: str | Path, *, create: bool) -> Iterator[TabledStore]:
    with open_store(place if is_database(place) else Path(place), create=create) as store:
        if not isinstance(store, TabledStore):
            raise StoreError("Only stores of tables can be copied.")
        yield store


def _write(source: Tables, rows: list[BatchRow], target: TabledStore) -> None:
    """Write chunks step by step; the rows that make them visible, with all counters, at the end."""
    with target._closer("take the copy") as closer:
        if closer is None:
            raise StoreError("Another process is closing epochs of the store. Try again.")
        tables, transaction = closer
        made = [_write_chunks(source, row, tables, transaction) for row in rows]
        counts = Counter(
            {key: n for key, n in source.counters().items() if key[1] not in (ACCEPTED, SIMULATED)}
        )
        for row in rows:
            kept = SIMULATED if row.batch.simulated else ACCEPTED
            counts[row.batch.question, kept] += row.reports
        with transaction():
            for epoch in sorted({row.batch.epoch for row in rows if row.open}):
                tables.put_ids(epoch, source.ids(epoch))
            for row in made:
                tables.insert(row)
            tables.add_counters(counts)


def _write_chunks(
    source: Tables, row: BatchRow, tables: Tables, transaction: Transaction
) -> BatchRow:
    number = tables.renumbered(row).number
    made = BatchRow(number, row.batch, row.size, row.reports, row.open)
    waiting: list[bytes] = []

    def flush() -> None:
        with transaction():
            for records in waiting:
                tables.insert_chunk(made, records)
        waiting.clear()

    for records in source.checked_records(row):
        waiting.append(records)
        if sum(map(len, waiting)) >= _STEP_BYTES:
            flush()
    flush()
    return made

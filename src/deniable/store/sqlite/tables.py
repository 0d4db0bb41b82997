"""The tables of the SQLite store on one connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from deniable.store.base import Counters
from deniable.store.rows import INSERT, SELECT, BatchRow
from deniable.store.shuffle import RandomBytes
from deniable.store.sqlite.id_runs import ID_BYTES, EpochRuns, epochs_with_ids
from deniable.store.tables import Tables, Transaction, nowhere

_DROP_ROWS = 512
"""Rows of ids that one transaction deletes and overwrites: 4 MB."""
_STEP_PAGES = 1_024
"""Pages that one transaction gives back: 4 MB."""
_CHUNKS = "SELECT key, sum, records FROM chunks WHERE batch = ?"


class SqliteTables(Tables):
    """All chunks lie in one table. A write transaction keeps every other writer out.

    What is deleted is overwritten: `secure_delete` is on.
    """

    errors = (sqlite3.Error,)
    in_place = True

    def __init__(self, connection: sqlite3.Connection, random_bytes: RandomBytes) -> None:
        super().__init__(random_bytes)
        self.connection = connection

    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement, and return the rows that it gives."""
        return self.connection.execute(statement, tuple(values)).fetchall()

    def error_name(self, error: Exception) -> str:
        """Return SQLite's name of an error."""
        return str(getattr(error, "sqlite_errorname", type(error).__name__))

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Read inside of one transaction."""
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            self.connection.execute("COMMIT")

    def has(self, table: str) -> bool:
        """Look into the list of tables."""
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)))

    def make(self, statement: str) -> None:
        """Make a table in the transaction, which keeps all others out."""
        self.connection.execute(statement)

    def hold(self, rows: Sequence[BatchRow]) -> None:
        """Do nothing: the transaction keeps all others out already."""

    def keep(self, rows: Sequence[BatchRow]) -> bool:
        """Say that all is there: a moment of SQLite's has everything that was in it."""
        return True

    def select(
        self, where: str, values: Sequence[object], lock: bool
    ) -> Iterable[tuple[tuple[Any, ...], int]]:
        """Return the columns of the rows; nothing is counted beside them."""
        found = self.execute(f"{SELECT} WHERE {where}", values)
        return [(columns, 0) for columns in found]

    def insert(self, row: BatchRow) -> None:
        """Write a row as a new one."""
        self.connection.execute(INSERT, row.stored())

    def delete(self, row: BatchRow) -> None:
        """Delete and overwrite a row with its chunks."""
        self.connection.execute("DELETE FROM chunks WHERE batch = ?", (row.number,))
        self.forget(row)

    def put(self, row: BatchRow, key: bytes, found: bytes, records: bytes) -> None:
        """Write one chunk."""
        self.connection.execute(
            "INSERT INTO chunks (batch, key, sum, records) VALUES (?, ?, ?, ?)",
            (row.number, key, found, records),
        )

    def chunks(
        self, row: BatchRow, keys: tuple[bytes, bytes] | None = None
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yield a batch's chunks as they are fetched."""
        wanted = _CHUNKS if keys is None else f"{_CHUNKS} AND key BETWEEN ? AND ?"
        yield from self.connection.execute(wanted, (row.number, *(keys or ())))

    def keys(self, row: BatchRow, span: tuple[bytes, bytes]) -> list[tuple[Any, Any]]:
        """Return (key, sum) of chunks; no record is read."""
        return self.execute(
            "SELECT key, sum FROM chunks WHERE batch = ? AND key BETWEEN ? AND ?",
            (row.number, *span),
        )

    def take(self, row: BatchRow, span: tuple[bytes, bytes]) -> None:
        """Delete chunks; the same transaction fills the pages that they had."""
        self.connection.execute(
            "DELETE FROM chunks WHERE batch = ? AND key BETWEEN ? AND ?", (row.number, *span)
        )

    def give_back(self, transaction: Transaction) -> None:
        """Move pages from the end of the file into free ones, and cut the file.

        Edge cases: a file that was made by schema version 1 keeps its free pages for later use.
        """
        free, before = self._free_pages(), -1
        while free not in (0, before):
            with transaction():
                for _ in range(min(free, _STEP_PAGES)):
                    # One page each: Python's module takes one step of a statement without columns.
                    self.connection.execute("PRAGMA incremental_vacuum(1)")
            before, free = free, self._free_pages()

    def _free_pages(self) -> int:
        return int(self.execute("PRAGMA freelist_count")[0][0])

    def lengths(self, row: BatchRow, *, removable: bool = False) -> Iterable[tuple[bytes, int]]:
        """Return the keys of a batch's chunks, and how long they are."""
        return self.connection.execute(
            "SELECT key, length(records) FROM chunks WHERE batch = ? ORDER BY key", (row.number,)
        )

    def stored_bytes(self, row: BatchRow) -> int:
        """Return the bytes of a batch's records."""
        ((found,),) = self.execute(
            "SELECT coalesce(sum(length(records)), 0) FROM chunks WHERE batch = ?", (row.number,)
        )
        return int(found)

    def unowned(self) -> Iterator[BatchRow]:
        """Yield the numbers that no batch has, by jumping from number to number in the index."""
        number = -1
        while True:
            ((found,),) = self.execute("SELECT min(batch) FROM chunks WHERE batch > ?", (number,))
            if found is None:
                return
            number = found
            # A look beforehand saves a write; what counts is the question that `remove` asks.
            if not self.execute("SELECT 1 FROM batches WHERE batch = ?", (number,)):
                yield nowhere(number)

    def remove(self, row: BatchRow, first: bytes, last: bytes) -> None:
        """Delete and overwrite chunks under a number that no batch has."""
        self.connection.execute(
            "DELETE FROM chunks WHERE batch = ? AND key BETWEEN ? AND ?"
            " AND NOT EXISTS (SELECT 1 FROM batches WHERE batch = ?)",
            (row.number, first, last, row.number),
        )

    def drop_ids(self, transaction: Transaction) -> None:
        """Drop the ids of what is closed, step by step, so that collecting goes on meanwhile."""
        for epoch in epochs_with_ids(self.connection):
            done = False
            while not done:
                with transaction():
                    # A late report may have opened the epoch again since the last step.
                    done = bool(
                        self.execute(
                            "SELECT 1 FROM batches WHERE epoch = ? AND open LIMIT 1", (epoch,)
                        )
                    ) or self._runs(epoch).drop(_DROP_ROWS)

    def ids(self, epoch: int) -> list[bytes]:
        """Return the ids of an epoch."""
        found = self.execute("SELECT ids FROM ids WHERE epoch = ?", (epoch,))
        return [ids[at : at + ID_BYTES] for (ids,) in found for at in range(0, len(ids), ID_BYTES)]

    def put_ids(self, epoch: int, ids: Sequence[bytes]) -> None:
        """Write the ids of an epoch as one run."""
        self._runs(epoch).add(b"".join(sorted(ids)))

    def _runs(self, epoch: int) -> EpochRuns:
        return EpochRuns(self.connection, epoch, self.random_bytes)

    def add_counters(self, counters: Counters) -> None:
        """Add to the counters."""
        self.connection.executemany(
            "INSERT INTO counters (question, reason, count) VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [(question, reason, count) for (question, reason), count in counters.items()],
        )

"""The store in PostgreSQL: any number of collectors, on any machines, write at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store.base import Appended, Batch, Counters
from deniable.store.place import check_address
from deniable.store.postgres.connection import connect, plain_errors, transaction
from deniable.store.postgres.ids import Ids, IdsDumper
from deniable.store.postgres.locks import Locks
from deniable.store.postgres.schema import create_epoch, ids_table, prepare
from deniable.store.postgres.tables import PostgresTables
from deniable.store.postgres.writer import Writer
from deniable.store.tabled import Closer, TabledStore

_TRIES = 5
_T = TypeVar("_T")


class _Again(StoreError):
    """A transaction failed in a way that another try may repair."""


class PostgresStore(TabledStore):
    """Reports in the tables of one schema of a database.

    Guarantees: a group is one transaction, synced to disk before `append` returns, whatever the
    server's default is. Each report counts once, through whichever collectors its retries come.
    No row says when or in which order reports of a closed epoch arrived. A server that does not
    sync, or that keeps the times of commits, is refused.

    Cost: two round trips and one sync per group.

    Edge cases: a connection lost during a commit is `OutcomeUnknown`; the next call connects
    again. What is deleted is not overwritten, and stays in the server's log, its replicas and its
    backups as long as they keep it: SECURITY.md.

    Args:
        place: postgresql://USER@HOST:PORT/DATABASE, perhaps with ?schema=NAME; no password.
        create: whether to make the tables if they are missing.
        options: what `TabledStore` takes.

    Raises:
        StoreError: if there is no connection, no store, or one of a newer version; or if the
            server is set in a way that breaks a promise.
    """

    def __init__(self, place: str, *, create: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self._address, self._schema = check_address(place)
        self._locks = Locks(self._schema)
        self._lock = threading.Lock()
        self._closed = False
        self._tables: PostgresTables | None = None
        self._seen: set[int] = set()
        with plain_errors("be opened"):
            connection = self._connect()
            try:
                prepare(connection, self._schema, self._locks, create)
            except BaseException:
                connection.close()
                raise
        self._tables = PostgresTables(connection, self._random_bytes, self._locks)

    def __repr__(self) -> str:
        return f"PostgresStore({self._address!r}, schema {self._schema!r})"

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        """Write a group in one transaction: its ids, a shuffled chunk per batch, its counters."""
        refused = refusals or {}
        epochs = {report.epoch for report in reports}
        return self._append(epochs, lambda writer: writer.append(reports, refused, self._simulated))

    def _put_records(self, batch: Batch, records: bytes, size: int, kept: str) -> int:
        return self._append({batch.epoch}, lambda writer: writer.put(batch, records, size, kept))

    def _append(self, epochs: Iterable[int], write: Callable[[Writer], _T]) -> _T:
        """Write in one transaction; make the tables of epochs that this object has not seen first.

        Should a closer have dropped them since, or another collector have been in the way, again.
        """
        checked = sorted(epochs, key=ids_table)  # each is looked at before it names a table
        for left in reversed(range(_TRIES)):
            try:
                with self._connected() as tables:
                    if not self._seen.issuperset(checked):
                        create_epoch(tables.connection, self._locks, checked)
                        self._seen.update(checked)
                    return write(Writer(tables))
            except _Again:
                if not left:
                    raise
                self._seen.difference_update(checked)
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Close the writing connection; iterators of `read` have their own and live on."""
        with self._lock:
            self._closed = True
            if self._tables is not None:
                self._tables.connection.close()

    def size(self) -> int:
        """Return the bytes of the schema's tables and their indexes."""
        with self.reading() as tables:
            found = tables.connection.execute(
                "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
                "WHERE relkind = 'r' AND relnamespace = %s::regnamespace",
                [self._schema],
            ).fetchone()
        return int(found[0]) if found else 0

    @contextmanager
    def reading(self) -> Iterator[PostgresTables]:
        """Give tables that show one moment of the store."""
        self._check_open()
        with plain_errors("be read"):
            connection = self._connect(patient=True)
            try:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                yield PostgresTables(connection, self._random_bytes, self._locks)
            finally:
                connection.close()

    _reading = reading

    @contextmanager
    def _writing(self) -> Iterator[PostgresTables]:
        with self._connected() as tables, transaction(tables.connection):
            yield tables

    @contextmanager
    def _closer(self, doing: str = "close an epoch") -> Iterator[Closer | None]:
        """Take the lock of the closer, on a connection of its own; closing that releases it."""
        self._check_open()
        with plain_errors(doing):
            connection = self._connect()
            try:
                if connection.execute(self._locks.for_ever("closing")).fetchone() != (True,):
                    yield None
                    return
                tables = PostgresTables(connection, self._random_bytes, self._locks)
                yield tables, lambda: transaction(connection)
            finally:
                connection.close()

    @contextmanager
    def _connected(self) -> Iterator[PostgresTables]:
        """Give the tables to write to; threads of this process take turns.

        A connection that was lost is made anew; one on which something failed is thrown away.
        """
        with self._lock, plain_errors("be written"):
            self._check_open()
            if self._tables is None or self._tables.connection.closed:
                self._tables = PostgresTables(self._connect(), self._random_bytes, self._locks)
            try:
                yield self._tables
            except (psycopg.errors.UndefinedTable, psycopg.errors.DeadlockDetected):
                self._tables.connection.close()
                raise _Again("The store cannot be written: a table of it is missing.") from None
            except BaseException:
                self._tables.connection.close()
                raise

    def _connect(self, *, patient: bool = False) -> Connection[Any]:
        made = connect(self._address, self._schema, patient=patient)
        made.adapters.register_dumper(Ids, IdsDumper)
        return made

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("The store is closed. Open it again.")

"""The embedded store: one SQLite file, any number of readers, one writer at a time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store.base import Appended, Batch, Counters
from deniable.store.closing import MERGE_BYTES
from deniable.store.sqlite.connection import (
    connect,
    connect_writer,
    count_commit,
    plain_errors,
    read_commits,
    reading,
    transaction,
)
from deniable.store.sqlite.files import OpenFiles, prepare_file
from deniable.store.sqlite.ids import Ids
from deniable.store.sqlite.lease import Lease
from deniable.store.sqlite.mark import Mark
from deniable.store.sqlite.tables import SqliteTables
from deniable.store.sqlite.writer import append_chunks, append_reports
from deniable.store.tabled import Closer, TabledStore

STORE_FILE = "reports.sqlite3"
"""The name of the store in a data directory."""

_TRUNCATE_SECONDS = 1.0
_CACHE = -2_000
"""SQLite's own default, in KiB."""
_CLOSER_CACHE = 4 * MERGE_BYTES


class _RolledBack(Exception):
    """Ends a transaction that must leave nothing."""


class SqliteStore(TabledStore):
    """Reports in one SQLite file with a write-ahead log.

    Guarantees: a group is one transaction, synced to disk before `append` returns; what is deleted
    is overwritten; the file is readable by its owner only; no row says when or in which order
    reports of a closed epoch arrived. Until an epoch is closed, the places of pages in the file
    and the log do show the order of groups (not the order within one). Files that were removed,
    replaced or emptied are noticed before anything is acknowledged; what is read fits its sum.

    Cost: one sync per group. Reading holds one chunk in memory at a time.

    Edge cases: several processes may share the file; writers wait for each other, up to half a
    minute. Threads may share the object.

    Args:
        path: the file.
        create: whether to make it, and its folder, if it is missing.
        options: what `TabledStore` takes.

    Raises:
        StoreError: if the file cannot be opened, is not a store, is empty, has lost transactions,
            or is of a newer version.
    """

    def __init__(self, path: str | Path, *, create: bool = True, **options: Any) -> None:
        super().__init__(**options)
        self.path = Path(path)
        self._lock = threading.Lock()
        self._closed = False
        self._lease = Lease(self._random_bytes, self._monotonic)
        self._mark = Mark(self.path)
        self._ids = Ids(self._random_bytes)
        prepare_file(self.path, create)
        with plain_errors("be opened"):
            self._connection = connect_writer(self.path)
            self._files = OpenFiles(self.path)
            try:
                self._check_mark(create)
            except BaseException:
                self._connection.close()
                raise

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        """Write a group in one transaction: its ids, a shuffled chunk per batch, its counters."""
        with self._writing() as tables:
            if refusals:
                tables.add_counters(refusals)
            return append_reports(tables, self._ids, reports, simulated=self._simulated)

    def _put_records(self, batch: Batch, records: bytes, size: int, kept: str) -> int:
        with self._writing() as tables:
            count = append_chunks(tables, batch, records, size)
            tables.add_counters({(batch.question, kept): count})
            return count

    def probe(self, size: int) -> None:
        """Write `size` bytes to the log in a transaction that is rolled back.

        A cache of a few pages makes SQLite write what does not fit before the transaction ends,
        so that a full disk shows; rolled back, the bytes are room for the next transaction.
        """
        with plain_errors("be written"), suppress(_RolledBack), self._transaction():
            self._connection.execute("PRAGMA cache_size = 8")
            try:
                self._connection.execute("CREATE TABLE probe (bytes BLOB)")
                self._connection.execute("INSERT INTO probe VALUES (zeroblob(?))", (size,))
            finally:
                self._connection.execute(f"PRAGMA cache_size = {_CACHE}")
            raise _RolledBack

    @contextmanager
    def _closer(self, doing: str = "close an epoch") -> Iterator[Closer | None]:
        """Take the lease, on a connection of its own, and truncate the log afterwards.

        On the first connection, this thread would see half of another's group.
        """
        with plain_errors(doing):
            self._files.check(not self._closed)
            with closing(connect_writer(self.path)) as connection:
                with self._transaction(connection):
                    taken = self._lease.take(connection)
                if not taken:
                    yield None
                    return
                # What a step touches fits: pages are not written before they have their contents.
                connection.execute(f"PRAGMA cache_size = {-_CLOSER_CACHE // 1024}")
                tables = SqliteTables(connection, self._random_bytes)
                try:
                    yield tables, lambda: self._step(connection)
                finally:
                    # On a full disk the row stays; the next closer takes it over.
                    with suppress(sqlite3.Error, StoreError), self._transaction(connection):
                        self._lease.release(connection)
            self._truncate_log()

    def close(self) -> None:
        """Close the writing connection; iterators of `read` have their own and live on."""
        with self._lock:
            self._closed = True
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[SqliteTables]:
        with plain_errors("be written"), self._transaction():
            yield SqliteTables(self._connection, self._random_bytes)

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection | None = None) -> Iterator[None]:
        """Run the block as one transaction; threads of this process take turns.

        The files are looked at before, and once more when the transaction is durable: only then
        may anybody be told that it is.
        """
        connection = connection or self._connection
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed. Open it again.")
            self._files.check()
            with transaction(connection):
                yield
                number = count_commit(connection)
            self._files.check()
            self._mark.note(number)

    @contextmanager
    def _step(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Run a step of closing, if the lease is still ours."""
        with self._transaction(connection):
            self._lease.beat(connection)
            yield

    @contextmanager
    def _reading(self) -> Iterator[SqliteTables]:
        """Give tables that show one moment of this store, and of no other file."""
        self._files.check(not self._closed)
        with reading(self.path) as connection:
            self._files.check(not self._closed)
            yield SqliteTables(connection, self._random_bytes)

    def _check_mark(self, create: bool) -> None:
        # The mark first: a transaction in between may only make the store look better.
        marked = self._mark.read()
        number = read_commits(self._connection)
        if marked is not None and number < marked:
            raise StoreError(
                f"The store at {self.path} has lost {marked - number:,} of the {marked:,} "
                f"transactions that were written: {self.path.name}-wal was lost, or an older copy "
                f"was put back. Restore what belongs to it. To go on without what was lost, remove "
                f"{self._mark.path.name}."
            )
        if create:
            self._mark.note(number)

    def size(self) -> int:
        """Return the bytes of the store's files."""
        files = self.path.parent.glob(f"{self.path.name}*")
        sizes = []
        for file in files:
            with suppress(FileNotFoundError):  # a log that was just taken away
                sizes.append(file.stat().st_size)
        return sum(sizes)

    def _truncate_log(self) -> None:
        # A connection of its own with a short patience: a slow reader must not stop collecting.
        with closing(connect(self.path, _TRUNCATE_SECONDS)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

"""One SQLite file per client directory: everything that must outlive the process but the secret.

No value, and nothing derived from one but keyed tags and randomised records, is ever written.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.errors import StoreError

FILE_NAME = "client.sqlite3"

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE fetched (base BLOB PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE counters (question TEXT, reason TEXT, count INTEGER NOT NULL,"
        " PRIMARY KEY (question, reason)) WITHOUT ROWID",
        "CREATE TABLE pins (question TEXT, version INTEGER, digest BLOB NOT NULL,"
        " PRIMARY KEY (question, version)) WITHOUT ROWID",
        # One small row per report ever made. Never pruned: a forgotten epoch could be answered
        # again by a device whose clock goes back.
        "CREATE TABLE used (question TEXT, version INTEGER, epoch INTEGER,"
        " PRIMARY KEY (question, version, epoch)) WITHOUT ROWID",
        "CREATE TABLE seen (question TEXT, version INTEGER, epoch INTEGER,"
        " PRIMARY KEY (question, version, epoch)) WITHOUT ROWID",
        "CREATE TABLE tags (tag BLOB PRIMARY KEY) WITHOUT ROWID",
        "CREATE TABLE ledger (question TEXT PRIMARY KEY, reports INTEGER NOT NULL,"
        " answers INTEGER NOT NULL, micros INTEGER NOT NULL) WITHOUT ROWID",
        # Keyed by the random id and without row numbers, so that no order of events is kept.
        "CREATE TABLE outbox (id BLOB PRIMARY KEY, question TEXT NOT NULL,"
        " version INTEGER NOT NULL, digest BLOB NOT NULL, epoch INTEGER NOT NULL,"
        " record BLOB NOT NULL, not_before INTEGER NOT NULL, last_day INTEGER NOT NULL,"
        " leased_until REAL NOT NULL DEFAULT 0, stale_since INTEGER) WITHOUT ROWID",
    ),
    (
        # What was spent on which days, all questions together: for budgets per window.
        "CREATE TABLE charges (first INTEGER, last INTEGER, micros INTEGER NOT NULL,"
        " PRIMARY KEY (first, last)) WITHOUT ROWID",
        # When the earlier reports were made is not known. The day of this change is the latest
        # that it can have been, so no window that is still to come counts too little.
        "INSERT INTO charges SELECT day, day, micros FROM"
        " (SELECT CAST(strftime('%s', 'now') AS INTEGER) / 86400 AS day, SUM(micros) AS micros"
        " FROM ledger) WHERE micros > 0",
    ),
)
"""The statements that lead from each schema version to the next; only ever appended to."""


class Database:
    """The client's SQLite file: opened when first needed, opened again after any failure.

    Guarantees: what a transaction wrote is on the disk when it ends (synchronous = FULL); deleted
    rows are overwritten. A damaged file or one of a newer schema is refused, never replaced:
    a new file would forget what the device has already disclosed.

    Edge cases: one connection, one lock, so any thread may use it; not across a fork, see
    `abandon`.
    """

    def __init__(self, directory: Path, busy_seconds: float) -> None:
        self.path = directory / FILE_NAME
        self._busy = busy_seconds
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run a block in one write transaction; anything it raises rolls it back.

        Raises:
            StoreError: if the file cannot be opened, locked or written; nothing was written.
        """
        with self._lock, self._guarded() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:  # SQLite itself rolls back when the disk is full
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Run a block that only reads; None if there is no file yet, which is not made.

        Raises:
            StoreError: if the file cannot be opened or read.
        """
        if self._is_missing():
            yield None
            return
        with self._lock, self._guarded() as connection:
            yield connection

    def truncate_log(self) -> None:
        """Fold the write-ahead log into the file and empty it, so that nothing deleted remains."""
        with self._lock, self._guarded() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def hold(self, timeout: float) -> bool:
        """Keep other threads out, as before a fork; True if that succeeded in time."""
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Undo `hold`."""
        self._lock.release()

    def abandon(self) -> None:
        """Forget the connection without closing it, as a forked child must.

        SQLite's connections do not survive a fork, and closing one here would disturb the parent.
        """
        if self._connection is not None:
            _ABANDONED.append(self._connection)
        self._connection = None
        self._lock = threading.RLock()

    @contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; turn its failures into StoreError and drop it after one."""
        try:
            yield self._connected()
        except (sqlite3.Error, OSError) as error:
            self._drop()
            raise StoreError(
                f"The client's database cannot be used ({type(error).__name__}). "
                "Check the disk, the directory's mode and other processes that hold it."
            ) from None

    def _is_missing(self) -> bool:
        try:
            return not self.path.exists()
        except OSError:
            return False  # it cannot be told; opening it will say why

    def _drop(self) -> None:
        try:
            self.close()
        except sqlite3.Error:
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._file != _identity(self.path):
            self._drop()  # the file was deleted or replaced below us
        if self._connection is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Made here, since SQLite would make it with the process's default mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = _open(self.path, self._busy)
            self._file = _identity(self.path)
        return self._connection


_ABANDONED: list[sqlite3.Connection] = []


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _open(path: Path, busy: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        _use_log(connection, busy)
        _migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection, busy: float) -> None:
    """Switch to a write-ahead log; SQLite does not wait by itself when two processes do so."""
    deadline = time.monotonic() + busy
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return  # a file system without shared memory keeps its journal, which is as safe
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _migrate(connection: sqlite3.Connection) -> None:
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The client's database has schema {version}, this version reads up to "
            f"{len(MIGRATIONS)}: upgrade deniable."
        )
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])

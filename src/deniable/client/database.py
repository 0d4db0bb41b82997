"""One SQLite file per client directory: everything that must outlive the process but the secret.

No value, and nothing derived from one but keyed tags and randomised records, is ever written.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.client import files
from deniable.client.counters import REASONS
from deniable.client.files import Marker
from deniable.client.secret import FILE_NAME as SECRET_FILE
from deniable.errors import LedgerLost, StoreError

FILE_NAME = "client.sqlite3"

MIGRATIONS = tuple(Path(__file__).with_name(f"schema_{number}.sql") for number in (1, 2))
"""Files of statements that lead from each schema version to the next; only ever appended to.

The version of tests/fixtures/v1 is the first, that of tests/fixtures/v2 the second."""


class Database:
    """The client's SQLite file: opened when first needed, opened again after any failure.

    Guarantees: what a transaction wrote is on the disk when it ends (synchronous = FULL), and in
    this one file: there is no write-ahead log that could be lost without it. Deleted rows are
    overwritten. A file that is damaged, of a newer schema, or missing or empty where there has
    been one (see `deniable.client.files`) is refused, never replaced: a new file would forget
    what the device has already disclosed.

    Edge cases: one connection, one lock, so any thread may use it; not across a fork, see
    `abandon`. After `end` it can still be used, and leaves no connection open.
    """

    def __init__(self, directory: Path, busy_seconds: float) -> None:
        self.path = directory / FILE_NAME
        self._name = os.fspath(self.path)
        self._marker = Marker(directory, SECRET_FILE)
        self._busy = busy_seconds
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._journal = ""
        self._depth = 0
        self._owner = 0
        self._over = False

    @contextmanager
    def transaction(
        self, *, only_adds: bool = False, making: Callable[[], None] | None = None
    ) -> Iterator[sqlite3.Connection]:
        """Run a block in one write transaction; anything it raises rolls it back.

        Args:
            making: called before a file is made, where there is none; what it raises forbids that.
            only_adds: the block takes nothing away, so that the pages as they were before may stay
                in the journal until the next transaction that does: see `_keep_journal`.

        Raises:
            StoreError: if the file cannot be opened, locked or written; nothing was written.
        """
        with self._lock:
            self._begin_use()
            try:
                connection = self._connected(making)
                self._keep_journal(connection, only_adds)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    if connection.in_transaction:  # SQLite itself rolls back when the disk is full
                        connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
            except (StoreError, sqlite3.Error, OSError) as error:
                raise self._failed(error) from None
            finally:
                self._end_use()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Run a block that only reads; None if there is no file yet, which is not made.

        Raises:
            LedgerLost: if there is no file although there has been one.
            StoreError: if the file cannot be opened or read.
        """
        if not self._exists():
            yield None
            return
        with self._lock:
            self._begin_use()
            try:
                yield self._connected()
            except (StoreError, sqlite3.Error, OSError) as error:
                raise self._failed(error) from None
            finally:
                self._end_use()

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def end(self) -> None:
        """Close the connection for good: from now on each use closes what it opens."""
        with self._lock:
            self._over = True
            self.close()

    def mark(self) -> None:
        """Make sure that a lost database is noticed also when the secret is gone.

        Raises:
            StoreError: if the disk fails.
        """
        with _plain_words():
            self._marker.set()

    def is_mine(self) -> bool:
        """Tell whether the calling thread is in the middle of using the database."""
        return self._owner == threading.get_ident()

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
        self._depth = self._owner = 0

    # Called by two context managers, and no third: each takes as long as a statement.

    def _begin_use(self) -> None:
        self._depth += 1
        self._owner = threading.get_ident()

    def _failed(self, error: Exception) -> StoreError:
        """Drop the connection after a failure, and return it in words of our own."""
        self._drop()
        return error if isinstance(error, StoreError) else _plain(error)

    def _end_use(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
            if self._over:
                self._drop()

    def _keep_journal(self, connection: sqlite3.Connection, keep: bool) -> None:
        """Let a commit end by overwriting the journal's head (`keep`), or by emptying the journal.

        The journal holds pages as they were before. Emptying it gives its blocks back to the file
        system and takes them again in the next commit, which costs more than overwriting its head.
        But what a transaction deletes, or one before it added, must not stay there: whatever takes
        something away empties the journal, whoever left it. Both are synced, and survive a power
        cut alike.
        """
        mode = "PERSIST" if keep else "TRUNCATE"
        if self._journal != mode:
            connection.execute(f"PRAGMA journal_mode = {mode}")
            self._journal = mode

    def _exists(self) -> bool:
        """Tell whether there is a file; an error if there is none although there has been one."""
        with _plain_words():
            # Asked in this order, since another process may be making first the one, then the
            # other, between the two questions.
            begun = self._marker.is_set()
            if self.path.exists():
                return True
        if begun:
            raise lost()
        return False

    def _drop(self) -> None:
        try:
            self.close()
        except sqlite3.Error:
            self._connection = None

    def _connected(self, making: Callable[[], None] | None = None) -> sqlite3.Connection:
        if self._connection is not None and self._file != _identity(self._name):
            self._drop()  # the file was deleted or replaced below us
        if self._connection is None:
            if not self._exists():
                if making is not None:
                    making()
                files.make_directory(self.path.parent)
                # Made here, since SQLite would make it with the process's default mode.
                files.make_empty(self.path)
            connection = _open(self.path, self._busy, self._marker)
            try:
                self._marker.set()
            except BaseException:
                connection.close()
                raise
            self._connection, self._journal = connection, "TRUNCATE"
            self._file = _identity(self._name)
        return self._connection


_ABANDONED: list[sqlite3.Connection] = []


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - a third of what a Path takes, twice in each record
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def _plain_words() -> Iterator[None]:
    """Turn what SQLite and the system say into an error of our own, which holds no path."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        raise _plain(error) from None


def _plain(error: Exception) -> StoreError:
    return StoreError(
        f"The client's database cannot be used ({type(error).__name__}). "
        "Check the disk, the directory's mode and other processes that hold it."
    )


def _open(path: Path, busy: float, marker: Marker) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA temp_store = MEMORY")
        # A journal that ends with every commit, synced, not a write-ahead log: that would hold
        # what was committed, and lost after a kill it would take the ledger with it.
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        _migrate(connection, marker)
        _check(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, marker: Marker) -> None:
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    version = _version(connection)
    # Within the transaction nobody else can be about to write the schema of a new file.
    if version == 0 and marker.is_set():
        raise lost()
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The client's database has schema {version}, this version reads up to "
            f"{len(MIGRATIONS)}: upgrade deniable."
        )
    for step in MIGRATIONS[version:]:
        # Not executescript, which would commit the transaction.
        for statement in step.read_text("utf-8").split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _check(connection: sqlite3.Connection) -> None:
    """Refuse a file whose pages do not fit together, as after a journal that was taken away."""
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise StoreError(
            "The client's database is damaged. Put a whole one back, or delete the whole directory "
            "to begin as a new device."
        )


def lost() -> LedgerLost:
    """Return the error for a database that is not where it has been."""
    return LedgerLost(REASONS["lost"])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])

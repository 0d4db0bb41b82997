"""Connections to the SQLite file, transactions, and SQLite's errors in plain words."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deniable.errors import StoreError
from deniable.store.sqlite.schema import is_current, migrate

_BUSY_SECONDS = 30.0
"""The longest wait of a writer for another process that is writing."""

_MEANINGS = {
    sqlite3.SQLITE_FULL: "the disk is full. Free some space; nothing was written.",
    sqlite3.SQLITE_IOERR: "the disk refuses. Check its space and health; nothing was written.",
    sqlite3.SQLITE_BUSY: "another process is writing. Try again.",
    sqlite3.SQLITE_LOCKED: "another process is writing. Try again.",
    sqlite3.SQLITE_READONLY: "it is read-only. Check the permissions of the file and its folder.",
    sqlite3.SQLITE_PERM: "it is read-only. Check the permissions of the file and its folder.",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened. Check the path and its permissions.",
    sqlite3.SQLITE_NOTADB: "the file is not a Deniable store. Name another file.",
    sqlite3.SQLITE_CORRUPT: "the file is damaged. Run: deniable store check",
}


@contextmanager
def plain_errors(action: str) -> Iterator[None]:
    """Turn SQLite's errors into a StoreError that says what could not be done, and why.

    Guarantees: the message holds SQLite's name of the error and nothing of the data.
    """
    try:
        yield
    except sqlite3.Error as error:
        # Errors of the module itself (a closed connection, say) carry no code of SQLite's.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        meaning = _MEANINGS.get(code, "SQLite failed; nothing was written.")
        raise StoreError(f"The store cannot {action}: {meaning} ({name})") from error
    except UnicodeDecodeError:  # SQLite's words about a damaged table quote its damaged bytes
        meaning = _MEANINGS[sqlite3.SQLITE_CORRUPT]
        raise StoreError(f"The store cannot {action}: {meaning} (SQLITE_CORRUPT)") from None


def connect(path: Path, timeout: float = _BUSY_SECONDS) -> sqlite3.Connection:
    """Return a connection in autocommit mode, with every setting that durability rests on.

    `secure_delete` overwrites what is deleted; temporary tables stay in memory. A missing file is
    an error: SQLite would make an empty one in its place.
    """
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if _use_log(connection, time.monotonic() + timeout) != "wal":
            raise StoreError(
                f"The folder of {path} cannot hold a write-ahead log. Use a local disk."
            )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_log(connection: sqlite3.Connection, deadline: float) -> str:
    """Switch to the write-ahead log, and return the mode that the file is really in."""
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            # SQLite does not wait by itself for another process that is making the same switch.
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def connect_writer(path: Path) -> sqlite3.Connection:
    """Return a connection to a store of the current schema, migrating an older one first."""
    connection = connect(path)
    try:
        if not is_current(connection):
            with transaction(connection):
                migrate(connection)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that sees one moment of the store, whatever is written meanwhile."""
    with plain_errors("be read"):
        connection = connect(path)
        try:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block as one durable transaction: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # After a full disk SQLite may have rolled back by itself; the first error is the news.
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def count_commit(connection: sqlite3.Connection) -> int:
    """Count the transaction that is under way, and return its number."""
    connection.execute("UPDATE commits SET number = number + 1")
    return read_commits(connection)


def read_commits(connection: sqlite3.Connection) -> int:
    """Return the number of transactions that were written."""
    found: int = connection.execute("SELECT number FROM commits").fetchone()[0]
    return found

"""The tables of the SQLite store, and how an older file becomes a current one.

    batches   one row per (question, version, digest, epoch, simulated, segments): its reports,
              whether it is open, the seconds that collectors have run since it was over, and a sum
              of all that
    chunks    many reports of one batch as one blob, under a random key, with its sum
    ids_<e>   the ids of the reports of epoch e, only as long as duplicates may arrive
    counters  accepted, simulated, duplicate, and each reason of refusal
    commits   how many transactions were written, which the mark beside the file repeats
    lease     who is closing epochs, if anybody
    simulations  the seed of each simulated crowd, so that none enters twice

Batch numbers and chunk keys are random, and no table has a counting row number: nothing in a row
says what came before what.

One table of ids serves all questions of an epoch number. Ids are 128 random bits, so questions
never meet in it; questions of different epoch lengths count their epochs differently, so they
rarely share one, and then it lives until the last of them is closed.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from deniable import _validate
from deniable.errors import StoreError
from deniable.protocol.report import MAX_EPOCH

_APPLICATION_ID = 0x444E4953
"""Marks the file as a Deniable store, whatever its name ("DNIS")."""

_TABLES = Path(__file__).with_suffix(".sql")
MIGRATIONS: tuple[tuple[str, ...], ...] = ()
"""Step i leads from version i + 1 to version i + 2. Steps are added, never changed, once a version
was released. A new store takes them all."""

_CREATE_IDS = "CREATE TABLE IF NOT EXISTS {} (id BLOB PRIMARY KEY) WITHOUT ROWID"
_CLAIM_ID = "INSERT OR IGNORE INTO {} (id) VALUES (?)"


def schema_version() -> int:
    """Return the version that this code reads and writes."""
    return 1 + len(MIGRATIONS)


def ids_table(epoch: int) -> str:
    """Return the name of the table of ids of an epoch: text made of a checked integer only."""
    return f"ids_{_validate.integer('epoch', 'a report', epoch, 0, MAX_EPOCH)}"


def claim_statement(connection: sqlite3.Connection, epoch: int) -> str:
    """Return the statement that writes an id of an epoch unless it is there, table and all."""
    table = ids_table(epoch)
    connection.execute(_CREATE_IDS.format(table))
    return _CLAIM_ID.format(table)


def epochs_with_ids(connection: sqlite3.Connection) -> list[int]:
    """Return the epochs that have a table of ids."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE name GLOB 'ids_[0-9]*'")
    return [int(name.removeprefix("ids_")) for (name,) in found]


def create_tables(connection: sqlite3.Connection) -> None:
    """Make an empty database a store, inside the caller's transaction."""
    # Not executescript, which would commit the caller's transaction.
    for statement in _TABLES.read_text("utf-8").split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    _take_steps(connection, 1)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the current schema, inside the caller's transaction.

    Raises:
        StoreError: if the file is something else, or was written by a newer version.
    """
    _take_steps(connection, readable_version(connection))


def readable_version(connection: sqlite3.Connection) -> int:
    """Return the version of a file that this code can read or migrate.

    Raises:
        StoreError: if the file is something else, or was written by a newer version.
    """
    version = _version(connection)
    if version > schema_version():
        raise StoreError(
            f"The store has schema version {version}; this version of deniable reads versions up "
            f"to {schema_version()}. Upgrade deniable."
        )
    return version


def is_current(connection: sqlite3.Connection) -> bool:
    """Tell whether there is nothing to migrate (a newer version is not current either)."""
    return _version(connection) == schema_version()


def _take_steps(connection: sqlite3.Connection, version: int) -> None:
    for step in MIGRATIONS[version - 1 :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {schema_version()}")


def _version(connection: sqlite3.Connection) -> int:
    # A store is made whole before it gets its name, so that one without tables is no store.
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION_ID or version < 1:
        raise StoreError(
            "The file is an SQLite database, but not a Deniable store. Name another file."
        )
    return version

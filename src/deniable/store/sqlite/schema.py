"""The tables of the SQLite store, and how an older file becomes a current one.

    batches   one row per (question, version, digest, epoch, simulated, segments): its reports,
              whether it is open, the seconds that collectors have run since it was over, and a sum
              of all that
    chunks    many reports of one batch as one blob, under a random key, with its sum
    runs      the sorted runs of ids of each epoch, only as long as duplicates may arrive: their
              sizes, and of which runs they were merged
    ids       the ids themselves, rows of sorted ones (`id_runs.py`)
    counters  accepted, simulated, duplicate, and each reason of refusal
    commits   how many transactions were written, which the mark beside the file repeats
    lease     who is closing epochs, if anybody
    simulations  the seed of each simulated crowd, so that none enters twice
    counted, expiring  made when they are first needed (`counted.py`, `expiring.py`)

Batch numbers and chunk keys are random, and no table has a counting row number: nothing in a row
says what came before what.

The ids of all questions of an epoch number stand together. Ids are 128 random bits, so questions
never meet; questions of different epoch lengths count their epochs differently, so they rarely
share a number, and then its ids live until the last of them is closed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from deniable.errors import StoreError
from deniable.store.sqlite.id_runs import EpochRuns

_APPLICATION_ID = 0x444E4953
"""Marks the file as a Deniable store, whatever its name ("DNIS")."""

_TABLES = Path(__file__).with_suffix(".sql")
_IDS_1 = "SELECT id FROM ids_{} ORDER BY id"


def _move_ids(connection: sqlite3.Connection) -> None:
    """Turn the tables of ids of version 1, one for each epoch, into a run each."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE name GLOB 'ids_[0-9]*'")
    for (name,) in names.fetchall():
        # Names of tables cannot be values; this one is made of a number.
        epoch = int(name.removeprefix("ids_"))
        found = connection.execute(_IDS_1.format(epoch))
        if ids := b"".join(each for (each,) in found):
            EpochRuns(connection, epoch, os.urandom).add(ids)
        connection.execute(f"DROP TABLE ids_{epoch}")


Step = tuple[str | Callable[[sqlite3.Connection], None], ...]
MIGRATIONS: tuple[Step, ...] = (
    (
        """
        CREATE TABLE runs (
            epoch INTEGER NOT NULL,
            run INTEGER NOT NULL,
            ids INTEGER NOT NULL,
            parts BLOB NOT NULL,
            PRIMARY KEY (epoch, run)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE ids (
            epoch INTEGER NOT NULL,
            run INTEGER NOT NULL,
            first BLOB NOT NULL,
            ids BLOB NOT NULL,
            PRIMARY KEY (epoch, run, first)
        ) WITHOUT ROWID
        """,
        _move_ids,
    ),
)
"""Step i leads from version i + 1 to version i + 2. Steps are added, never changed, once a version
was released. A new store takes them all."""


def schema_version() -> int:
    """Return the version that this code reads and writes."""
    return 1 + len(MIGRATIONS)


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
        for part in step:
            if isinstance(part, str):
                connection.execute(part)
            else:
                part(connection)
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

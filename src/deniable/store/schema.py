"""The tables of the SQLite store, and how an older file becomes a current one.

    batches   one row per (question, version, digest, epoch, simulated): its reports, and whether
              it is open
    chunks    many reports of one batch as one blob, under a random key
    ids_<e>   the ids of the reports of epoch e, only as long as duplicates may arrive
    counters  accepted, simulated, duplicate, and each reason of refusal
    simulations  the seed of each simulated crowd, so that none enters twice

Batch numbers and chunk keys are random, and no table has a counting row number: nothing in a row
says what came before what.

One table of ids serves all questions of an epoch number. Ids are 128 random bits, so questions
never meet in it; questions of different epoch lengths count their epochs differently, so they
rarely share one, and then it lives until the last of them is closed.
"""

from __future__ import annotations

import sqlite3

from deniable import _validate
from deniable.errors import StoreError
from deniable.protocol.report import MAX_EPOCH

APPLICATION_ID = 0x444E4941
"""Marks the file as a Deniable store, whatever its name ("DNIA")."""

_TABLES = (
    """CREATE TABLE batches (
        batch INTEGER PRIMARY KEY,
        question TEXT NOT NULL,
        version INTEGER NOT NULL,
        digest BLOB NOT NULL,
        epoch INTEGER NOT NULL,
        size INTEGER NOT NULL,
        reports INTEGER NOT NULL,
        UNIQUE (question, version, digest, epoch, size)
    )""",
    """CREATE TABLE chunks (
        batch INTEGER NOT NULL,
        key BLOB NOT NULL,
        records BLOB NOT NULL,
        PRIMARY KEY (batch, key)
    ) WITHOUT ROWID""",
    """CREATE TABLE counters (
        question TEXT NOT NULL,
        reason TEXT NOT NULL,
        count INTEGER NOT NULL,
        PRIMARY KEY (question, reason)
    ) WITHOUT ROWID""",
    f"PRAGMA application_id = {APPLICATION_ID}",
)
# Closing must know what it has done already; everything in an older file is still open.
_OPEN_BATCHES = (
    "ALTER TABLE batches ADD COLUMN open INTEGER NOT NULL DEFAULT 1",
    "CREATE INDEX open_batches ON batches (epoch) WHERE open",
)
# Simulated reports have batches of their own; what an older file holds is taken for real. SQLite
# cannot change what a table holds unique, so that its rows move to another one.
_SIMULATED_BATCHES = (
    "ALTER TABLE batches RENAME TO older_batches",
    """CREATE TABLE batches (
        batch INTEGER PRIMARY KEY,
        question TEXT NOT NULL,
        version INTEGER NOT NULL,
        digest BLOB NOT NULL,
        epoch INTEGER NOT NULL,
        size INTEGER NOT NULL,
        reports INTEGER NOT NULL,
        open INTEGER NOT NULL DEFAULT 1,
        simulated INTEGER NOT NULL DEFAULT 0,
        UNIQUE (question, version, digest, epoch, size, simulated)
    )""",
    """INSERT INTO batches (batch, question, version, digest, epoch, size, reports, open)
        SELECT batch, question, version, digest, epoch, size, reports, open FROM older_batches""",
    "DROP TABLE older_batches",
    "CREATE INDEX open_batches ON batches (epoch) WHERE open",
    """CREATE TABLE simulations (
        question TEXT NOT NULL,
        version INTEGER NOT NULL,
        digest BLOB NOT NULL,
        seed TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        people INTEGER NOT NULL,
        PRIMARY KEY (question, version, digest, seed)
    ) WITHOUT ROWID""",
)
MIGRATIONS: tuple[tuple[str, ...], ...] = (_TABLES, _OPEN_BATCHES, _SIMULATED_BATCHES)
"""Step i leads from version i to version i + 1. Steps are added, never changed."""

SCHEMA_VERSION = len(MIGRATIONS)

_CREATE_IDS = "CREATE TABLE IF NOT EXISTS {} (id BLOB PRIMARY KEY) WITHOUT ROWID"
_CLAIM_ID = "INSERT OR IGNORE INTO {} (id) VALUES (?)"


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


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the current schema, inside the caller's transaction.

    Raises:
        StoreError: if the file is something else, or was written by a newer version.
    """
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The store has schema version {version}; this version of deniable reads versions up "
            f"to {SCHEMA_VERSION}. Upgrade deniable."
        )
    for step in MIGRATIONS[version:]:
        for statement in step:
            connection.execute(statement)
    if version < SCHEMA_VERSION:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def is_current(connection: sqlite3.Connection) -> bool:
    """Tell whether there is nothing to migrate (a newer version is not current either)."""
    return _version(connection) == SCHEMA_VERSION


def _version(connection: sqlite3.Connection) -> int:
    # Tables first: where another process has just made them, it has marked the file as well.
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID and (application or tables):
        raise StoreError(
            "The file is an SQLite database, but not a Deniable store. Name another file."
        )
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version

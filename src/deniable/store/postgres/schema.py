"""The tables of the PostgreSQL store, and how an older schema becomes a current one.

    store        the version of the schema
    batches      one row per (question, version, digest, epoch, simulated, segments), as in SQLite;
                 `reports` are those whose number stands still
    parts        the other reports of a batch, counted by the collector that took them
    chunks_<e>   chunks of the open batches of epoch number e
    ids_<e>      the ids of the reports of epoch number e, only as long as duplicates may arrive
    closed       chunks of closed batches
    counters     accepted, simulated, duplicate and the reasons of refusal, by collector
    simulations  the seed of each simulated crowd
    counted, expiring  made when they are first needed (`counted.py`, `expiring.py`)

No transaction of two collectors writes the same row: a row that both count in would be locked until
the first one's sync is over. So each connection that writes has a slot of its own in `parts` and
`counters`, and readers add them up.

An epoch number has tables of its own, which are dropped when all that is in them is closed: no dead
rows stay. They are plain tables, because making or dropping a partition locks its parent.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from psycopg import Connection

from deniable import _validate
from deniable.errors import StoreError
from deniable.protocol.report import MAX_EPOCH
from deniable.store.postgres.locks import Locks

_TABLES = Path(__file__).with_suffix(".sql")
MIGRATIONS: tuple[tuple[str, ...], ...] = ()
"""Step i leads from version i + 1 to version i + 2. Steps are added, never changed, once a version
was released. A new store takes them all."""


def schema_version() -> int:
    """Return the version that this code reads and writes."""
    return 1 + len(MIGRATIONS)


def ids_table(epoch: int) -> str:
    """Return the name of the table of ids of an epoch: text made of a checked integer only."""
    return f"ids_{_validate.integer('epoch', 'a report', epoch, 0, MAX_EPOCH)}"


def chunks_table(epoch: int) -> str:
    """Return the name of the table of chunks of an epoch."""
    return f"chunks_{_validate.integer('epoch', 'a report', epoch, 0, MAX_EPOCH)}"


def prepare(connection: Connection[Any], schema: str, locks: Locks, create: bool) -> None:
    """Make sure that the schema holds a store of the current version.

    What is to be made or migrated is so once, under a lock, in one transaction.

    Raises:
        StoreError: if there is none and it must not be made, if the schema holds something else,
            or if the store was written by a newer version.
    """
    if _version(connection, schema) == schema_version():
        return
    with connection.transaction():
        connection.execute(locks.exclusive("schema"))
        version = _version(connection, schema)  # another process may have made it meanwhile
        if version is None:
            _create(connection, schema, create)
            version = 1
        if version > schema_version():
            raise StoreError(
                f"The store has schema version {version}; this version of deniable reads versions "
                f"up to {schema_version()}. Upgrade deniable."
            )
        for step in MIGRATIONS[version - 1 :]:
            for statement in step:
                connection.execute(statement.encode())
        connection.execute("UPDATE store SET version = %s", (schema_version(),))


def create_epoch(connection: Connection[Any], locks: Locks, epochs: list[int]) -> None:
    """Make the tables of epochs that have none.

    Two collectors that make the same one at once would fail, whatever IF NOT EXISTS says: so they
    do it one after the other.
    """
    with connection.transaction():
        create_tables(connection, locks, epochs)


def create_tables(connection: Connection[Any], locks: Locks, epochs: list[int]) -> None:
    """Make the tables of epochs that have none, inside a transaction."""
    connection.execute(locks.exclusive("tables"))
    for epoch in epochs:
        for statement in (
            f"CREATE TABLE IF NOT EXISTS {ids_table(epoch)} (id uuid PRIMARY KEY)",
            f"CREATE TABLE IF NOT EXISTS {chunks_table(epoch)} (LIKE closed INCLUDING ALL)",
        ):
            connection.execute(statement.encode())


def _version(connection: Connection[Any], schema: str) -> int | None:
    """Return the version of the store in a schema, None if there is none."""
    # The catalogue is asked, not to_regclass: that one may remember what was so before a lock.
    there = connection.execute(
        "SELECT FROM pg_tables WHERE schemaname = %s AND tablename = 'store'", (schema,)
    )
    if not there.fetchall():
        return None
    row = connection.execute("SELECT version FROM store WHERE name = 'deniable'").fetchone()
    if row is None:
        raise StoreError(f"The schema {schema} holds something else than a Deniable store.")
    return int(row[0])


def _create(connection: Connection[Any], schema: str, create: bool) -> None:
    if not create:
        raise StoreError(
            f"There is no store in the schema {schema}. Start a collector, or simulate."
        )
    others = connection.execute(
        "SELECT FROM pg_tables WHERE schemaname = %s LIMIT 1", (schema,)
    ).fetchall()
    if others:
        raise StoreError(
            f"The schema {schema} holds something else than a Deniable store. Choose another one: "
            "?schema=NAME"
        )
    if not connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", (schema,)).fetchall():
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    for statement in _TABLES.read_text("utf-8").split(";"):
        if statement.strip():
            connection.execute(statement.encode())
    connection.execute("INSERT INTO store VALUES ('deniable', 1)")

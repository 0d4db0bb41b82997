"""Connections to PostgreSQL: what durability and silence rest on, and its errors in plain words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deniable.errors import OutcomeUnknown, StoreError

# A pipeline that failed is told of by our own errors; psycopg would also log it, with the address.
logging.getLogger("psycopg").setLevel(logging.ERROR)

OLDEST = 15
"""The oldest major version of PostgreSQL that the tests run on."""

_GIVEN: dict[str, str | int] = {
    "connect_timeout": 10,
    "application_name": "deniable",
    "client_encoding": "UTF8",
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Settings of libpq, unless the address has others: a server that is gone must be noticed."""

_SESSION = """
    SET synchronous_commit = on;
    SET lock_timeout = '30s';
    SET idle_in_transaction_session_timeout = '{idle}';
    SET client_min_messages = error;
    SET search_path = {schema};
"""
_IDLE = "60s"
"""A process that stopped in the middle of a transaction must not stop the others for ever."""

_MEANINGS = {
    "53100": "the disk of the database is full. Free some space; nothing was written.",
    "53": "the database has not enough memory or connections left; nothing was written.",
    "57P03": "the database is starting or stopping. Try again.",
    "57": "the database was stopped, or ended the statement; nothing was written.",
    "55P03": "another process holds it for too long. Try again.",
    "40": "another process was in the way. Try again; nothing was written.",
    "25": "it is a read-only copy. Name the primary server.",
    "28": "the database refuses the user or the password. Set PGPASSWORD or PGPASSFILE.",
    "3D000": "there is no such database. Make it: createdb",
    "42501": "the user may not do that in this database. Grant CREATE on it, or on the schema.",
    "42P01": "a table of the store is missing. Restore the store.",
    "XX": "the database is damaged. Look at its log.",
    "08": "the connection was lost; nothing was written.",
}


@contextmanager
def plain_errors(action: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into a StoreError that says what could not be done, and why.

    Guarantees: the message holds the code of the error and nothing of the data, which
    PostgreSQL's own words may quote; nor is the error itself attached.
    """
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(f"The store cannot {action}: {_meaning(error)}") from None


def _meaning(error: psycopg.Error) -> str:
    code = error.sqlstate or ""
    for known in (code, code[:2]):
        if known in _MEANINGS:
            return f"{_MEANINGS[known]} ({code})"
    if isinstance(error, psycopg.OperationalError) and not code:
        return f"{_MEANINGS['08']} (no code)"
    return f"PostgreSQL refused a statement. ({code or type(error).__name__})"


def connect(address: str, schema: str, *, patient: bool = False) -> Connection[Any]:
    """Return a connection in autocommit mode, with every setting that durability rests on.

    Args:
        address: what libpq is told, without a password.
        schema: where the tables are.
        patient: for readers: they may take their time between two statements.

    Raises:
        StoreError: if there is no connection, or the server is set so that it loses what it
            acknowledged, or keeps the time of every commit.
    """
    given = conninfo_to_dict(address)
    defaults = {name: value for name, value in _GIVEN.items() if name not in given}
    try:
        made = psycopg.connect(make_conninfo(address, **defaults), autocommit=True)
    except psycopg.Error as error:
        raise StoreError(f"The store cannot be opened: {_reason(error)}") from None
    try:
        with plain_errors("be opened"):
            idle = "0" if patient else _IDLE
            made.execute(_SESSION.format(schema=schema, idle=idle).encode())
            _check_server(made)
    except BaseException:
        made.close()
        raise
    return made


def _reason(error: psycopg.Error) -> str:
    """Return why there is no connection: libpq's first line, which never holds a password."""
    if error.sqlstate:
        return _meaning(error)
    lines = str(error).strip().splitlines() or ["no connection"]
    return f"{lines[0].strip()[:300]}"


def _check_server(connection: Connection[Any]) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST:
        raise StoreError(f"The store needs PostgreSQL {OLDEST} or newer. This is {version}.")
    ((synced, stamps),) = connection.execute(
        "SELECT current_setting('fsync'), current_setting('track_commit_timestamp')"
    ).fetchall()
    if synced != "on":
        raise StoreError(
            "The database runs with fsync = off: a power cut would lose reports that were "
            "acknowledged, or all of them. Set fsync = on and start it again."
        )
    if stamps != "off":
        raise StoreError(
            "The database runs with track_commit_timestamp = on: it keeps the time at which every "
            "group of reports arrived. Set it to off and start it again."
        )


@contextmanager
def transaction(connection: Connection[Any]) -> Iterator[None]:
    """Run the block as one durable transaction: all of it, or nothing.

    Raises:
        OutcomeUnknown: if the connection was lost while it was being committed.
    """
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        roll_back(connection)
        raise
    with unknown_if_lost(connection):
        done = connection.execute("COMMIT")
    check_committed(done)


def check_committed(done: psycopg.Cursor[Any]) -> None:
    """Make sure that a COMMIT was one: of a transaction that failed, it is a ROLLBACK."""
    if done.statusmessage != "COMMIT":
        raise StoreError("The transaction was rolled back; nothing was written.")


@contextmanager
def unknown_if_lost(connection: Connection[Any]) -> Iterator[None]:
    """Say that the outcome is unknown if the connection is lost within the block.

    A COMMIT that was sent may have been done or not: only who asks again will know.
    """
    try:
        yield
    except psycopg.Error as error:
        if connection.closed or connection.broken or (error.sqlstate or "").startswith("57P0"):
            raise OutcomeUnknown(
                "The connection to the database was lost while reports were being committed: it "
                "is not known whether they were written. Send them again: those that were will "
                "be found as duplicates."
            ) from None
        raise


def roll_back(connection: Connection[Any]) -> None:
    """End a transaction that failed; the first error is the news, whatever this one says."""
    with suppress(psycopg.Error):
        connection.execute("ROLLBACK")

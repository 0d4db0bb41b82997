"""Simulated crowds in the store: kept from real reports, noted by their seed, removed together.

The statements of one transaction each. The caller opens and commits it.
"""

from __future__ import annotations

import sqlite3

from deniable.errors import InvalidParameter, StoreError
from deniable.store.base import SIMULATED, Batch

_REMOVED_CHUNKS = 100
"""The most chunks, of a mebibyte or so, that one transaction overwrites."""


def note_simulation(
    connection: sqlite3.Connection, batch: Batch, seed: int, people: int, *, among_real: bool
) -> None:
    """Note that a crowd enters, unless it would mix with real reports or enter twice."""
    if not batch.simulated:
        raise InvalidParameter("A simulated crowd needs a batch that is marked as simulated.")
    real = _reports(connection, simulated=False)
    if real and not among_real:
        raise StoreError(
            f"The store holds {real:,} real reports, and simulated ones would be counted with "
            "them. Simulate into a store of its own (--data simulated), or say "
            "--into-real-store; deniable simulate --remove takes them out again."
        )
    # The seed is text: SQLite's integers end at 2^63.
    key = (batch.question, batch.version, batch.digest, str(seed))
    found = connection.execute(
        "SELECT people, epoch FROM simulations"
        " WHERE question = ? AND version = ? AND digest = ? AND seed = ?",
        key,
    ).fetchone()
    if found:
        raise StoreError(
            f"Seed {seed} was simulated for {batch.question!r} already: {found[0]:,} people, in "
            f"epoch {found[1]}. The same people would be counted twice. Choose another seed, or "
            "take all simulated reports out first: deniable simulate --remove"
        )
    connection.execute(
        "INSERT INTO simulations VALUES (?, ?, ?, ?, ?, ?)", (*key, batch.epoch, people)
    )


def forget_simulations(connection: sqlite3.Connection) -> tuple[list[int], int]:
    """Take the simulated batches out of sight; return their numbers, and that of their reports."""
    reports = _reports(connection, simulated=True)
    rows = connection.execute("SELECT batch FROM batches WHERE simulated").fetchall()
    connection.execute("DELETE FROM batches WHERE simulated")
    connection.execute("DELETE FROM counters WHERE reason = ?", (SIMULATED,))
    connection.execute("DELETE FROM simulations")
    return [number for (number,) in rows], reports


def remove_chunks(connection: sqlite3.Connection, number: int) -> bool:
    """Delete and overwrite some chunks of a batch; False when there were none left."""
    deleted = connection.execute(
        "DELETE FROM chunks WHERE batch = ?1 AND key IN"
        " (SELECT key FROM chunks WHERE batch = ?1 LIMIT ?2)",
        (number, _REMOVED_CHUNKS),
    )
    return deleted.rowcount > 0


def _reports(connection: sqlite3.Connection, *, simulated: bool) -> int:
    (reports,) = connection.execute(
        "SELECT coalesce(sum(reports), 0) FROM batches WHERE simulated = ?", (simulated,)
    ).fetchone()
    return int(reports)

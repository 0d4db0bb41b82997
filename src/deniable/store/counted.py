"""Counts of closed epochs that somebody made, kept beside the reports that they were made of.

A row is what an analyst's process computed and may be lost at any time: no report depends on it. It
names one of its batches, so that rows of batches that are no more are found; an answer at a glance,
made of all batches of a question, names the number of one of them below zero. The table is made
when the first counts are kept. The collector keeps none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from deniable.store.tables import Tables

# SQLite takes any name of a type; PostgreSQL knows these.
_CREATE = """
    CREATE TABLE IF NOT EXISTS counted
        (key BYTEA PRIMARY KEY, batch BIGINT NOT NULL, data BYTEA NOT NULL)
"""
_READ = "SELECT data FROM counted WHERE key = ?"
_WRITE = """
    INSERT INTO counted (key, batch, data) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, data = excluded.data
"""
_OLDER = "DELETE FROM counted WHERE batch = ? AND key <> ?"
_TIDY = "DELETE FROM counted WHERE ABS(batch) NOT IN (SELECT batch FROM batches)"
_GLANCES = "DELETE FROM counted WHERE batch < 0"


def read_counted(tables: Tables, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return what is kept under these keys."""
    if not keys or not tables.has("counted"):
        return {}
    found = {key: tables.execute(_READ, (key,)) for key in keys}
    return {key: bytes(rows[0][0]) for key, rows in found.items() if rows}


def write_counted(tables: Tables, counted: Mapping[bytes, tuple[int, bytes]]) -> None:
    """Keep counts, each with the number of a batch, in place of older ones of the same batch."""
    if not tables.has("counted"):
        tables.make(_CREATE)
    for key, (batch, data) in counted.items():
        tables.execute(_OLDER, (batch, key))
        tables.execute(_WRITE, (key, batch, data))
    tables.execute(_TIDY)


def forget_deleted(tables: Tables) -> None:
    """Forget what was made of reports that are deleted in this transaction."""
    if tables.has("counted"):
        tables.execute(_GLANCES)
        tables.execute(_TIDY)

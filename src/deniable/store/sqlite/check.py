"""Damage that only a file of SQLite can have: its pages, and its log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.store.sqlite.connection import read_commits, reading
from deniable.store.sqlite.files import prepare_file
from deniable.store.sqlite.mark import Mark
from deniable.store.sqlite.schema import readable_version
from deniable.store.sqlite.tables import SqliteTables

_MOST_LINES = 20
"""The most lines of SQLite's own check that are kept; it may have one per damaged page."""


@contextmanager
def tables_to_check(path: Path) -> Iterator[tuple[SqliteTables, int | None]]:
    """Open a file as it is, without a look at its mark; give the tables and the mark.

    Raises:
        StoreError: if there is no store, it is empty, or it cannot be opened at all.
    """
    prepare_file(path, create=False)
    marked = Mark(path).read()
    with reading(path) as connection:
        readable_version(connection)
        yield SqliteTables(connection, os.urandom), marked


def own_problems(tables: SqliteTables, marked: int | None) -> Iterator[tuple[str, str]]:
    """Yield the kind and the words of what the mark and SQLite's own check find."""
    number = read_commits(tables.connection)
    if marked is not None and number < marked:
        yield (
            "log",
            f"{marked - number:,} of the {marked:,} transactions that were written are lost: "
            "the log was lost, or an older copy was put back",
        )
    for (line,) in tables.execute(f"PRAGMA integrity_check({_MOST_LINES})"):
        if line != "ok":
            # SQLite names pages, tables and row numbers, and never what is in them.
            yield "database", f"SQLite's check says: {line}"

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import Batch, SqliteStore, Tally
from deniable.store.sqlite import schema
from deniable.store.sqlite.schema import schema_version
from material.stores import DIGEST, multiset, report


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return found


NEXT: tuple[schema.Step, ...] = (
    *schema.MIGRATIONS,
    ("CREATE TABLE notes (note TEXT PRIMARY KEY) WITHOUT ROWID",),
)
"""A step to a version that does not exist yet."""


def test_an_older_store_is_migrated_with_all_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store.append([report(1)])
    monkeypatch.setattr(schema, "MIGRATIONS", NEXT)
    with SqliteStore(tmp_path / "s", create=False) as store:
        assert version(store.path) == schema_version() == 3
        assert store.tallies() == [Tally(Batch("colour", 1, DIGEST, 20_000), 1, 4)]
        assert store.append([report(1), report(2)]).new == (False, True)
        assert multiset(store) == Counter([1, 2])


def test_a_migrated_store_equals_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteStore(tmp_path / "old").close()
    monkeypatch.setattr(schema, "MIGRATIONS", NEXT)
    shapes = []
    for name in ("old", "new"):
        SqliteStore(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            tables = "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m"
            shapes.append(
                set(connection.execute(tables + ", pragma_table_xinfo(m.name) c").fetchall())
            )
    assert shapes[0] == shapes[1]
    assert "notes" in {row[0] for row in shapes[0]}


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "newer"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema_version() + 1}")
    with pytest.raises(StoreError, match=r"schema version 3; .* up to 2\. Upgrade deniable\."):
        SqliteStore(path)
    assert version(path) == schema_version() + 1


def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    with pytest.raises(StoreError, match="not a Deniable store"):
        SqliteStore(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"dear diary, " * 1_000)
    with pytest.raises(StoreError, match=r"not a Deniable store\. Name another file\."):
        SqliteStore(path)
    assert path.read_bytes() == b"dear diary, " * 1_000


def test_no_table_counts_its_rows(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store.append([report(1)])
        with closing(sqlite3.connect(store.path)) as connection:
            tables = connection.execute(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                " AND NOT wr AND name NOT GLOB 'sqlite_*'"
            ).fetchall()
    assert tables == [("batches",)]  # whose row number is the random batch number

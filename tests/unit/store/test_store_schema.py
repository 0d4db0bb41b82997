from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import Batch, SqliteStore, Tally
from deniable.store.schema import APPLICATION_ID, SCHEMA_VERSION, ids_table
from material.stores import DIGEST, multiset, report

# The first schema, as it stood; written out here so that a change of the steps is noticed.
VERSION_1 = f"""
PRAGMA journal_mode = WAL;
CREATE TABLE batches (batch INTEGER PRIMARY KEY, question TEXT NOT NULL, version INTEGER NOT NULL,
    digest BLOB NOT NULL, epoch INTEGER NOT NULL, size INTEGER NOT NULL, reports INTEGER NOT NULL,
    UNIQUE (question, version, digest, epoch, size));
CREATE TABLE chunks (batch INTEGER NOT NULL, key BLOB NOT NULL, records BLOB NOT NULL,
    PRIMARY KEY (batch, key)) WITHOUT ROWID;
CREATE TABLE counters (question TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (question, reason)) WITHOUT ROWID;
CREATE TABLE ids_20000 (id BLOB PRIMARY KEY) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = 1;
"""


def old_store(path: Path) -> None:
    old = report(1)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(VERSION_1)
        connection.execute(
            "INSERT INTO batches VALUES (77, 'colour', 1, ?, 20000, 4, 1)", (DIGEST,)
        )
        connection.execute("INSERT INTO chunks VALUES (77, x'00', ?)", (old.record,))
        connection.execute("INSERT INTO ids_20000 VALUES (?)", (old.id,))
        connection.execute("INSERT INTO counters VALUES ('colour', 'accepted', 1)")


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return found


def test_an_old_store_is_migrated_with_all_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "old"
    old_store(path)
    with SqliteStore(path, create=False) as store:
        assert version(path) == SCHEMA_VERSION == 2
        assert store.tallies() == [Tally(Batch("colour", 1, DIGEST, 20_000), 1, 4)]
        assert store.append([report(1), report(2)]).new == (False, True)
        assert multiset(store) == Counter([1, 2])
        assert store.close_epochs(20_001, {("colour", 1): 1}) == 1
        assert multiset(store) == Counter([1, 2])


def test_a_migrated_store_equals_a_new_one(tmp_path: Path) -> None:
    old_store(tmp_path / "old")
    shapes = []
    for name in ("old", "new"):
        SqliteStore(tmp_path / name).close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            tables = "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m"
            rows = connection.execute(tables + ", pragma_table_xinfo(m.name) c").fetchall()
            shapes.append({row for row in rows if not row[0].startswith("ids_")})
    assert shapes[0] == shapes[1]


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "newer"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StoreError, match=r"schema version 3; .* up to 2\. Upgrade deniable\."):
        SqliteStore(path)
    assert version(path) == SCHEMA_VERSION + 1


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


def test_the_name_of_a_table_is_made_of_an_integer() -> None:
    assert ids_table(20_000) == "ids_20000"


def test_no_table_counts_its_rows(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store.append([report(1)])
        with closing(sqlite3.connect(store.path)) as connection:
            tables = connection.execute(
                "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
                " AND NOT wr AND name NOT GLOB 'sqlite_*'"
            ).fetchall()
    assert tables == [("batches",)]  # whose row number is the random batch number

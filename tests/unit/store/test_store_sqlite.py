"""What only the embedded store promises: overwriting, and files of its owner's."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store import Batch, Scope, SqliteStore, open_store
from material.stores import DIGEST, all_bytes, reports

GROUPS, GROUP = 40, 50
PEOPLE = GROUPS * GROUP
OVER, DAY, DAYS = 20_001, 20_001, {("colour", 1): 1}
CROWD = Batch("colour", 1, DIGEST, 20_000, simulated=True)


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "s")


@pytest.fixture
def filled(store: SqliteStore) -> SqliteStore:
    for start in range(0, PEOPLE, GROUP):
        store.append(reports(GROUP, start))
    return store


def test_an_abandoned_reader_lets_go(store: SqliteStore) -> None:
    store.append(reports(5))
    store.append(reports(5, start=5))
    chunks = store.read("colour")
    next(chunks)
    chunks.close()
    store.close_epochs(10**6, DAYS, running_seconds=0)
    assert (store.path.parent / f"{store.path.name}-wal").stat().st_size == 0


def test_the_file_is_its_owners_only(tmp_path: Path) -> None:
    with open_store(tmp_path / "new" / "data") as store:
        store.append(reports(1))
        files = list((tmp_path / "new" / "data").iterdir())
        assert {path.name for path in files} >= {"reports.sqlite3", "reports.sqlite3-wal"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_ids_are_gone_from_every_byte_of_every_file(filled: SqliteStore, tmp_path: Path) -> None:
    with filled as store:
        ids = [each.id for each in reports(PEOPLE)]
        before = all_bytes(tmp_path)
        assert all(identity in before for identity in ids)  # control: they can be found before
        keys = chunk_keys(store.path)
        store.close_epochs(OVER, DAYS, running_seconds=0)
        after = all_bytes(tmp_path)
        assert not [identity for identity in ids if identity in after]
        assert not [key for key in keys if key in after]
        assert (tmp_path / "s-wal").stat().st_size == 0
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("SELECT 1 FROM runs UNION SELECT 1 FROM ids").fetchall() == []


def test_a_slow_reader_delays_only_the_truncation(filled: SqliteStore, tmp_path: Path) -> None:
    with filled as store:
        chunks: Iterator[object] = store.read("colour")
        next(chunks)
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
        assert sum(1 for _ in chunks) == GROUPS - 1  # it still sees its own moment
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 0
        assert (tmp_path / "s-wal").stat().st_size == 0


def test_what_is_removed_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.begin_simulation(CROWD, 1, 64)
        store.append_records(CROWD, b"MADE" * 64, 4)
        store.remove_simulated()
    assert b"MADEMADE" not in path.read_bytes()
    assert (
        not path.with_name("s-wal").exists() or b"MADE" not in path.with_name("s-wal").read_bytes()
    )


def test_closing_overwrites_the_segments_of_small_combinations(
    store: SqliteStore, tmp_path: Path
) -> None:
    texts = [f'{{"platform":"{name}"}}' for name in ("linux", "beos")]
    store.append([replace(each, segments=texts[0]) for each in reports(10)])
    store.append([replace(each, segments=texts[1]) for each in reports(2, 50)])
    store.append(
        [replace(each, segments=texts[1].replace("beos", "mac")) for each in reports(3, 60)]
    )
    store.close_epochs(20_010, DAYS, running_seconds=0, floor=5)
    store.close()
    assert b"beos" not in all_bytes(tmp_path)
    assert b"mac" not in all_bytes(tmp_path)
    assert b"linux" in all_bytes(tmp_path)


def test_a_look_that_could_not_be_written_is_made_up_for(tmp_path: Path) -> None:
    now = [1_000.0]
    with SqliteStore(tmp_path / "s", monotonic=lambda: now[0]) as store:
        store.append(reports(5))
        store.find_over(DAY, DAYS)
        now[0] += 86_400
        store._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError):
            store.find_over(DAY, DAYS)
        store._connection.execute("PRAGMA query_only = OFF")
        store.find_over(DAY, DAYS)
        assert store.close_epochs(DAY, DAYS) == 1


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def chunk_keys(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM chunks")]


def test_what_goes_from_an_open_epoch_is_overwritten_and_its_ids_are_not(
    store: SqliteStore, tmp_path: Path
) -> None:
    gone = [Report("short", 1, DIGEST, 20_000, bytes([n] * 16), b"GONE" * 8) for n in range(40)]
    store.append([*gone, *reports(5, 100)])
    assert b"GONEGONE" in all_bytes(tmp_path)  # control
    assert store.delete(Scope("short", 1, 20_000, 20_000)) == 40
    assert b"GONEGONE" not in all_bytes(tmp_path)
    assert store.append(gone).duplicates == 40
    store.close()
    assert b"GONEGONE" not in all_bytes(tmp_path)

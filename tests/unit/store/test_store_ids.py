"""Ids of open epochs: sorted runs, merged in steps, beside a model that is a set."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from deniable.protocol import Report
from deniable.store import SqliteStore
from deniable.store.sqlite import id_runs, schema, tables
from deniable.store.sqlite import ids as claims
from deniable.store.sqlite.id_filter import IdFilter
from deniable.store.sqlite.id_runs import EpochRuns, Sizes
from material.stores import DIGEST, multiset, report

EPOCH = 20_000
DAYS = {("colour", 1): 1}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Sizes:
    sizes = Sizes(row=3, step=12, load=30, fan=3, work=6)
    monkeypatch.setattr(id_runs, "SIZES", sizes)
    return sizes


def with_id(identity: bytes, epoch: int = EPOCH) -> Report:
    return Report("colour", 1, DIGEST, epoch, identity, b"\0\0\0\0")


def check_runs(path: Path, expected: set[bytes], row: int) -> list[int]:
    """Check that every id is in one run, in sorted rows; return the sizes of the runs."""
    with closing(sqlite3.connect(path)) as connection:
        runs = dict(connection.execute("SELECT run, ids FROM runs").fetchall())
        rows = connection.execute("SELECT run, first, ids FROM ids ORDER BY run, first").fetchall()
    found: dict[int, list[bytes]] = {run: [] for run in runs}
    for run, first, ids in rows:
        assert 16 <= len(ids) <= 16 * row
        assert ids[:16] == first
        found[run] += [ids[at : at + 16] for at in range(0, len(ids), 16)]
    assert all(ids == sorted(ids) for ids in found.values())
    assert {run: len(ids) for run, ids in found.items()} == runs
    everything = [each for ids in found.values() for each in ids]
    assert len(everything) == len(expected)
    assert set(everything) == expected
    return sorted(runs.values())


@pytest.mark.parametrize("seed", range(4))
def test_stores_that_take_turns_agree_with_a_set(tmp_path: Path, small: Sizes, seed: int) -> None:
    """Three processes' worth of stores, of which one looks rarely and one is opened late."""
    rng, path = random.Random(seed), tmp_path / "s"
    opened = [SqliteStore(path), SqliteStore(path)]
    known: set[bytes] = set()
    # Ids that share beginnings, and the lowest and highest: bounds fall between and upon them.
    common = [b"\0" * 16, b"\xff" * 16, *(b"\0" * 15 + bytes([n]) for n in range(1, 40))]
    for turn in range(120):
        if turn == 60:
            opened.append(SqliteStore(path))
        pool = [*rng.sample(common, 2), *rng.sample(sorted(known), min(3, len(known)))]
        wanted = [rng.randbytes(16) for _ in range(rng.choice((0, 1, 2, 9, 40)))] + pool
        rng.shuffle(wanted)
        wanted += wanted[:1]
        store = opened[0] if turn % 17 else rng.choice(opened)
        told = store.append([with_id(each) for each in wanted]).new
        first = [each not in known and each not in wanted[:at] for at, each in enumerate(wanted)]
        assert told == tuple(first)
        known |= set(wanted)
        sizes = check_runs(path, known, small.row)
    assert len(sizes) < 25  # merging keeps up
    for store in opened:
        assert store.append([with_id(each) for each in known]).accepted == 0
        store.close()


def test_a_run_that_was_read_while_it_grew_is_read_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_runs, "SIZES", Sizes(row=3, step=12, load=21, fan=3, work=6))
    path = tmp_path / "s"
    with SqliteStore(path) as store, SqliteStore(path) as late:
        for start in (0, 30, 60):
            store.append([report(n) for n in range(start, start + 30)])
        store.append([report(90)])  # pays for the first step of a merge
        sizes = check_runs(path, {report(n).id for n in range(91)}, 3)
        assert len(sizes) == 5  # three runs, the one that they are merged into, a new one
        assert late.append([report(90)]).duplicates == 1  # it has read the growing run, and no more
        for number in range(91, 120):
            store.append([report(number)])
        assert max(check_runs(path, {report(n).id for n in range(120)}, 3)) >= 90
        assert late.append([report(n) for n in range(120)]).accepted == 0


def test_a_late_report_reads_little_of_a_large_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_runs, "SIZES", Sizes(row=4, load=400, load_each=20))
    read: list[int] = []
    original = EpochRuns.rows

    def rows(self: EpochRuns, *arguments: Any) -> list[tuple[bytes, bytes]]:
        found = original(self, *arguments)
        read.extend(len(ids) // 16 for _, ids in found)
        return found

    with SqliteStore(tmp_path / "s") as store:
        store.append([report(number) for number in range(1_000)])
    with SqliteStore(tmp_path / "s") as store:
        monkeypatch.setattr(EpochRuns, "rows", rows)
        for number, new in ((5, False), (2_000, True), (2_000, False)):
            read.clear()
            assert store.append([report(number)]).new == (new,)
            assert 0 < sum(read) <= 20
        read.clear()
        store.append([report(number) for number in range(100)])
        assert 20 < sum(read) <= 400
        for _ in range(5):
            store.append([report(number) for number in range(100)])
        read.clear()
        assert store.append([report(number) for number in range(100)]).duplicates == 100
        assert not read  # all of it was read by now


def test_only_so_much_memory_is_taken_by_epochs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "MOST_BYTES", 2**17)  # two filters of 64 KiB
    with SqliteStore(tmp_path / "s") as store:
        for turn in range(2):
            for epoch in range(10, 20):
                told = store.append([report(number, epoch) for number in range(50)])
                assert told.duplicates == 50 * turn
                assert len(store._ids._known) <= 3
        assert list(store._ids._known) == [17, 18, 19]


def test_no_group_merges_more_than_it_pays_for(
    tmp_path: Path, small: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = [0]
    original = EpochRuns.step

    def step(self: EpochRuns, *arguments: object) -> object:
        before = arguments[0].ids  # type: ignore[attr-defined]
        done = original(self, *arguments)  # type: ignore[arg-type]
        moved[-1] += done[0].ids - before
        return done

    monkeypatch.setattr(EpochRuns, "step", step)
    with SqliteStore(tmp_path / "s") as store:
        for start in range(0, 1_200, 4):
            moved.append(0)
            store.append([report(number) for number in range(start, start + 4)])
    assert max(moved) <= small.step + 4 * small.work
    assert sum(moved) > 1_200 * 3  # control: ids are merged again and again


def test_what_was_rolled_back_is_new_again(
    tmp_path: Path, small: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store, SqliteStore(path) as other:
        for start in range(0, 60, 4):
            store.append([report(number) for number in range(start, start + 4)])
        before = check_runs(path, {report(n).id for n in range(60)}, small.row)
        for _ in range(5):
            with monkeypatch.context() as patched:
                patched.setattr(tables.SqliteTables, "add_counters", lambda *_: 1 / 0)
                with pytest.raises(ZeroDivisionError):
                    store.append([report(number) for number in range(60, 70)])
        assert check_runs(path, {report(n).id for n in range(60)}, small.row) == before
        assert other.append([report(65)]).accepted == 1
        told = store.append([report(number) for number in range(58, 70)]).new
        assert told == (False,) * 2 + (True,) * 5 + (False,) + (True,) * 4


def test_a_store_of_version_1_keeps_its_ids(tmp_path: Path) -> None:
    path = tmp_path / "s"
    kept = {epoch: {report(n, epoch=epoch).id for n in range(1_500)} for epoch in (7, EPOCH)}
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as connection:
        for table in ("runs", "ids"):
            connection.execute(f"DROP TABLE {table}")
        for epoch, of in {**kept, 9: set[bytes]()}.items():
            connection.execute(f"CREATE TABLE ids_{epoch} (id BLOB PRIMARY KEY) WITHOUT ROWID")
            connection.executemany(f"INSERT INTO ids_{epoch} VALUES (?)", [(i,) for i in of])  # noqa: S608
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with SqliteStore(path, create=False) as store:
        for epoch in kept:
            told = store.append([report(n, epoch=epoch) for n in range(1_600)])
            assert told.new == (False,) * 1_500 + (True,) * 100
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.schema_version(),)
        assert not connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name GLOB 'ids_*'"
        ).fetchall()


def test_a_late_report_while_ids_are_dropped_keeps_its_id(
    tmp_path: Path, small: Sizes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_DROP_ROWS", 2)
    with SqliteStore(tmp_path / "s") as store:
        store.append([report(number) for number in range(40)])
        steps = count()
        original = SqliteStore._step

        @contextmanager
        def step(self: SqliteStore, connection: sqlite3.Connection) -> Iterator[None]:
            with original(self, connection):
                yield
            if next(steps) == 4:
                assert store.append([report(99)]).accepted == 1

        monkeypatch.setattr(SqliteStore, "_step", step)
        assert store.close_epochs(10**6, DAYS, running_seconds=0) == 1
        assert store.append([report(99)]).duplicates == 1
        monkeypatch.undo()
        assert store.close_epochs(10**6, DAYS, running_seconds=0) == 1
        assert multiset(store)[99] == 1
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("SELECT 1 FROM runs UNION SELECT 1 FROM ids").fetchall() == []


def test_few_bytes_are_written_for_each_id(tmp_path: Path) -> None:
    """Bytes are counted, not seconds; the record of four bytes is among them."""

    def written() -> int:
        lines = Path("/proc/self/io").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("wchar")))

    rng = random.Random(5)
    with SqliteStore(tmp_path / "s") as store:
        before = written()
        for _ in range(120):
            store.append([with_id(rng.randbytes(16)) for _ in range(1_000)])
    assert 32 < (written() - before) / 120_000 < 400


def test_a_filter_forgets_nothing_and_takes_few_for_known() -> None:
    rng = random.Random(11)
    made = IdFilter(rng.randbytes)
    added = [rng.randbytes(16 * size) for size in (1, 7, 30_000, 100, 200_000, 1)]
    for each in added:
        assert not made.holds(made.hashed(each))[0]
        made.add(made.hashed(each))
    for each in added:
        assert made.holds(made.hashed(each)).all()
    assert made.holds(made.hashed(rng.randbytes(16 * 100_000))).mean() < 0.002
    same = made.hashed(added[2])
    made.add(same)  # takes no room
    assert made.holds(same).all()

"""Flipped bits are a named error, never different numbers."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import STORE_FILE, SqliteStore, open_store, tables
from deniable.store.check import Checked, check_store
from material.stores import multiset, report, reports

DAYS = {("colour", 1): 1, ("shape", 1): 1}
FLIPS = 250


def filled(folder: Path) -> Path:
    """A store with an open and a closed epoch of two questions, all of it in one file."""
    with open_store(folder) as store:
        for start in range(0, 1_500, 500):
            store.append(reports(500, start, epoch=10))
            shapes = range(10_000 + start, 10_500 + start)
            store.append([report(number, 10, "shape", size=9) for number in shapes])
        store.close_epochs(11, DAYS, running_seconds=0)
        store.append(reports(500, 1_500, epoch=20))
    return folder / STORE_FILE


def seen(folder: Path) -> tuple[object, ...]:
    with open_store(folder, create=False) as store:
        found = [
            sorted((chunk.batch, chunk.records) for chunk in store.read(question))
            for question in ("colour", "shape")
        ]
        return found, store.tallies(), store.counters()


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def flip(data: bytes, place: int, bit: int) -> bytes:
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def outcomes(tmp_path: Path, kind: str) -> Counter[str]:
    """Damage a store in many places, one at a time, and read it each time."""
    path = filled(tmp_path / "whole")
    good, data = seen(path.parent), path.read_bytes()
    chance = random.Random(kind)
    found: Counter[str] = Counter()
    for number in range(FLIPS):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        place = chance.randrange(100, len(data))
        if kind == "bit":
            damaged = flip(data, place, chance.randrange(8))
        else:
            part = data[place : place + 8_192]
            damaged = data[:place] + bytes(255 - byte for byte in part) + data[place + len(part) :]
        (folder / STORE_FILE).write_bytes(damaged)
        try:
            same = seen(folder) == good
        except StoreError:
            found["named"] += 1
        else:
            checked = same or check_store(folder).problems
            found["same" if same else "named by the check" if checked else "different"] += 1
        shutil.rmtree(folder)
    return found


@pytest.mark.parametrize("kind", ["bit", "8 KiB"])
def test_no_flipped_bits_change_a_number(tmp_path: Path, kind: str) -> None:
    found = outcomes(tmp_path, kind)
    assert found["different"] == 0, found
    assert found["named"] > FLIPS // 10


def test_control_without_sums_numbers_are_different(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "is_sound", lambda *_: True)
    monkeypatch.setattr("deniable.store.check.is_sound", lambda *_: True)
    assert outcomes(tmp_path, "bit")["different"] > 0


def damage_chunk(path: Path, epoch: int = 10) -> None:
    """Change one byte of one record of colour."""
    where = "(SELECT batch FROM batches WHERE question = 'colour' AND epoch = ?)"
    with closing(sqlite3.connect(path)) as connection, connection:
        number, key, records = connection.execute(
            f"SELECT batch, key, records FROM chunks WHERE batch = {where}",  # noqa: S608
            (epoch,),
        ).fetchone()
        connection.execute(
            "UPDATE chunks SET records = ? WHERE batch = ? AND key = ?",
            (flip(records, 5, 0), number, key),
        )


def test_a_damaged_chunk_is_named_and_the_rest_can_be_read(tmp_path: Path) -> None:
    path = filled(tmp_path)
    damage_chunk(path)
    with open_store(tmp_path, create=False) as store:
        words = r"damaged in question 'colour', version 1, epoch 10: .* deniable store check"
        with pytest.raises(StoreError, match=words):
            list(store.read("colour"))
        assert sum(chunk.count for chunk in store.read("colour", first_epoch=11)) == 500
        assert sum(chunk.count for chunk in store.read("shape")) == 1_500
        assert store.append([report(9_999, epoch=20)]).accepted == 1
    found = check_store(tmp_path)
    assert [(p.kind, p.question, p.version, p.epoch) for p in found.problems] == [
        ("chunk", "colour", 1, 10),
        ("bytes", "colour", 1, 10),
    ]


def test_a_damaged_batch_is_not_closed_and_keeps_its_ids(tmp_path: Path) -> None:
    path = filled(tmp_path)
    damage_chunk(path, epoch=20)
    with SqliteStore(path) as store:
        store.append([report(99, 20, "shape", size=9)])
        for merge_bytes in (2**24, 1_024):
            store._merge_bytes = merge_bytes
            with pytest.raises(
                StoreError, match=r"'colour', version 1, epoch 20: .*Closed beside it"
            ):
                store.close_epochs(10**6, DAYS, running_seconds=0)
        assert [chunk.count for chunk in store.read("shape", first_epoch=20)] == [1]
        assert store.append(reports(500, 1_500, epoch=20)).duplicates == 500
        with pytest.raises(StoreError, match="damaged"):
            list(store.read("colour", first_epoch=20))


def test_lost_chunks_are_noticed_by_reader_closer_and_check(tmp_path: Path) -> None:
    path = filled(tmp_path)
    change(path, "DELETE FROM chunks WHERE batch IN (SELECT batch FROM batches WHERE epoch = 20)")
    with SqliteStore(path) as store:
        with pytest.raises(StoreError, match=r"hold 0 bytes, its 500 reports need 2,000"):
            list(store.read("colour"))
        with pytest.raises(StoreError, match=r"hold 0 bytes, its 500 reports need 2,000"):
            store.close_epochs(10**6, DAYS, running_seconds=0)
    (problem,) = check_store(tmp_path).problems
    assert (problem.kind, problem.epoch) == ("bytes", 20)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE batches SET reports = reports - 1 WHERE epoch = 20",
        "UPDATE batches SET epoch = 21 WHERE epoch = 20",
        "UPDATE batches SET question = 'colouR' WHERE epoch = 20",
        "UPDATE batches SET open = 0 WHERE epoch = 20",
        "UPDATE batches SET ran = 100000 WHERE epoch = 20",
        "UPDATE batches SET size = '4' WHERE epoch = 20",
    ],
)
def test_a_damaged_row_of_batches_stops_everything_that_would_count_it(
    tmp_path: Path, statement: str
) -> None:
    path = filled(tmp_path)
    change(path, statement)
    with SqliteStore(path) as store:
        if "size" not in statement:  # the column's type makes a number of it again
            with pytest.raises(StoreError, match="table of batches does not fit its sum"):
                store.tallies()
            with pytest.raises(StoreError, match="table of batches does not fit its sum"):
                store.close_epochs(10**6, DAYS, running_seconds=0)
            assert [problem.kind for problem in check_store(tmp_path).problems][:1] == ["batch"]
        assert store.append(reports(1, 1_500, epoch=20)).duplicates == 1  # no id was forgotten


def test_counters_are_compared_with_the_batches(tmp_path: Path) -> None:
    path = filled(tmp_path)
    change(path, "UPDATE counters SET count = count + 1 WHERE question = 'shape'")
    (problem,) = check_store(tmp_path).problems
    assert (problem.kind, problem.question) == ("counters", "shape")
    assert problem.words == "1,501 reports were counted as accepted, its batches have 1,500"


def test_leftovers_of_a_closing_are_no_damage(tmp_path: Path) -> None:
    path = filled(tmp_path)
    change(path, "INSERT INTO chunks VALUES (5, x'00', x'00', x'00')")
    assert check_store(tmp_path) == Checked(3, 3, 3_500, 21_500, 1, ())


def test_a_lost_log_is_found_by_the_check_too(tmp_path: Path) -> None:
    path = filled(tmp_path)
    change(path, "UPDATE commits SET number = number - 3")
    (problem,) = check_store(tmp_path).problems
    assert problem.kind == "log"
    assert "3 of the" in problem.words


def test_a_new_store_has_no_damage(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    calls: list[tuple[int, int]] = []
    assert check_store(tmp_path, lambda *now: calls.append(now)) == Checked(0, 0, 0, 0, 0, ())
    assert calls == []


def test_progress_reaches_its_end(tmp_path: Path) -> None:
    filled(tmp_path)
    calls: list[tuple[int, int]] = []
    check_store(tmp_path, lambda *now: calls.append(now))
    assert calls[-1] == (21_500, 21_500)


@pytest.mark.parametrize("content", [None, b"", b"dear diary, " * 1_000])
def test_what_is_no_store_cannot_be_checked(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / STORE_FILE).write_bytes(content)
    with pytest.raises(StoreError):
        check_store(tmp_path)


def test_a_store_can_be_checked_while_it_is_written(tmp_path: Path) -> None:
    path = filled(tmp_path)
    with SqliteStore(path) as store:

        def write(done: int, total: int) -> None:
            store.append([report(7_777, epoch=20)])

        assert check_store(tmp_path, write).problems == ()
        assert sum(multiset(store).values()) == 2_001

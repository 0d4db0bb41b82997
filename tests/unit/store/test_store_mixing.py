"""Closing where a batch lies: what is written, and what the file has afterwards."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deniable.store import Batch, SqliteStore
from material.stores import DIGEST, report

DAYS = {("colour", 1): 1}
SIZE, COUNT = 18, 120_000


def written() -> int:
    lines = Path("/proc/self/io").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("wchar")))


def pages(path: Path) -> tuple[int, int]:
    """The pages of the file, and the free ones among them."""
    with closing(sqlite3.connect(path)) as connection:
        ((count,),) = connection.execute("PRAGMA page_count").fetchall()
        ((free,),) = connection.execute("PRAGMA freelist_count").fetchall()
        return count, free


def fill(store: SqliteStore, ids: int = 0) -> bytes:
    batch, everything = Batch("colour", 1, DIGEST, 10), b""
    for _ in range(COUNT // 1_000):
        records = os.urandom(SIZE * 1_000)
        store.append_records(batch, records, SIZE)
        everything += records
    for start in range(0, ids, 1_000):
        store.append([report(number, 10) for number in range(start, start + 1_000)])
    return everything


def cut(records: bytes) -> list[bytes]:
    return sorted(records[at : at + SIZE] for at in range(0, len(records), SIZE))


@pytest.mark.parametrize("merge_bytes", [2**24, 2**19])
def test_few_bytes_are_written_and_no_page_stays_free(tmp_path: Path, merge_bytes: int) -> None:
    """In memory, and in eight buckets; `secure_delete` overwrites in both."""
    with SqliteStore(tmp_path / "s", merge_bytes=merge_bytes) as store:
        everything = fill(store)
        store._truncate_log()
        before = written()
        assert store.close_epochs(11, DAYS, running_seconds=0) == 1
        assert (written() - before) / (SIZE * COUNT) < 5
        found = b"".join(chunk.records for chunk in store.read("colour"))
        assert found != everything
        assert cut(found) == cut(everything)
    count, free = pages(tmp_path / "s")
    assert free == 0
    assert count * 4_096 < 1.03 * SIZE * COUNT + 40 * 4_096
    assert (tmp_path / "s").stat().st_size == count * 4_096


def test_ids_leave_no_room_behind(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s", merge_bytes=2**18) as store:
        fill(store, ids=60_000)
        largest, _ = pages(store.path)
        store.append([report(1, 20)])
        assert store.close_epochs(11, DAYS, running_seconds=0) == 2
        count, free = pages(store.path)
        assert (free, store.append([report(1, 20)]).duplicates) == (0, 1)
        assert count < 0.75 * largest


def test_a_file_of_version_1_keeps_its_free_pages(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s"):
        pass
    with closing(sqlite3.connect(tmp_path / "s")) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")
    with SqliteStore(tmp_path / "s") as store:
        fill(store, ids=20_000)
        assert store.close_epochs(11, DAYS, running_seconds=0) == 2
    assert pages(tmp_path / "s")[1] > 0

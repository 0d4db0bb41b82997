"""Full disks, other processes, and files that cannot be written."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import Batch, SqliteStore
from deniable.store.sqlite.connection import plain_errors
from material.stores import DIGEST, all_bytes, multiset, report, reports

TESTS = Path(__file__).parents[2]


def run(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python process that can use the tests' material."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])},
    )


def limit_pages(store: SqliteStore, more: int) -> None:
    """Let the file grow by so many pages only: SQLite then reports a full disk."""
    connection = store._connection
    used: int = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {used + more}")


def test_a_full_file_writes_nothing_and_later_works_again(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store.append(reports(10))
        before = store.counters(), store.tallies()
        limit_pages(store, 2)
        with pytest.raises(StoreError, match=r"the disk is full\. .* \(SQLITE_FULL\)"):
            store.append(reports(5_000, start=10), {("", "body"): 1})
        with pytest.raises(StoreError, match="the disk is full"):
            store.append_records(Batch("colour", 1, DIGEST, 1), bytes(2**20), 4)
        assert (store.counters(), store.tallies()) == before
        assert multiset(store) == Counter(range(10))
        limit_pages(store, 10_000)
        assert store.append(reports(5_000, start=10)).accepted == 5_000


FULL_DISK = """
    import json, resource, sys
    from material.stores import multiset, reports
    from deniable.errors import StoreError
    from deniable.store import SqliteStore

    acknowledged, failures, messages = 0, 0, set()
    with SqliteStore(sys.argv[1]) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        while failures < 3:
            try:
                acknowledged += store.append(reports(500, acknowledged)).accepted
            except StoreError as error:
                failures += 1
                messages.add(str(error))
        seen = sum(multiset(store).values())
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        later = store.append(reports(500, acknowledged)).accepted
    print(json.dumps([acknowledged, seen, later, sorted(messages)]))
"""


def test_a_disk_that_refuses_loses_nothing_acknowledged(tmp_path: Path) -> None:
    with run(FULL_DISK, tmp_path / "s") as process:
        acknowledged, seen, later, messages = json.loads(process.communicate()[0])
    assert acknowledged >= 500
    assert seen == acknowledged
    assert later == 500
    assert all("nothing was written" in message for message in messages)
    with SqliteStore(tmp_path / "s", create=False) as store:
        assert multiset(store) == Counter(range(acknowledged + 500))


WRITER = """
    import sys
    from material.stores import report
    from deniable.store import SqliteStore

    with SqliteStore(sys.argv[1]) as store:
        for number in range(int(sys.argv[2]), int(sys.argv[2]) + 60):
            assert store.append([report(number), report(10_000 + number % 60)]).accepted >= 1
"""


def test_processes_share_one_file_from_its_creation_on(tmp_path: Path) -> None:
    path = tmp_path / "s"
    processes = [run(WRITER, path, 60 * part) for part in range(4)]
    for process in processes:
        with process:
            process.wait()
    assert [process.returncode for process in processes] == [0] * 4
    with SqliteStore(path) as store:
        assert multiset(store) == Counter([*range(240), *range(10_000, 10_060)])
        assert store.counters() == {("colour", "accepted"): 300, ("colour", "duplicate"): 180}


def test_a_writer_that_never_ends_is_reported_not_waited_for(
    tmp_path: Path,
) -> None:
    with SqliteStore(tmp_path / "s") as store:
        store._connection.execute("PRAGMA busy_timeout = 50")
        with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match=r"another process is writing\. Try again\."):
                store.append(reports(1))
            other.execute("ROLLBACK")
        assert store.append(reports(1)).accepted == 1


def test_a_path_that_cannot_be_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match=r"cannot be created: .*\. Check the path"):
        SqliteStore(tmp_path / "file" / "s")
    with pytest.raises(StoreError, match=r"cannot be created: .*\. Check the path"):
        SqliteStore(tmp_path)


def test_a_damaged_file_is_said_plainly(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with SqliteStore(path) as store:
        store.append(reports(2_000))
    data = bytearray(path.read_bytes())
    data[4_096 * 2 :] = b"\xff" * (len(data) - 4_096 * 2)
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"the file is damaged\. Run: deniable store check"):
        SqliteStore(path)


def test_messages_hold_nothing_of_a_report(tmp_path: Path) -> None:
    secret = report(1, question="topsecret")
    with SqliteStore(tmp_path / "s") as store:
        store._connection.execute("DROP TABLE chunks")
        with pytest.raises(StoreError) as caught:
            store.append([secret])
    assert str(caught.value) == (
        "The store cannot be written: SQLite failed; nothing was written. (SQLITE_ERROR)"
    )
    assert secret.id not in all_bytes(tmp_path)


def test_errors_without_a_code_are_translated_too() -> None:
    said = r"cannot be read: SQLite failed; .* \(ProgrammingError\)"
    with pytest.raises(StoreError, match=said), plain_errors("be read"):
        raise sqlite3.ProgrammingError

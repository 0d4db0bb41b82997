"""Two closers on one store: nothing is lost, and one of them works at a time."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest
from test_store_trouble import run

from deniable.errors import StoreError
from deniable.store import SqliteStore
from deniable.store.closing import Closing
from deniable.store.sqlite.connection import connect_writer, transaction
from deniable.store.sqlite.lease import LEASE_SECONDS
from deniable.store.sqlite.tables import SqliteTables
from material.stores import multiset, report, reports, seeded

OVER, DAYS = 20_001, {("colour", 1): 1}
ROUNDS, BATCHES, EACH = 20, 200, 5


class Clock:
    """A monotonic clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("moment", range(8))
@pytest.mark.parametrize("theirs", [200, 10**6])
def test_a_closer_in_the_middle_of_anothers_work_loses_nothing(
    tmp_path: Path, moment: int, theirs: int
) -> None:
    """B closes everything, in memory or in buckets, between two steps of A."""
    steps = count()

    @contextmanager
    def step(connection: sqlite3.Connection) -> Iterator[None]:
        if next(steps) == moment:
            with closing(connect_writer(store.path)) as other:
                own = SqliteTables(other, seeded(1))
                Closing(own, lambda: transaction(other), theirs).run(lambda _: True)
        with transaction(connection):
            yield

    with SqliteStore(tmp_path / "s") as store:
        for start in range(0, 300, 50):
            store.append(reports(50, start))
        with closing(connect_writer(store.path)) as connection:
            mine = Closing(SqliteTables(connection, seeded(2)), lambda: step(connection), 300)
            mine.run(lambda _: True)
        assert next(steps) > moment
        assert multiset(store) == Counter(range(300))
        assert store.tallies()[0].reports == store.counters()["colour", "accepted"] == 300
        assert not store.tallies()[0].open
        keys = connection_keys(store.path)
        assert not [key for key in keys if key.startswith(b"\xff" * 6)]


def connection_keys(path: Path) -> list[bytes]:
    with closing(sqlite3.connect(path)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM chunks")]


def test_a_report_in_the_middle_of_closing_keeps_its_batch_open(tmp_path: Path) -> None:
    for moment in range(6):
        steps = count()

        @contextmanager
        def step(
            connection: sqlite3.Connection, moment: int = moment, steps: Iterator[int] = steps
        ) -> Iterator[None]:
            if next(steps) == moment:
                assert store.append([report(99)]).accepted == 1
            with transaction(connection):
                yield

        with SqliteStore(tmp_path / f"{moment}") as store:
            store.append(reports(60))
            with closing(connect_writer(store.path)) as connection:
                tables = SqliteTables(connection, seeded(2))
                closed = Closing(tables, lambda: step(connection), 100).run(lambda _: True)
            assert closed == 0, moment
            assert store.tallies()[0].open
            assert multiset(store) == Counter([*range(60), 99])
            assert store.append([report(99)]).duplicates == 1
            assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
            assert multiset(store) == Counter([*range(60), 99])


CLOSER = """
    import os, random, sys, time
    from contextlib import closing
    from pathlib import Path
    from deniable.store import SqliteStore
    from deniable.store.sqlite import store as sqlite
    from deniable.store.sqlite.tables import SqliteTables
    from deniable.store.closing import Closing
    from deniable.store.sqlite.connection import connect_writer, transaction

    def unsynced(path):  # nobody cuts the power here, and a slow disk would make it long
        made = connect_writer(path)
        made.execute("PRAGMA synchronous = OFF")
        return made

    sqlite.connect_writer = unsynced

    def late(connection):  # what a sync would do: time passes between a question and its use
        time.sleep(random.random() / 500)
        return transaction(connection)

    def without_lease(path):
        with closing(unsynced(path)) as connection:
            work = Closing(SqliteTables(connection, os.urandom), lambda: late(connection))
            # Leftovers are looked for at each start, so the more starts, the more chances.
            parts = random.sample(range(20), 20)
            return sum(work.run(lambda row: row.batch.epoch % 20 == part) for part in parts)

    def with_lease(path):
        with SqliteStore(path, create=False) as store:
            return store.close_epochs(10**6, {("colour", 1): 1}, running_seconds=0)

    print("ready", flush=True)
    for line in sys.stdin:
        how, path = line.split()
        print({"with": with_lease, "without": without_lease}[how](Path(path)), flush=True)
"""


def ask(process: subprocess.Popen[str], how: str, path: Path) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{how} {path}\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, "the closer ended"
    return line


def test_two_processes_lose_nothing_in_twenty_rounds(tmp_path: Path) -> None:
    """Half of the rounds are without the lease: data are safe by themselves."""
    with SqliteStore(tmp_path / "full") as store:
        epochs = range(1_000, 1_000 + BATCHES)
        for part in range(EACH):
            store.append([report(epoch * EACH + part, epoch) for epoch in epochs])
    everything = Counter(range(1_000 * EACH, (1_000 + BATCHES) * EACH))
    closed: Counter[str] = Counter()
    with run(CLOSER) as one, run(CLOSER) as two:
        assert answer(one) == answer(two) == "ready"
        for number in range(ROUNDS):
            how, path = ("with", "without")[number % 2], tmp_path / f"{number}"
            shutil.copy(tmp_path / "full", path)
            ask(one, how, path)
            ask(two, how, path)
            closed[how] += int(answer(one)) + int(answer(two))
            with SqliteStore(path) as store:
                assert multiset(store) == everything, (number, how)
                assert sum(tally.reports for tally in store.tallies()) == len(everything)
                assert store.counters()["colour", "accepted"] == len(everything)
                store.close_epochs(10**6, DAYS, running_seconds=0)
                assert {chunk.count for chunk in store.read("colour")} == {EACH}
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.close()
    # With the lease the second keeps out; each batch is closed by somebody.
    assert closed["with"] == ROUNDS // 2 * BATCHES


def held(store: SqliteStore, token: bytes = b"a" * 16, beats: int = 7) -> None:
    """Write the lease of a process that is killed right after."""
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO lease VALUES ('closing', ?, ?)", (token, beats))


def test_the_lease_of_a_dead_closer_is_taken_over_and_a_living_one_left_alone(
    tmp_path: Path,
) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        for beats in range(5):  # it lives: its beats go on
            held(store, beats=beats)
            assert store.close_epochs(OVER, DAYS, running_seconds=0) == 0
            clock.now += LEASE_SECONDS
        clock.now -= 1
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 0
        clock.now += 1
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1  # it does not any more
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("SELECT * FROM lease").fetchall() == []
        assert multiset(store) == Counter(range(5))


def test_the_operator_is_told_of_a_closer_that_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        beats = iter(range(10**6))

        def sleep(seconds: float) -> None:
            clock.now += 20 * seconds
            held(store, beats=next(beats))

        monkeypatch.setattr("deniable.store.tabled.time.sleep", sleep)
        held(store)
        with pytest.raises(StoreError, match="Another process is closing epochs"):
            store.close_question("colour")
        monkeypatch.setattr(
            "deniable.store.tabled.time.sleep",
            lambda seconds: setattr(clock, "now", clock.now + 20 * seconds),
        )
        assert store.close_question("colour") == 1


KILLED = """
    import os, signal, sys
    from itertools import count
    from deniable.store import SqliteStore
    from deniable.store.closing import Closing
    from deniable.store.mixing import Mixing
    from deniable.store.sqlite.tables import SqliteTables

    place, name, number = sys.argv[1], sys.argv[2], count()
    owner = {"_end": Closing, "_replace": Mixing}.get(name, SqliteTables)
    original = getattr(owner, name)

    def die(self, *given):
        if next(number) == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return original(self, *given)

    setattr(owner, name, die)
    with SqliteStore(sys.argv[1], merge_bytes=1_024) as store:
        store.close_epochs(10**6, {("colour", 1): 1}, running_seconds=0)
"""


@pytest.mark.parametrize(
    ("step", "number"),
    [("_replace", 2), ("take", 1), ("put", 5), ("_end", 0), ("drop_ids", 0), ("give_back", 0)],
)
def test_a_killed_closer_blocks_nobody_for_ever(tmp_path: Path, step: str, number: int) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock, merge_bytes=1_024) as store:
        store.append(reports(1_000))
        with run(KILLED, store.path, step, number) as process:
            process.wait()
        assert process.returncode == -9
        assert multiset(store) == Counter(range(1_000))
        store.close_epochs(OVER, DAYS, running_seconds=0)
        clock.now += LEASE_SECONDS
        store.close_epochs(OVER, DAYS, running_seconds=0)
        assert multiset(store) == Counter(range(1_000))
        with closing(sqlite3.connect(store.path)) as connection:
            found = connection.execute("SELECT DISTINCT batch FROM chunks").fetchall()
            assert len(found) == 1
            assert connection.execute("SELECT * FROM lease").fetchall() == []


FULL_DISK = """
    import json, resource, sys
    from material.stores import multiset, reports
    from deniable.errors import StoreError
    from deniable.store import SqliteStore

    days, said, moments = {("colour", 1): 1}, set(), 0
    with SqliteStore(sys.argv[1], merge_bytes=int(sys.argv[2])) as store:
        for start in range(0, 20_000, 2_000):
            store.append(reports(2_000, start))
        wal = store.path.with_name(store.path.name + "-wal")
        most = max(wal.stat().st_size, store.path.stat().st_size)
        for limit in range(most // 4, 3 * most, most // 8):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
            try:
                store.close_epochs(10**6, days, running_seconds=0)
            except StoreError as error:
                said.add(str(error))
                moments += 1
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
            assert sum(multiset(store).values()) == 20_000
            store.count({("", "body"): 1})  # collecting goes on
            store._connection.execute("DELETE FROM lease")
        store.close_epochs(10**6, days, running_seconds=0)
    print(json.dumps([moments, sorted(said)]))
"""


@pytest.mark.parametrize("merge_bytes", [2**24, 4_096])
def test_a_disk_that_is_full_while_closing_loses_nothing(tmp_path: Path, merge_bytes: int) -> None:
    with run(FULL_DISK, tmp_path / "s", merge_bytes) as process:
        printed = process.communicate()[0]
    assert process.returncode == 0
    moments, said = json.loads(printed)
    assert moments >= 1
    assert all("cannot close an epoch" in words for words in said)
    with SqliteStore(tmp_path / "s", create=False) as store:
        assert multiset(store) == Counter(range(20_000))
        with closing(sqlite3.connect(store.path)) as connection:
            found = connection.execute("SELECT DISTINCT batch FROM chunks").fetchall()
            assert len(found) == 1
            assert connection.execute("SELECT 1 FROM runs UNION SELECT 1 FROM ids").fetchall() == []

"""What only PostgreSQL can do wrong: settings that break promises, lost connections, passwords."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from deniable.collector import Settings
from deniable.errors import InvalidParameter, OutcomeUnknown, StoreError
from deniable.store import open_store
from deniable.store.place import open_database
from deniable.store.postgres import PostgresStore
from material.cluster import Cluster
from material.store_kinds import PostgresStores
from material.stores import multiset, report, reports

PASSWORD = "p4ss-w0rd-of-nobody"  # noqa: S105
DAYS = {("colour", 1): 1}


@pytest.fixture
def stores(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[PostgresStores]:
    made = PostgresStores(cluster, f"u{abs(hash(request.node.nodeid)):x}")
    yield made
    made.end()


@pytest.fixture
def store(stores: PostgresStores) -> PostgresStore:
    made = stores.open()
    assert isinstance(made, PostgresStore)
    return made


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("fsync = off", "fsync = off: a power cut would lose"),
        ("track_commit_timestamp = on", "keeps the time at which every"),
    ],
)
def test_a_server_that_breaks_a_promise_is_refused(setting: str, words: str) -> None:
    server = Cluster.made(setting)
    try:
        with pytest.raises(StoreError, match=words):
            open_store(server.place())
        with server.connect() as direct:
            assert (
                direct.execute("SELECT FROM pg_namespace WHERE nspname = 'deniable'").fetchall()
                == []
            )
    finally:
        server.remove()


def test_commits_are_synced_whatever_the_server_says(
    store: PostgresStore, cluster: Cluster
) -> None:
    with cluster.connect() as direct:
        direct.execute("ALTER ROLE deniable SET synchronous_commit = off")
    try:
        with (
            open_database(store._address + f"?schema={store._schema}") as other,
            other._writing() as tables,
        ):
            assert tables.execute("SHOW synchronous_commit") == [("on",)]
    finally:
        with cluster.connect() as direct:
            direct.execute("ALTER ROLE deniable RESET synchronous_commit")


@pytest.mark.parametrize(
    "place",
    [
        f"postgresql://me:{PASSWORD}@127.0.0.1/db",
        f"postgresql://127.0.0.1/db?user=me&password={PASSWORD}",
        f"postgres://127.0.0.1/db?sslpassword={PASSWORD}",
        f"POSTGRESQL://me:{PASSWORD}@127.0.0.1/db",
    ],
)
def test_a_password_in_the_address_is_refused_and_not_shown(place: str) -> None:
    for attempt in (lambda: open_store(place), lambda: Settings(place, Path("survey.json"))):
        with pytest.raises(InvalidParameter, match="PGPASSWORD") as raised:
            attempt()
        assert PASSWORD not in repr(raised.value) + str(raised.value)
    shown = subprocess.run(
        [sys.executable, "-m", "deniable", "estimate", "q", "--data", place],
        capture_output=True,
        text=True,
    )
    assert shown.returncode != 0
    assert "PGPASSWORD" in shown.stderr
    assert PASSWORD not in shown.stdout + shown.stderr


def test_a_password_of_the_environment_works_and_is_never_shown(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with cluster.connect() as direct:
        direct.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'".encode())
        direct.execute("GRANT CREATE ON DATABASE postgres TO guarded")
    place = cluster.place("guarded", user="guarded")
    try:
        for wrong in ("", "wrong-" + PASSWORD):
            monkeypatch.setenv("PGPASSWORD", wrong)
            with pytest.raises(StoreError, match=r"cannot be opened") as raised:
                open_store(place)
            assert PASSWORD not in str(raised.value)
        file = tmp_path / "passwords"
        file.write_text(f"127.0.0.1:*:*:guarded:{PASSWORD}\n")
        file.chmod(0o600)
        for name, value in (("PGPASSWORD", PASSWORD), ("PGPASSFILE", str(file))):
            monkeypatch.delenv("PGPASSWORD", raising=False)
            monkeypatch.setenv(name, value)
            with open_store(place) as store:
                store.append(reports(1))
                assert PASSWORD not in repr(store) + repr(vars(store))
    finally:
        with cluster.connect() as direct:
            direct.execute("DROP SCHEMA IF EXISTS guarded CASCADE")
            direct.execute("DROP OWNED BY guarded")
            direct.execute("DROP ROLE guarded")


def test_no_server_is_an_error_in_plain_words() -> None:
    with pytest.raises(StoreError, match=r"cannot be opened: .*refused"):
        open_store("postgresql://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize(
    "place",
    ["postgresql://127.0.0.1", "postgresql://h/db?schema=Robert;DROP", "postgresql://[h/db"],
)
def test_an_address_that_cannot_be_used_is_refused(place: str) -> None:
    with pytest.raises(InvalidParameter):
        open_store(place)


def end_session(cluster: Cluster, store: PostgresStore) -> None:
    """End a store's session alone: other tests use the server at the same time."""
    assert store._tables is not None
    process = store._tables.connection.info.backend_pid
    with cluster.connect() as direct:
        assert direct.execute("SELECT pg_terminate_backend(%s)", (process,)).fetchone() == (True,)


def test_a_connection_lost_before_the_commit_means_that_nothing_was_written(
    store: PostgresStore, cluster: Cluster
) -> None:
    store.append(reports(3))
    end_session(cluster, store)
    with pytest.raises(StoreError, match="nothing was written") as raised:
        store.append(reports(3, 3))
    assert not isinstance(raised.value, OutcomeUnknown)
    assert store.append(reports(6)).new == (False,) * 3 + (True,) * 3
    assert multiset(store) == Counter(range(6))


@pytest.mark.parametrize("committed", [True, False])
def test_a_connection_lost_in_the_commit_is_unknown_and_a_retry_settles_it(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """Both ways in which it may have gone: the server did it, or it never heard of it."""
    store.append(reports(3))
    execute = psycopg.Connection.execute

    def cut(
        self: psycopg.Connection[object], query: object, *rest: object, **more: object
    ) -> object:
        if query == "COMMIT":
            if committed:
                execute(self, "COMMIT")  # type: ignore[arg-type]
                self._pipeline.sync() if self._pipeline else None  # type: ignore[attr-defined]
            self.pgconn.finish()
            raise psycopg.OperationalError("the server closed the connection")
        return execute(self, query, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg.Connection, "execute", cut)
    with pytest.raises(OutcomeUnknown, match="not known whether") as raised:
        store.append(reports(3, 3))
    assert "nothing was written" not in str(raised.value)
    monkeypatch.undo()
    again = store.append(reports(3, 3))
    assert again.accepted == (0 if committed else 3)
    assert multiset(store) == Counter(range(6))
    assert store.counters()["colour", "accepted"] == 6


def test_the_same_reports_through_several_collectors_count_once(stores: PostgresStores) -> None:
    """In different order: sorted ids keep them from waiting for each other in a circle."""
    collectors = [stores.open() for _ in range(3)]
    sent = [report(n, epoch) for n in range(200) for epoch in (20_000, 2_857)]
    start = threading.Barrier(3)

    def send(store: PostgresStore, order: list[int]) -> int:
        start.wait()
        accepted = 0
        for first in range(0, len(order), 50):
            accepted += store.append([sent[i] for i in order[first : first + 50]]).accepted
        return accepted

    orders = [list(range(400)), list(reversed(range(400))), [*range(200, 400), *range(200)]]
    with ThreadPoolExecutor(3) as pool:
        accepted = sum(pool.map(send, collectors, orders))
    assert accepted == 400
    assert multiset(collectors[0]) == Counter([*range(200), *range(200)])
    assert collectors[1].counters() == {("colour", "accepted"): 400, ("colour", "duplicate"): 800}


def test_collectors_count_in_slots_of_their_own_and_one_closes(stores: PostgresStores) -> None:
    one, two = stores.open(), stores.open()
    one.append(reports(5))
    two.append(reports(5, 5))
    assert stores.query("SELECT slot, reports FROM parts ORDER BY slot") == [(0, 5), (1, 5)]
    with one._closer() as closer:
        assert closer is not None
        assert two.close_epochs(20_001, DAYS, running_seconds=0) == 0
    assert two.close_epochs(20_001, DAYS, running_seconds=0) == 1
    assert stores.query("SELECT count(*) FROM parts") == [(0,)]
    assert stores.tables() == {"store", "batches", "parts", "closed", "counters", "simulations"}


def test_tables_that_somebody_reads_are_dropped_later(stores: PostgresStores) -> None:
    with stores.open() as store:
        store.append(reports(5))
        store.append(reports(5, 5))
        slow = store.read("colour")
        next(slow)
        assert store.close_epochs(20_001, DAYS, running_seconds=0) == 1
        assert "chunks_20000" in stores.tables()
        assert sum(1 for _ in slow) == 1
        # The server itself may be at a table for a moment (autovacuum); then later is later.
        for _ in range(100):
            store.close_epochs(20_001, DAYS, running_seconds=0)
            if "chunks_20000" not in stores.tables():
                break
            time.sleep(0.1)
        assert "chunks_20000" not in stores.tables()
        assert multiset(store) == Counter(range(10))


def test_a_reader_that_finds_its_tables_gone_looks_again(
    stores: PostgresStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are dropped, and made again by a late report, between its moment and its lock."""
    from deniable.store.postgres.tables import PostgresTables

    with stores.open() as store:
        store.append(reports(5))
        keep = PostgresTables.keep

        def late(self: PostgresTables, rows: object) -> bool:
            monkeypatch.setattr(PostgresTables, "keep", keep)
            store.close_epochs(20_001, DAYS, running_seconds=0)
            store.append(reports(1, 5))
            return keep(self, rows)  # type: ignore[arg-type]

        monkeypatch.setattr(PostgresTables, "keep", late)
        assert multiset(store) == Counter(range(6))


def test_another_schema_is_another_store_and_a_foreign_one_is_refused(
    stores: PostgresStores,
) -> None:
    one, two = stores.open("one"), stores.open("two")
    one.append(reports(5))
    assert two.append(reports(5)).accepted == 5
    stores.query(f"CREATE SCHEMA {stores.schema('foreign')}")
    stores.query("CREATE TABLE recipes (name text)", name="foreign")
    with pytest.raises(StoreError, match="holds something else"):
        stores.open("foreign")
    assert stores.tables("foreign") == {"recipes"}

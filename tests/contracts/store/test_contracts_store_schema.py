"""Upgrades: an older store is migrated once, with all it holds; a newer one is refused."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import Batch
from deniable.store.check import check_store
from deniable.store.postgres import schema as postgres_schema
from deniable.store.sqlite import schema as sqlite_schema
from material.cluster import Cluster
from material.store_kinds import PostgresStores, SqliteStores, Stores
from material.stores import DIGEST, multiset, report, reports

NEXT = (("CREATE TABLE notes (note TEXT PRIMARY KEY)", "INSERT INTO notes VALUES ('once')"),)
"""A step to a version that does not exist yet; taken twice, it fails."""


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sqlite_schema, postgres_schema):
        monkeypatch.setattr(module, "MIGRATIONS", (*module.MIGRATIONS, *NEXT))


def current(stores: Stores) -> int:
    module = sqlite_schema if isinstance(stores, SqliteStores) else postgres_schema
    return module.schema_version()


def version(stores: Stores) -> int:
    statement = (
        "PRAGMA user_version" if isinstance(stores, SqliteStores) else "SELECT version FROM store"
    )
    ((found,),) = stores.query(statement)
    return int(found)


def test_an_older_store_is_migrated_once_with_all_it_holds(
    stores: Stores, request: pytest.FixtureRequest
) -> None:
    with stores.open() as store:
        store.append(reports(3, epoch=10))
        store.close_epochs(11, {("colour", 1): 1}, running_seconds=0)
        store.append([report(7)])
    before = version(stores)
    assert before == current(stores)
    request.getfixturevalue("next_version")
    start = threading.Barrier(4)

    def open_it(_: int) -> int:
        start.wait()
        with stores.open(create=False) as opened:
            return opened.append([report(7)]).duplicates

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(open_it, range(4))) == [1] * 4
    assert version(stores) == before + 1
    assert stores.query("SELECT note FROM notes") == [("once",)]
    with stores.open() as store:
        assert multiset(store) == Counter([0, 1, 2, 7])


def test_a_new_store_takes_all_steps(stores: Stores, next_version: None) -> None:
    stores.open().close()
    assert version(stores) == current(stores)
    assert stores.query("SELECT note FROM notes") == [("once",)]


def test_a_newer_store_is_refused_and_left_alone(stores: Stores) -> None:
    stores.open().close()
    here = current(stores)
    stores.query(
        f"PRAGMA user_version = {here + 1}"
        if isinstance(stores, SqliteStores)
        else f"UPDATE store SET version = {here + 1}"  # noqa: S608
    )
    words = rf"schema version {here + 1}; .* up to {here}\. Upgrade deniable\."
    for create in (True, False):
        with pytest.raises(StoreError, match=words):
            stores.open(create=create)
    assert version(stores) == here + 1


V1 = Path(__file__).resolve().parents[2] / "fixtures" / "v1" / "postgres.sql"


@pytest.mark.parametrize("migrated", [False, True])
def test_a_database_of_version_1_is_opened_as_it_is_and_migrated(
    cluster: Cluster, request: pytest.FixtureRequest, migrated: bool
) -> None:
    stores = PostgresStores(cluster, f"v1_{migrated}".lower())
    try:
        with cluster.connect() as direct:
            direct.execute(V1.read_text().replace("fixture", stores.schema()).encode())
        if migrated:
            request.getfixturevalue("next_version")
        with stores.open(create=False) as store:
            assert {
                t.batch.segments: t.reports for t in store.tallies() if t.batch.epoch == 10
            } == {'{"platform":"(small)"}': 15}
            assert multiset(store) == Counter(
                [*range(15), *range(50, 70), *range(100, 107), 0, 0, 0]
            )
            assert store.counters()["colour", "digest"] == 4
            assert store.append(reports(8, 100, epoch=20)).new == (False,) * 7 + (True,)
            with pytest.raises(StoreError, match="Seed 7 was simulated"):
                store.begin_simulation(
                    Batch("colour", 1, DIGEST, 20, simulated=True), 7, 3, among_real=True
                )
            assert check_store(stores.place()).problems == ()
            assert store.close_epochs(21, {("colour", 1): 1}, running_seconds=0) == 2
        assert version(stores) == 1 + migrated
        assert check_store(stores.place()).problems == ()
    finally:
        stores.end()

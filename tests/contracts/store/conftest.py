"""Every test of this folder runs over both stores."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.store.tabled import TabledStore
from material.store_kinds import PostgresStores, SqliteStores, Stores


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    made: Stores
    if request.param == "sqlite":
        made = SqliteStores(tmp_path)
    else:
        name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
        made = PostgresStores(request.getfixturevalue("cluster"), f"t{name}")
    yield made
    made.end()


@pytest.fixture
def store(stores: Stores) -> TabledStore:
    return stores.open()

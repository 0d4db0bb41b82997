"""A probe writes, and leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import SqliteStore


def test_a_probe_writes_its_size_and_leaves_nothing(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s") as store:
        log = tmp_path / "s-wal"
        before = log.stat().st_size
        store.probe(2**19)
        grown = log.stat().st_size
        assert grown - before > 2**18
        tables = "SELECT count(*) FROM sqlite_master WHERE name = 'probe'"
        assert store._connection.execute(tables).fetchone() == (0,)
        for _ in range(5):
            store.probe(2**19)
        assert log.stat().st_size < 2 * grown  # the same room is used again
        assert store.counters() == {}
        assert store.tallies() == []
        assert store._connection.execute("PRAGMA cache_size").fetchone() == (-2_000,)


def test_a_store_without_room_fails_its_probe_and_goes_on_when_there_is(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s") as store:
        used = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {used + 2}")
        store.count({("", "body"): 1})  # a small write fits
        with pytest.raises(StoreError, match="full"):
            store.probe(2**19)
        store._connection.execute("PRAGMA max_page_count = 100000")
        store.probe(2**19)


def test_a_closed_store_fails_its_probe(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s")
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.probe(1)

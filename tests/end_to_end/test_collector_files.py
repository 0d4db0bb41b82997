"""A collector whose files vanish says so: nothing is acknowledged that is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from collector_runner import Running, batch
from test_collector_killed import stored

from deniable.errors import StoreError
from deniable.store import STORE_FILE, SqliteStore


@pytest.mark.parametrize(
    ("suffix", "act"),
    [("", os.unlink), ("-wal", os.unlink), ("", lambda path: os.truncate(path, 0))],
    ids=["removed", "log removed", "emptied"],
)
def test_vanished_files_end_readiness_and_acknowledgements(
    tmp_path: Path, suffix: str, act: Callable[[Path], None]
) -> None:
    with Running(tmp_path) as collector:
        assert collector.post(batch(range(30)))[0] == 200
        assert collector.get("/readyz")[0] == 200
        act(collector.data / f"{STORE_FILE}{suffix}")
        for start in range(30, 120, 30):
            status, answer = collector.post(batch(range(start, start + 30)))
            assert (status, answer["reason"]) == (503, "store")
        deadline = time.monotonic() + 30  # an answer of readiness may be a second old
        while (ready := collector.get("/readyz"))[0] == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (ready[0], ready[1]["reason"]) == (503, "store")
        assert collector.get("/v1/counters")[0] == 503
        assert collector.get("/healthz")[0] == 200


def test_a_store_that_is_put_back_has_all_that_was_acknowledged(tmp_path: Path) -> None:
    with Running(tmp_path) as collector:
        path = collector.data / STORE_FILE
        assert collector.post(batch(range(30)))[0] == 200
        path.rename(tmp_path / "elsewhere")
        assert collector.post(batch(range(30, 60)))[0] == 503
        (tmp_path / "elsewhere").rename(path)
        assert collector.post(batch(range(40, 70)))[0] == 200
    assert set(stored(collector.data)) == {*range(30), *range(40, 70)}


def test_a_removed_store_is_not_begun_anew_at_the_next_start(tmp_path: Path) -> None:
    with Running(tmp_path) as collector:
        assert collector.post(batch(range(30)))[0] == 200
    (collector.data / STORE_FILE).unlink()
    with pytest.raises(StoreError, match="is missing: "):
        SqliteStore(collector.data / STORE_FILE)
    assert not (collector.data / STORE_FILE).exists()

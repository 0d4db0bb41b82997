from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from deniable.collector.upkeep import keep_closing
from deniable.store import SqliteStore
from material.collector import TODAY, report

DAYS = {("colour", 1): 1}


class Watched(SqliteStore):
    """A real store that notes when it is asked to close epochs."""

    def close_epochs(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> int:
        self.asked = [*getattr(self, "asked", []), before_day]
        return super().close_epochs(before_day, epoch_days)


def keep_house(store: SqliteStore, rounds: int) -> None:
    """Run the housekeeping until the store was asked so many times."""

    async def scenario() -> None:
        task = asyncio.create_task(keep_closing(store, DAYS, 30, lambda: TODAY, seconds=0.01))
        while len(getattr(store, "asked", [])) < rounds:
            assert not task.done()
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_old_epochs_are_closed_again_and_again(tmp_path: Path) -> None:
    with Watched(tmp_path / "s") as store:
        store.append([report(1, epoch=TODAY - 32)])
        store.append([report(2, epoch=TODAY - 32), report(3, epoch=TODAY - 31)])
        keep_house(store, rounds=3)
        assert set(store.asked) == {TODAY - 31}  # a day to spare for requests around midnight
        assert sorted(chunk.count for chunk in store.read("colour")) == [1, 2]


def test_a_store_that_fails_is_logged_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Watched(tmp_path / "s")
    store.append([report(1, epoch=TODAY - 40)])
    store.close()
    with caplog.at_level(logging.WARNING, "deniable.collector"):
        keep_house(store, rounds=3)
    assert len(caplog.messages) >= 2
    assert "Epochs were not closed" in caplog.messages[0]
    assert "The store is closed. Open it again." in caplog.messages[0]

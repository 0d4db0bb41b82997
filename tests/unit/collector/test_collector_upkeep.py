from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest

from deniable.collector.retention import KeepCounts, Past, cannot_keep
from deniable.collector.upkeep import Rules, keep_closing
from deniable.protocol.retention import Keeping
from deniable.store import Overdue, SqliteStore
from material.collector import TODAY, report

DAYS = {("colour", 1): 1}


class Watched(SqliteStore):
    """A real store that notes when it is asked to look for epochs, and whose time flies."""

    def __init__(self, path: Path, hours: float = 0.0) -> None:
        self.asked: list[int] = []
        self.hours = hours
        super().__init__(path, monotonic=lambda: 3_600 * self.hours * len(self.asked))

    def find_over(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> Overdue:
        self.asked.append(before_day)
        return super().find_over(before_day, epoch_days)


def keep_house(
    store: Watched, rounds: int, days: Mapping[tuple[str, int], int] = DAYS, today: int = TODAY
) -> None:
    """Run the housekeeping until the store was asked so many times more."""
    wanted = len(store.asked) + rounds

    async def scenario() -> None:
        task = asyncio.create_task(
            keep_closing(store, lambda: Rules(days), 30, lambda: today, 0.01)
        )
        while len(store.asked) < wanted:
            assert not task.done()
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_old_epochs_are_closed_again_and_again(tmp_path: Path) -> None:
    with Watched(tmp_path / "s", hours=13) as store:
        store.append([report(1, epoch=TODAY - 32)])
        store.append([report(2, epoch=TODAY - 32), report(3, epoch=TODAY - 31)])
        keep_house(store, rounds=5)
        assert set(store.asked) == {TODAY - 31}  # a day to spare for requests around midnight
        assert sorted(chunk.count for chunk in store.read("colour")) == [1, 2]


def test_a_clock_far_ahead_for_one_start_forgets_no_ids(tmp_path: Path) -> None:
    group = [report(number, epoch=TODAY) for number in range(500)]
    for number in range(2):
        with Watched(tmp_path / "s", hours=7) as store:
            store.append(group)
            keep_house(store, rounds=3, today=TODAY + 400)  # 14 hours
        with Watched(tmp_path / "s", hours=7) as store:
            keep_house(store, rounds=2)
            again = store.append(group)
            assert (again.accepted, again.duplicates) == (0, 500), number


def test_another_survey_for_one_start_forgets_no_ids_and_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    group = [report(number, epoch=TODAY - 40) for number in range(300)]
    with Watched(tmp_path / "s", hours=13) as store:
        store.append(group)
        with caplog.at_level(logging.WARNING, "deniable.collector"):
            keep_house(store, rounds=6, days={("other", 1): 1})
        (said,) = caplog.messages  # once, not every time
        assert "colour version 1. They stay open." in said
        assert "deniable store close QUESTION" in said
    with Watched(tmp_path / "s", hours=13) as store:
        again = store.append(group)
        assert (again.accepted, again.duplicates) == (0, 300)
        keep_house(store, rounds=5)
        assert [chunk.count for chunk in store.read("colour")] == [300]


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


def retain(
    store: Watched,
    rounds: int,
    days: int | None,
    keep: KeepCounts | None = None,
    today: int = TODAY,
    **others: Keeping,
) -> None:
    """Run the housekeeping with a limit of so many days, and others for other questions."""
    wanted = len(store.asked) + rounds
    keepings = {("colour", 1): Keeping(days, counts=keep is not None)}
    keepings |= {(name, 1): keeping for name, keeping in others.items()}
    lengths = dict.fromkeys(keepings, 1)

    async def scenario() -> None:
        rules = Rules(lengths, keepings=keepings, keep=keep or cannot_keep)
        house = keep_closing(store, lambda: rules, 30, lambda: today, 0.01)
        task = asyncio.create_task(house)
        while len(store.asked) < wanted:
            assert not task.done()
            await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


def test_reports_go_when_their_retention_is_over(tmp_path: Path) -> None:
    with Watched(tmp_path / "s", hours=13) as store:
        store.append([report(1, epoch=TODAY - 40), report(2, epoch=TODAY - 101)])
        retain(store, rounds=8, days=100)
        assert [tally.batch.epoch for tally in store.tallies()] == [TODAY - 40]
        assert store.counters() == {("colour", "accepted"): 1}


def test_a_short_retention_does_not_wait_until_its_epoch_is_closed(tmp_path: Path) -> None:
    with Watched(tmp_path / "s", hours=13) as store:
        old = [report(1, epoch=TODAY - 20), report(2, question="shape", epoch=TODAY - 20)]
        new = [report(3, epoch=TODAY - 7)]
        store.append([*old, *new])
        retain(store, 8, 7, shape=Keeping(None))
        left = sorted((tally.batch.question, tally.batch.epoch) for tally in store.tallies())
        assert left == [("colour", TODAY - 7), ("shape", TODAY - 20)]
        again = store.append([*old, *new])  # a retry that a collector would refuse by now
        assert (again.accepted, again.duplicates) == (0, 3)


def test_a_collector_without_a_retention_puts_back_the_sums_of_one_with_it(tmp_path: Path) -> None:
    with Watched(
        tmp_path / "s", hours=5
    ) as store:  # a busy machine looks twice or more before it stops
        store.append([report(1, epoch=TODAY - 20)])
        for _ in range(6):
            retain(store, rounds=1, days=7)
            keep_house(store, rounds=1)
        assert sum(tally.reports for tally in store.tallies()) == 1


def test_a_clock_far_ahead_for_one_start_deletes_nothing(tmp_path: Path) -> None:
    with Watched(tmp_path / "s", hours=5) as store:
        store.append([report(1, epoch=TODAY - 40)])
        store.close_epochs(TODAY, DAYS, running_seconds=0)
        retain(store, rounds=4, days=100, today=TODAY + 1_000)  # 15 hours
        retain(store, rounds=4, days=100)
        retain(store, rounds=4, days=100, today=TODAY + 1_000)
        assert sum(tally.reports for tally in store.tallies()) == 1


def test_counts_are_kept_before_reports_go_or_reports_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Watched(tmp_path / "s", hours=25) as store:
        store.append([report(1, epoch=TODAY - 140), report(2, epoch=TODAY - 141)])
        with caplog.at_level(logging.WARNING, "deniable.collector"):
            retain(store, rounds=8, days=100, keep=cannot_keep)
        assert "stay: the survey keeps their counts" in caplog.text
        assert sum(tally.reports for tally in store.tallies()) == 2
        kept: list[Past] = []
        retain(store, rounds=8, days=100, keep=kept.append)
        assert kept == [Past("colour", 1, TODAY - 141), Past("colour", 1, TODAY - 140)]
        assert store.tallies() == []


def test_each_question_has_its_own_retention(tmp_path: Path) -> None:
    with Watched(tmp_path / "s", hours=13) as store:
        for number, question in enumerate(("colour", "shape", "taste")):
            old = [
                report(10 * number + i, question=question, epoch=TODAY - 100 - i) for i in range(2)
            ]
            store.append(old)
        retain(store, 8, 101, shape=Keeping(40), taste=Keeping(None))
        left = sorted((tally.batch.question, tally.batch.epoch) for tally in store.tallies())
        assert left == [
            ("colour", TODAY - 101),
            ("colour", TODAY - 100),
            ("taste", TODAY - 101),
            ("taste", TODAY - 100),
        ]
        retain(store, 8, 100, shape=Keeping(40), taste=Keeping(None))
        left = sorted((tally.batch.question, tally.batch.epoch) for tally in store.tallies())
        assert ("colour", TODAY - 101) not in left
        assert len(left) == 3


def test_counts_that_cannot_be_kept_hold_up_no_other_question(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Watched(tmp_path / "s", hours=25) as store:
        store.append([report(1, epoch=TODAY - 140), report(2, question="shape", epoch=TODAY - 140)])
        with caplog.at_level(logging.WARNING, "deniable.collector"):
            retain(store, 8, 100, keep=cannot_keep, shape=Keeping(100))
        assert "Reports to colour are past their retention, and stay" in caplog.text
        assert [tally.batch.question for tally in store.tallies()] == ["colour"]

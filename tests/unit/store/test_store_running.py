"""Epochs close only after collectors have run for a day since they found them over."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from deniable.errors import StoreError
from deniable.store import Overdue, SqliteStore
from deniable.store.base import RUNNING_SECONDS
from material.stores import report, reports

DAY, DAYS = 20_001, {("colour", 1): 1}
HOUR = 3_600


class Clock:
    """A monotonic clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def run_for(store: SqliteStore, clock: Clock, seconds: float, day: int = DAY) -> int:
    """Be a collector for so long, looking every six hours; return how many were closed."""
    closed = 0
    store.find_over(day, DAYS)
    while seconds > 0:
        step = min(6 * HOUR, seconds)
        clock.now += step
        seconds -= step
        store.find_over(day, DAYS)
        closed += store.close_epochs(day, DAYS)
    return closed


def test_an_epoch_closes_after_a_day_of_running(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        assert store.close_epochs(DAY, DAYS) == 0
        assert run_for(store, clock, RUNNING_SECONDS - 1) == 0
        assert store.append(reports(5)).duplicates == 5
        assert run_for(store, clock, 1) == 1
        assert store.append(reports(5)).accepted == 5  # its ids are forgotten now


def test_the_time_before_an_epoch_is_found_over_does_not_count(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, 40 * HOUR, day=DAY - 1) == 0
        clock.now += 40 * HOUR  # no look for long, and then it is over
        assert store.find_over(DAY, DAYS) == Overdue(1)
        assert store.close_epochs(DAY, DAYS) == 0
        assert run_for(store, clock, RUNNING_SECONDS) == 1


def test_restarts_and_several_collectors_add_up(tmp_path: Path) -> None:
    clock = Clock()
    for _ in range(11):
        with SqliteStore(tmp_path / "s", monotonic=clock) as store:
            store.append(reports(5))
            assert run_for(store, clock, HOUR) == 0
        clock.now += 1_000 * HOUR  # while nobody runs, nothing is added
    with (
        SqliteStore(tmp_path / "s", monotonic=clock) as one,
        SqliteStore(tmp_path / "s", monotonic=clock) as two,
    ):
        for store in (one, two):
            store.find_over(DAY, DAYS)
        for _ in range(6):
            clock.now += HOUR
            one.find_over(DAY, DAYS)
            two.find_over(DAY, DAYS)
            assert one.close_epochs(DAY, DAYS) == 0
        assert run_for(one, clock, HOUR) == 1


def test_a_look_with_the_right_clock_puts_the_sum_back(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, 23 * HOUR, day=DAY + 400) == 0  # a clock far ahead
        assert store.find_over(DAY - 1, DAYS) == Overdue(0)
        assert run_for(store, clock, 23 * HOUR, day=DAY + 400) == 0
        assert store.append(reports(5)).duplicates == 5


def test_an_epoch_that_late_reports_opened_waits_a_day_again(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, RUNNING_SECONDS) == 1
        assert store.append(reports(1, 5)).accepted == 1
        assert run_for(store, clock, RUNNING_SECONDS - 1) == 0
        assert store.append(reports(1, 5)).duplicates == 1
        assert run_for(store, clock, 1) == 1


def test_what_a_survey_does_not_name_keeps_its_sum_and_stays_open(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append([report(1), report(2, question="shape")])
        run_for(store, clock, 12 * HOUR)
        for _ in range(40):  # another survey for a while
            clock.now += HOUR
            assert store.find_over(DAY, {}).unknown == (("colour", 1), ("shape", 1))
            assert store.close_epochs(DAY, {}, running_seconds=0) == 0
        assert store.append([report(1), report(2, question="shape")]).duplicates == 2
        assert run_for(store, clock, 12 * HOUR) == 1


def test_a_look_that_could_not_be_written_is_made_up_for(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        store.find_over(DAY, DAYS)
        clock.now += RUNNING_SECONDS
        store._connection.execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError):
            store.find_over(DAY, DAYS)
        store._connection.execute("PRAGMA query_only = OFF")
        store.find_over(DAY, DAYS)
        assert store.close_epochs(DAY, DAYS) == 1


def test_fractions_of_seconds_are_not_lost(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append(reports(5))
        for _ in range(9):
            store.find_over(DAY, DAYS)
            clock.now += 0.75
        store.find_over(DAY, DAYS)
        with closing(sqlite3.connect(store.path)) as connection:
            assert connection.execute("SELECT ran FROM batches").fetchall() == [(6,)]


def test_an_epoch_that_is_not_over_has_no_sum(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s", monotonic=clock) as store:
        store.append([report(1, 20_000), report(2, 20_001)])
        run_for(store, clock, HOUR)
        with closing(sqlite3.connect(store.path)) as connection:
            found = connection.execute("SELECT epoch, ran FROM batches").fetchall()
    assert sorted(found) == [(20_000, HOUR), (20_001, None)]

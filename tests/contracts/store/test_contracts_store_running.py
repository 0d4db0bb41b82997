"""Epochs close only after collectors have run for a day since they found them over."""

from __future__ import annotations

from deniable.store import Overdue
from deniable.store.base import RUNNING_SECONDS
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import report, reports

DAY, DAYS = 20_001, {("colour", 1): 1}
HOUR = 3_600


class Clock:
    """A monotonic clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def run_for(store: TabledStore, clock: Clock, seconds: float, day: int = DAY) -> int:
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


def test_an_epoch_closes_after_a_day_of_running(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append(reports(5))
        assert store.close_epochs(DAY, DAYS) == 0
        assert run_for(store, clock, RUNNING_SECONDS - 1) == 0
        assert store.append(reports(5)).duplicates == 5
        assert run_for(store, clock, 1) == 1
        assert store.append(reports(5)).accepted == 5  # its ids are forgotten now


def test_the_time_before_an_epoch_is_found_over_does_not_count(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, 40 * HOUR, day=DAY - 1) == 0
        clock.now += 40 * HOUR  # no look for long, and then it is over
        assert store.find_over(DAY, DAYS) == Overdue(1)
        assert store.close_epochs(DAY, DAYS) == 0
        assert run_for(store, clock, RUNNING_SECONDS) == 1


def test_restarts_and_several_collectors_add_up(stores: Stores) -> None:
    clock = Clock()
    for _ in range(11):
        with stores.open("s", monotonic=clock) as store:
            store.append(reports(5))
            assert run_for(store, clock, HOUR) == 0
        clock.now += 1_000 * HOUR  # while nobody runs, nothing is added
    with (
        stores.open("s", monotonic=clock) as one,
        stores.open("s", monotonic=clock) as two,
    ):
        for store in (one, two):
            store.find_over(DAY, DAYS)
        for _ in range(6):
            clock.now += HOUR
            one.find_over(DAY, DAYS)
            two.find_over(DAY, DAYS)
            assert one.close_epochs(DAY, DAYS) == 0
        assert run_for(one, clock, HOUR) == 1


def test_a_look_with_the_right_clock_puts_the_sum_back(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, 23 * HOUR, day=DAY + 400) == 0  # a clock far ahead
        assert store.find_over(DAY - 1, DAYS) == Overdue(0)
        assert run_for(store, clock, 23 * HOUR, day=DAY + 400) == 0
        assert store.append(reports(5)).duplicates == 5


def test_an_epoch_that_late_reports_opened_waits_a_day_again(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append(reports(5))
        assert run_for(store, clock, RUNNING_SECONDS) == 1
        assert store.append(reports(1, 5)).accepted == 1
        assert run_for(store, clock, RUNNING_SECONDS - 1) == 0
        assert store.append(reports(1, 5)).duplicates == 1
        assert run_for(store, clock, 1) == 1


def test_what_a_survey_does_not_name_keeps_its_sum_and_stays_open(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append([report(1), report(2, question="shape")])
        run_for(store, clock, 12 * HOUR)
        for _ in range(40):  # another survey for a while
            clock.now += HOUR
            assert store.find_over(DAY, {}).unknown == (("colour", 1), ("shape", 1))
            assert store.close_epochs(DAY, {}, running_seconds=0) == 0
        assert store.append([report(1), report(2, question="shape")]).duplicates == 2
        assert run_for(store, clock, 12 * HOUR) == 1


def test_fractions_of_seconds_are_not_lost(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append(reports(5))
        for _ in range(9):
            store.find_over(DAY, DAYS)
            clock.now += 0.75
        store.find_over(DAY, DAYS)
        assert stores.query("SELECT ran FROM batches") == [(6,)]


def test_an_epoch_that_is_not_over_has_no_sum(stores: Stores) -> None:
    clock = Clock()
    with stores.open("s", monotonic=clock) as store:
        store.append([report(1, 20_000), report(2, 20_001)])
        run_for(store, clock, HOUR)
    found = stores.query("SELECT epoch, ran FROM batches")
    assert sorted(found) == [(20_000, HOUR), (20_001, None)]

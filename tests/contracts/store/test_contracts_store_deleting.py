"""What is deleted is gone from reports, tallies and counters, and stays gone when it is retried."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from deniable.store import Batch, Scope
from deniable.store.check import check_store
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import DIGEST, multiset, report, reports

DAYS = {("colour", 1): 1, ("colour", 2): 1, ("shape", 1): 1}
DAY = 86_400


@pytest.fixture
def filled(store: TabledStore) -> TabledStore:
    """Three closed epochs and an open one; a second version, and another question."""
    for epoch in (10, 11, 12):
        store.append(reports(5, 10 * epoch, epoch=epoch))
    store.append([report(500, 11, version=2), report(600, 11, "shape")])
    store.close_epochs(13, DAYS, running_seconds=0)
    store.append([*reports(5, 200, epoch=20), report(601, 20, "shape")])
    return store


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Scope("colour"), 0),
        (Scope("colour", 2), 20),
        (Scope("colour", 1, 11, 12), 11),
        (Scope("colour", last_epoch=11), 10),
        (Scope(first_epoch=12), 11),
        (Scope("nobody"), 21),
        (Scope(simulated=True), 21),
    ],
)
def test_what_is_chosen_goes_and_the_rest_stays(
    filled: TabledStore, stores: Stores, selection: Scope, left: int
) -> None:
    tallies = filled.tallies()
    going = sum(tally.reports for tally in tallies if selection.holds(tally.batch))
    assert filled.delete(selection) == going
    assert filled.tallies() == [t for t in tallies if not selection.holds(t.batch)]
    assert sum(multiset(filled).values()) == left
    assert filled.counters().get(("colour", "accepted"), 0) == left
    found = check_store(stores.place())
    assert (found.problems, found.leftovers) == ((), 0)
    assert filled.delete(selection) == 0


def test_several_scopes_go_at_once(filled: TabledStore) -> None:
    assert filled.delete() == 0
    assert filled.delete(Scope("colour", 2), Scope("shape", last_epoch=11), Scope("nobody")) == 2
    assert sum(tally.reports for tally in filled.tallies()) == 21


def test_a_deleted_report_of_an_open_epoch_does_not_come_back(
    filled: TabledStore, stores: Stores
) -> None:
    filled.delete(Scope("colour", first_epoch=20))
    again = filled.append(reports(6, 200, epoch=20))
    assert again.new == (False,) * 5 + (True,)
    assert filled.close_epochs(21, DAYS, running_seconds=0) == 2
    assert sorted(n for n in multiset(filled) if n >= 200) == [205, 500]
    assert check_store(stores.place()).problems == ()


def test_an_open_epoch_of_which_all_was_deleted_closes_into_nothing(
    store: TabledStore, stores: Stores
) -> None:
    texts = [f'{{"platform":"{name}"}}' for name in ("linux", "mac")]
    store.append([replace(r, segments=texts[r.record[0] % 2]) for r in reports(8)])
    assert store.delete(Scope("colour")) == 8
    assert store.close_epochs(20_001, DAYS, running_seconds=0) >= 1
    assert store.tallies() == []
    assert stores.query("SELECT count(*) FROM batches") == [(0,)]
    assert stores.ids() == set()
    assert check_store(stores.place()).leftovers == 0


def test_simulated_reports_go_with_their_seeds(filled: TabledStore) -> None:
    batch = Batch("colour", 1, DIGEST, 10, simulated=True)
    for _ in range(2):
        filled.begin_simulation(batch, 7, 3, among_real=True)
        filled.append_records(batch, bytes(12), 4)
        assert filled.delete(Scope(simulated=True)) == 3
    assert ("colour", "simulated") not in filled.counters()
    assert sum(multiset(filled).values()) == 21


class Clock:
    """A monotonic clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def _before(day: int) -> dict[tuple[str, int], int]:
    return dict.fromkeys(DAYS, day)


def test_epochs_expire_after_a_day_of_running(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    store.append([report(1, 10), report(2, 12), report(3, 10, "gone")])
    store.close_epochs(13, {**DAYS, ("gone", 1): 1}, running_seconds=0)
    store.append([report(4, 9)])  # open
    assert store.expire(_before(11), DAYS) == []
    clock.now += DAY - 1
    assert store.expire(_before(11), DAYS) == []
    clock.now += 1
    due = [Batch("colour", 1, DIGEST, 9), Batch("colour", 1, DIGEST, 10)]
    assert store.expire(_before(11), DAYS) == due
    # A clock that was ahead is right again: nothing is due any more.
    assert store.expire(_before(9), DAYS) == []
    assert store.expire(_before(11), DAYS) == []
    assert multiset(store) == Counter([1, 2, 4])


def test_the_sum_of_retention_is_not_taken_for_that_of_closing(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    store.append(reports(3, epoch=10))
    store.close_epochs(11, DAYS, running_seconds=0)
    store.expire(_before(11), DAYS)
    clock.now += 2 * DAY
    assert store.expire(_before(11), DAYS)
    store.append(reports(1, 3, epoch=10))  # late: the epoch is open again, and must wait its day
    store.find_over(11, DAYS)
    assert store.close_epochs(11, DAYS) == 0
    assert store.append(reports(1, 3, epoch=10)).duplicates == 1


def test_an_open_epoch_of_one_question_expires_and_its_ids_stay(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    platforms = [f'{{"platform":"{name}"}}' for name in ("linux", "mac")]
    short = [replace(report(n, 20), segments=platforms[n % 2]) for n in range(10)]
    others = [report(100, 20, "shape"), report(101, 20, version=2)]
    store.append([*short, *others])
    days = {("colour", 1): 21}  # the others stay, under the same number of an epoch
    store.expire(days, DAYS)
    clock.now += DAY
    due = store.expire(days, DAYS)
    assert [(batch.question, batch.version) for batch in due] == [("colour", 1)] * 2
    assert store.delete(Scope("colour", 1, 20, 20)) == 10
    assert store.expire(days, DAYS) == []
    assert store.append([*short, *others]).new == (False,) * 12  # neither new nor resurrected
    assert multiset(store) == Counter([101])
    assert store.counters()["colour", "accepted"] == 1
    # Closing waits for its own day, and drops the ids then.
    assert store.close_epochs(21, DAYS) == 0
    assert stores.ids() == {20}
    assert store.close_epochs(21, DAYS, running_seconds=0) >= 2
    assert stores.ids() == set()
    found = check_store(stores.place())
    assert (found.problems, found.leftovers) == ((), 0)
    assert stores.query("SELECT count(*) FROM batches") == [(2,)]


def test_retention_and_closing_run_beside_each_other(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    store.append([report(1, 10), report(2, 10, "shape")])
    for _ in range(4):  # past its retention, but not over: late reports to others are taken
        assert store.find_over(10, DAYS).batches == 0
        due = store.expire({("colour", 1): 11}, DAYS)
        clock.now += DAY / 2
    assert due == [Batch("colour", 1, DIGEST, 10)]
    assert store.close_epochs(11, DAYS) == 0  # nothing has run since it was over
    store.find_over(11, DAYS)
    clock.now += DAY
    store.find_over(11, DAYS)
    assert store.expire({("colour", 1): 11}, DAYS) == due
    assert store.close_epochs(11, DAYS) == 2


def test_a_collector_that_still_takes_reports_puts_the_sum_back(stores: Stores) -> None:
    """By a clock that is right, or by a survey without the retention."""
    clock = Clock()
    first, second = stores.open(monotonic=clock), stores.open(monotonic=clock)
    first.append([report(1, 10), report(2, 10, "shape")])
    for other in ({("colour", 1): 10}, {}):
        for _ in range(20):
            clock.now += DAY / 2
            assert first.expire({("colour", 1): 11}, DAYS) == []
            assert second.expire(other, DAYS) == []
    for _ in range(3):  # a survey that does not know the question takes none, and says nothing
        clock.now += DAY / 2
        due = first.expire({("colour", 1): 11}, DAYS)
        assert second.expire({}, {("elsewhere", 1): 1}) == []
    assert due == [Batch("colour", 1, DIGEST, 10)]
    # Both of them run: their seconds add up, as those of closing do.
    second.expire({("colour", 1): 10}, DAYS)
    for store in (first, second, first, second):
        assert store.expire({("colour", 1): 11}, DAYS) == []
        clock.now += DAY / 6
    assert first.expire({("colour", 1): 11}, DAYS) == due


def test_the_sum_goes_with_the_reports(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    store.append([report(1, 10), report(2, 10, "shape")])
    store.expire(_before(11), DAYS)
    clock.now += DAY
    assert len(store.expire(_before(11), DAYS)) == 2
    store.delete(Scope("colour"))
    store.expire(_before(11), DAYS)
    assert stores.query("SELECT question, version, epoch FROM expiring") == [("shape", 1, 10)]
    store.append([report(3, 10)])  # by a collector whose clock is wrong: it waits a day again
    assert [batch.question for batch in store.expire(_before(11), DAYS)] == ["shape"]


def test_collectors_that_look_at_the_same_time_do_not_fail(stores: Stores) -> None:
    """The table of the sums is made by whoever comes first."""
    stores.open().append([report(n, 10 + n) for n in range(8)])
    several = [stores.open() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            done = [pool.submit(each.expire, _before(30), DAYS) for each in several]
            assert [each.result() for each in done] == [[]] * 4
    assert stores.query("SELECT count(*) FROM expiring") == [(8,)]


def test_each_question_and_version_expires_by_its_own_day(stores: Stores) -> None:
    clock = Clock()
    store = stores.open(monotonic=clock)
    store.append([report(1, 10), report(2, 10, version=2), report(3, 10, "shape")])
    store.close_epochs(11, DAYS, running_seconds=0)
    days = {("colour", 1): 11, ("colour", 2): 10}  # shape has none: it stays
    store.expire(days, DAYS)
    clock.now += DAY
    assert store.expire(days, DAYS) == [Batch("colour", 1, DIGEST, 10)]
    # The second version becomes due later, and waits a day of its own.
    days["colour", 2] = 11
    assert store.expire(days, DAYS) == [Batch("colour", 1, DIGEST, 10)]
    clock.now += DAY
    assert [batch.version for batch in store.expire(days, DAYS)] == [1, 2]
    # A question whose retention was taken back begins anew when it has one again.
    assert store.expire({("colour", 2): 11}, DAYS) == [Batch("colour", 2, DIGEST, 10)]
    assert store.expire(days, DAYS) == [Batch("colour", 2, DIGEST, 10)]


def test_what_was_remembered_of_a_question_goes_with_its_reports_alone(
    filled: TabledStore,
) -> None:
    stamps = {tally.batch.question: tally.stamp for tally in filled.tallies() if not tally.open}
    kept = {name.encode().ljust(16): (stamp, b"counts") for name, stamp in stamps.items()}
    filled.remember(kept)
    assert filled.remembered(list(kept)).keys() == kept.keys()
    filled.delete(Scope("shape"))
    assert list(filled.remembered(list(kept))) == [b"colour".ljust(16)]

"""Closing an epoch, and the reader who looks for the order of arrival afterwards.

Randomness is seeded. Three statistics look for the order, each at alpha = 1e-9 under a fresh seed,
and each has a control in which the order is really there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise

import numpy as np
import pytest
from scipy import stats

from deniable.store import Overdue
from deniable.store.closing import Closing
from deniable.store.shuffle import RandomBytes
from deniable.store.tabled import TabledStore
from deniable.store.tables import Transaction
from deniable.testing.statistics import Check, accept, mean, reject
from material.store_kinds import Stores
from material.stores import multiset, numbers, report, reports, seeded

GROUPS, GROUP = 40, 50
PEOPLE = GROUPS * GROUP
OVER, DAYS = 20_001, {("colour", 1): 1}


def rising() -> RandomBytes:
    """A broken source whose 64-bit numbers only rise: sorting by them changes nothing."""
    numbers = count()
    return lambda size: b"".join(next(numbers).to_bytes(8, "little") for _ in range(-(-size // 8)))[
        :size
    ]


def fill(
    stores: Stores, name: str, random_bytes: RandomBytes, merge_bytes: int = 2**24
) -> TabledStore:
    store = stores.open(name, random_bytes=random_bytes, merge_bytes=merge_bytes)
    for start in range(0, PEOPLE, GROUP):
        store.append(reports(GROUP, start))
    return store


def trend(order: list[int]) -> Check:
    """Spearman's correlation of place and arrival, whose z is normal."""
    rho = float(np.corrcoef(np.arange(len(order)), order)[0, 1])
    return mean(rho * math.sqrt(len(order) - 1), 0, 1)


def neighbours(order: list[int]) -> Check:
    """The number of reports that followed each other on arrival and still do: Poisson(1)."""
    found = sum(after == before + 1 for before, after in pairwise(order))
    return Check("neighbours are not kept together", found, float(stats.poisson.sf(found - 1, 1)))


def groups_apart(order: list[int]) -> Check:
    """Kruskal and Wallis: do the places of the groups differ?"""
    places = np.empty(len(order))
    places[order] = np.arange(len(order))
    found = stats.kruskal(*places.reshape(GROUPS, GROUP))
    return Check("groups are not kept together", float(found.statistic), float(found.pvalue))


LOOKS = (trend, neighbours, groups_apart)


@pytest.mark.parametrize("merge_bytes", [2**24, 1_024], ids=["in memory", "outside memory"])
def test_a_closed_epoch_does_not_show_the_order_of_arrival(
    stores: Stores, merge_bytes: int
) -> None:
    with fill(stores, "s", seeded(1), merge_bytes) as store:
        # Control: before, groups stand together whatever the seed, so it cannot miss.
        reject(groups_apart(numbers(store)), miss=0)
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
        order = numbers(store)
    assert sorted(order) == list(range(PEOPLE))
    for look in LOOKS:
        accept(look(order))


def test_control_a_store_that_does_not_shuffle_is_found_out(stores: Stores) -> None:
    with stores.open("s", random_bytes=rising()) as store:
        store.append(reports(PEOPLE))
        store.close_epochs(OVER, DAYS, running_seconds=0)
        order = numbers(store)
    assert order == list(range(PEOPLE))
    for look in LOOKS:
        reject(look(order), miss=0)  # the same order every time


def test_one_chunk_remains_or_a_few_when_it_is_large(stores: Stores) -> None:
    with fill(stores, "small", seeded(2)) as store:
        store.close_epochs(OVER, DAYS, running_seconds=0)
        assert [chunk.count for chunk in store.read("colour")] == [PEOPLE]
    with fill(stores, "large", seeded(3), merge_bytes=1_024) as store:
        store.close_epochs(OVER, DAYS, running_seconds=0)
        chunks = list(store.read("colour"))
        assert len(chunks) == 8  # 8,000 bytes at most 1,024 each, rounded up to a power of two
        assert sum(chunk.count for chunk in chunks) == PEOPLE


def test_only_what_is_over_is_closed(stores: Stores) -> None:
    with stores.open("s") as store:
        store.append([report(1, 100), report(2, 101), report(3, 102)])
        store.append([report(4, 14), report(5, 15)])  # as weeks: days 98 to 104, 105 to 111
        assert (
            store.close_epochs(101, {("colour", 1): 1}, running_seconds=0) == 3
        )  # 14, 15, 100 as days
        assert stores.ids() >= {101, 102}
        assert not stores.ids() & {14, 15, 100}
        assert store.close_epochs(101, {("colour", 1): 1}, running_seconds=0) == 0
    with stores.open("weeks") as store:
        store.append([report(4, 14), report(5, 15)])
        assert store.close_epochs(104, {("colour", 1): 7}, running_seconds=0) == 0
        assert store.close_epochs(105, {("colour", 1): 7}, running_seconds=0) == 1
        assert stores.ids("weeks") == {15}


def test_each_version_has_its_own_epoch_length(stores: Stores) -> None:
    with stores.open("s") as store:
        store.append([report(1, 100, version=1), report(2, 14, version=2)])
        days = {("colour", 1): 1, ("colour", 2): 7}
        assert store.close_epochs(100, days, running_seconds=0) == 0
        assert store.close_epochs(104, days, running_seconds=0) == 1
        assert store.close_epochs(105, days, running_seconds=0) == 1


def test_questions_that_left_the_survey_stay_open_until_the_operator_says_so(
    stores: Stores,
) -> None:
    with stores.open("s") as store:
        gone = [report(1, 19_000, "gone"), report(2, 20_000, "gone"), report(3, 20_000)]
        store.append([*gone, report(4, 20_000, "gone", version=2)])
        assert store.find_over(OVER, DAYS) == Overdue(1, (("gone", 1), ("gone", 2)))
        assert store.close_epochs(OVER + 10**6, {}, running_seconds=0) == 0
        assert store.append(gone).duplicates == 3
        assert store.close_question("nobody") == 0
        assert store.close_question("gone", last_epoch=19_999) == 1
        assert stores.ids() == {20_000}
        assert store.close_question("gone", version=2) == 1
        assert store.close_question("gone") == 1
        assert stores.ids() >= {20000}  # the other question still needs it
        assert store.close_question("colour") == 1
        assert not stores.ids() & {20000}


def test_late_reports_of_a_closed_epoch_are_kept_and_closed_again(stores: Stores) -> None:
    with fill(stores, "s", seeded(5)) as store:
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
        assert store.append(reports(1, PEOPLE)).accepted == 1
        assert len(list(store.read("colour"))) == 2
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
        assert [chunk.count for chunk in store.read("colour")] == [PEOPLE + 1]
        assert store.tallies()[0].reports == PEOPLE + 1


def test_a_report_that_arrives_while_its_epoch_is_closed_is_not_lost(stores: Stores) -> None:
    for moment in range(0, 20, 2):
        with fill(stores, f"{moment}", seeded(6), merge_bytes=2_048) as store:
            late = Disturbed(stores, moment, lambda store=store: store.append(reports(1, PEOPLE)))
            late.close_epochs(store)
            if not late.happened:
                break
            assert multiset(store) == Counter(range(PEOPLE + 1))
            assert (
                store.close_epochs(OVER, DAYS, running_seconds=0) == 1
            )  # it stayed open, or was opened again
            assert multiset(store) == Counter(range(PEOPLE + 1))
    assert moment >= 8


def test_closing_may_be_interrupted_at_any_moment(stores: Stores) -> None:
    moments = 0
    fill(stores, "s", seeded(7)).close()
    for moment in count():
        with stores.open(random_bytes=fails_at(moment), merge_bytes=2_048) as store:
            try:
                store.close_epochs(OVER, DAYS, running_seconds=0)
            except OSError:
                moments += 1
                assert multiset(store) == Counter(range(PEOPLE))
                assert store.counters() == {("colour", "accepted"): PEOPLE}
                continue
        break
    assert moments > 20
    with stores.open() as store:
        assert multiset(store) == Counter(range(PEOPLE))
        assert len(stores.numbers_of_chunks()) == 1  # nothing is left of the interrupted ones
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 0


def test_two_processes_may_close_at_once(stores: Stores) -> None:
    for moment in range(0, 20, 2):
        with fill(stores, f"{moment}", seeded(8), merge_bytes=2_048) as store:
            again = Disturbed(
                stores,
                moment,
                lambda store=store: store.close_epochs(OVER, DAYS, running_seconds=0),
            )
            again.close_epochs(store)
            if not again.happened:
                break
            store.close_epochs(OVER, DAYS, running_seconds=0)
            assert multiset(store) == Counter(range(PEOPLE))
            assert len(stores.numbers_of_chunks(f"{moment}")) == 1
    assert moment >= 8


def test_a_slow_reader_keeps_its_moment(stores: Stores) -> None:
    with fill(stores, "s", seeded(9)) as store:
        chunks: Iterator[object] = store.read("colour")
        next(chunks)
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 1
        assert sum(1 for _ in chunks) == GROUPS - 1  # it still sees its own moment
        assert store.close_epochs(OVER, DAYS, running_seconds=0) == 0
        assert not stores.ids()


class Disturbed:
    """Closes epochs of a store; before the given transaction, something happens."""

    def __init__(self, stores: Stores, moment: int, disturb: Callable[[], object]) -> None:
        self._stores, self._left, self._disturb = stores, moment, disturb
        self.happened = False

    def close_epochs(self, store: TabledStore) -> None:
        with self._stores.closer_without_lease(store) as (tables, transaction):
            work = Closing(tables, lambda: self._transaction(transaction), 2_048)
            work.run(lambda row: row.batch.epoch < OVER)

    @contextmanager
    def _transaction(self, transaction: Transaction) -> Iterator[None]:
        if self._left == 0:
            self.happened = True
            self._disturb()
        self._left -= 1
        with transaction():
            yield


def fails_at(moment: int) -> RandomBytes:
    """Return a source that fails for ever after so many draws."""
    source, left = seeded(moment), iter(range(moment))

    def draw(size: int) -> bytes:
        if next(left, None) is None:
            raise OSError("no randomness today")
        return source(size)

    return draw

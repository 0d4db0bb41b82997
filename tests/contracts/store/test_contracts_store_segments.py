"""Segments in the store: a batch for each combination, until an epoch closes on a small one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store import Store
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import multiset, reports

DAYS = {("colour", 1): 1}
LINUX, MAC, BEOS = (f'{{"platform":"{name}"}}' for name in ("linux", "mac", "beos"))
SMALL = '{"platform":"(small)"}'


def _in(segments: str, count: int, start: int) -> list[Report]:
    return [replace(each, segments=segments) for each in reports(count, start)]


def _sizes(store: Store) -> dict[str, int]:
    return {tally.batch.segments: tally.reports for tally in store.tallies()}


@pytest.fixture
def filled(stores: Stores) -> TabledStore:
    store = stores.open("s")
    store.append(_in(LINUX, 10, 0) + _in(MAC, 3, 100) + _in(BEOS, 2, 200))
    store.append(_in(MAC, 1, 300))
    return store


def test_reports_lie_in_a_batch_for_each_combination(filled: TabledStore) -> None:
    assert _sizes(filled) == {LINUX: 10, MAC: 4, BEOS: 2}
    assert sum(multiset(filled).values()) == 16


def test_closing_overwrites_the_segments_of_small_combinations(
    filled: TabledStore, stores: Stores
) -> None:
    before = multiset(filled)
    assert filled.close_epochs(20_010, DAYS, running_seconds=0, floor=5) == 2
    assert _sizes(filled) == {LINUX: 10, SMALL: 6}
    assert multiset(filled) == before
    kept = {text for (text,) in stores.query("SELECT segments FROM batches")}
    assert kept == {LINUX, SMALL}


def test_a_combination_at_the_floor_keeps_its_segments(filled: TabledStore) -> None:
    filled.append(_in(BEOS, 2, 350))
    filled.close_epochs(20_010, DAYS, running_seconds=0, floor=4)
    assert _sizes(filled) == {LINUX: 10, MAC: 4, BEOS: 4}
    filled.close_epochs(20_010, DAYS, running_seconds=0)
    assert _sizes(filled) == {LINUX: 10, MAC: 4, BEOS: 4}  # closed once, it stays as it is


def test_the_next_smallest_joins_where_the_small_ones_are_too_few(filled: TabledStore) -> None:
    """Else "(small)" would be one combination, whose name follows by elimination."""
    before = multiset(filled)
    assert filled.close_epochs(20_010, DAYS, running_seconds=0, floor=4) == 2
    assert _sizes(filled) == {LINUX: 10, SMALL: 6}
    assert multiset(filled) == before


def test_a_late_small_combination_takes_a_closed_one_with_it(filled: TabledStore) -> None:
    filled.append(_in(BEOS, 2, 350))
    filled.close_epochs(20_010, DAYS, running_seconds=0, floor=4)
    filled.append(_in('{"platform":"(other)"}', 1, 400))
    assert filled.close_epochs(20_010, DAYS, running_seconds=0, floor=4) == 1
    assert _sizes(filled) == {LINUX: 10, MAC: 4, SMALL: 5}
    assert sum(multiset(filled).values()) == 19


def test_a_group_waits_for_its_latest_batch(stores: Stores) -> None:
    """What is small is decided for all combinations at once."""
    seconds = [0.0]
    with stores.open("s", monotonic=lambda: seconds[0]) as store:
        store.append(_in(LINUX, 10, 0))
        store.find_over(20_010, DAYS)
        seconds[0] = 90_000.0
        store.find_over(20_010, DAYS)
        store.append(_in(MAC, 1, 100))
        store.find_over(20_010, DAYS)
        assert store.close_epochs(20_010, DAYS, floor=5) == 0
        assert _sizes(store) == {LINUX: 10, MAC: 1}
        seconds[0] = 180_000.0
        store.find_over(20_010, DAYS)
        assert store.close_epochs(20_010, DAYS, floor=5) == 1
        assert _sizes(store) == {SMALL: 11}


def test_a_damaged_combination_keeps_its_group_open_and_is_named(
    filled: TabledStore, stores: Stores
) -> None:
    assert stores.damage("segments = '" + BEOS + "'") == 1
    with pytest.raises(StoreError, match="damaged"):
        filled.close_epochs(20_010, DAYS, running_seconds=0, floor=5)
    assert _sizes(filled) == {LINUX: 10, MAC: 4, BEOS: 2}


def test_late_reports_join_the_small_ones_when_the_epoch_closes_again(filled: TabledStore) -> None:
    filled.close_epochs(20_010, DAYS, running_seconds=0, floor=5)
    filled.append(_in(BEOS, 3, 400))
    assert _sizes(filled) == {LINUX: 10, SMALL: 6, BEOS: 3}
    filled.close_question("colour", floor=5)
    assert _sizes(filled) == {LINUX: 10, SMALL: 9}
    assert multiset(filled) == Counter([*range(10), 100, 101, 102, 200, 201, 300, 400, 401, 402])


def test_an_open_epoch_shows_segments_and_a_floor_leaves_other_batches_alone(
    stores: Stores,
) -> None:
    with stores.open() as store:
        store.append(reports(2) + _in(MAC, 1, 50))
        store.close_epochs(19_000, DAYS, running_seconds=0, floor=5)
        assert _sizes(store) == {"": 2, MAC: 1}
        store.close_epochs(20_010, DAYS, running_seconds=0, floor=5)
        assert _sizes(store) == {"": 2, SMALL: 1}


def test_small_combinations_of_two_digests_stay_apart(stores: Stores) -> None:
    """A level's records mean something of their own."""
    with stores.open() as store:
        other = [replace(each, digest=b"\x22" * 32) for each in _in(MAC, 2, 10)]
        store.append(_in(MAC, 1, 0) + other)
        store.close_epochs(20_010, DAYS, running_seconds=0, floor=5)
        assert [(t.batch.digest[0], t.reports) for t in store.tallies()] == [(0x11, 1), (0x22, 2)]

"""Damage is named, never counted, and never closed over; the check of a store finds it."""

from __future__ import annotations

from collections import Counter

import pytest

from deniable.errors import StoreError
from deniable.store import open_store
from deniable.store.check import Checked, check_store
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import multiset, report, reports

DAYS = {("colour", 1): 1, ("shape", 1): 1}


@pytest.fixture
def filled(store: TabledStore) -> TabledStore:
    """Epoch 10 is closed, epoch 20 open; `shape` is beside it."""
    store.append(reports(500, epoch=10))
    store.append([report(n, 10, "shape", size=9) for n in range(1_000, 1_050)])
    store.close_epochs(11, DAYS, running_seconds=0)
    store.append(reports(500, 500, epoch=20))
    return store


def test_a_sound_store_has_no_problems(filled: TabledStore, stores: Stores) -> None:
    assert check_store(stores.place()) == Checked(3, 3, 1_050, 4_450, 0, ())


@pytest.mark.parametrize("epoch", [10, 20])
def test_a_damaged_chunk_is_named_and_the_rest_can_be_read(
    filled: TabledStore, stores: Stores, epoch: int
) -> None:
    assert stores.damage(f"question = 'colour' AND epoch = {epoch}") == 1
    words = rf"damaged in question 'colour', version 1, epoch {epoch}: .* deniable store check"
    with open_store(stores.place(), create=False) as store:
        with pytest.raises(StoreError, match=words):
            list(store.read("colour"))
        other = 30 - epoch
        assert sum(c.count for c in store.read("colour", None, other, other)) == 500
        assert store.append([report(9_999, epoch=20)]).accepted == 1
        assert sum(chunk.count for chunk in store.read("shape")) == 50
    found = check_store(stores.place())
    assert [(p.kind, p.question, p.version, p.epoch) for p in found.problems] == [
        ("chunk", "colour", 1, epoch),
        ("bytes", "colour", 1, epoch),
    ]


def test_a_damaged_batch_is_not_closed_and_keeps_its_ids(
    filled: TabledStore, stores: Stores
) -> None:
    filled.append([report(99, 20, "shape", size=9)])
    stores.damage("question = 'colour' AND epoch = 20")
    for merge_bytes in (2**24, 1_024):
        filled._merge_bytes = merge_bytes
        with pytest.raises(StoreError, match=r"'colour', version 1, epoch 20: .*Closed beside it"):
            filled.close_epochs(10**6, DAYS, running_seconds=0)
    assert [chunk.count for chunk in filled.read("shape", first_epoch=20)] == [1]
    assert filled.append(reports(500, 500, epoch=20)).duplicates == 500


def test_lost_chunks_are_noticed_by_reader_closer_and_check(
    filled: TabledStore, stores: Stores
) -> None:
    for table in stores.chunk_tables():
        stores.query(
            f"DELETE FROM {table} WHERE batch IN (SELECT batch FROM batches WHERE epoch = 20)"  # noqa: S608
        )
    for work in (
        lambda: list(filled.read("colour")),
        lambda: filled.close_epochs(10**6, DAYS, running_seconds=0),
    ):
        with pytest.raises(StoreError, match=r"hold 0 bytes, its 500 reports need 2,000"):
            work()
    (problem,) = check_store(stores.place()).problems
    assert (problem.kind, problem.epoch) == ("bytes", 20)


@pytest.mark.parametrize(
    "change",
    [
        "reports = reports - 1",
        "epoch = 21",
        "question = 'colouR'",
        "ran = 100000",
        "open = NOT open",
    ],
)
def test_a_damaged_row_of_batches_stops_everything_that_would_count_it(
    filled: TabledStore, stores: Stores, change: str
) -> None:
    stores.query(f"UPDATE batches SET {change} WHERE epoch = 20")  # noqa: S608
    for work in (filled.tallies, lambda: filled.close_epochs(10**6, DAYS, running_seconds=0)):
        with pytest.raises(StoreError, match="table of batches does not fit its sum"):
            work()
    assert check_store(stores.place()).problems[0].kind == "batch"
    assert 20 in stores.ids()  # no id was forgotten


def test_counters_are_compared_with_the_batches(filled: TabledStore, stores: Stores) -> None:
    stores.query("UPDATE counters SET count = count + 1 WHERE question = 'shape'")
    (problem,) = check_store(stores.place()).problems
    assert problem.words == "51 reports were counted as accepted, its batches have 50"


def test_a_store_can_be_checked_while_it_is_written(filled: TabledStore, stores: Stores) -> None:
    assert (
        check_store(stores.place(), lambda *_: filled.append([report(7_777, epoch=20)])).problems
        == ()
    )
    assert multiset(filled) == Counter([*range(1_000), 7_777])


def test_what_is_no_store_cannot_be_checked(stores: Stores) -> None:
    with pytest.raises(StoreError, match="There is no store"):
        check_store(stores.place("missing"))

"""Simulated reports: marked in every batch, kept from real ones, never twice, and removable."""

from __future__ import annotations

import pytest

from deniable.errors import InvalidParameter, StoreError
from deniable.store import Batch
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import DIGEST, multiset, report

CROWD = Batch("colour", 1, DIGEST, 20_000, simulated=True)
REAL = Batch("colour", 1, DIGEST, 20_000)


def simulate(store: TabledStore, count: int, seed: int = 1, *, among_real: bool = False) -> None:
    store.begin_simulation(CROWD, seed, count, among_real=among_real)
    store.append_records(CROWD, bytes(4 * count), 4)


def kinds(store: TabledStore) -> dict[bool, int]:
    return {tally.batch.simulated: tally.reports for tally in store.tallies()}


def test_the_mark_is_in_batches_chunks_tallies_and_counters(store: TabledStore) -> None:
    simulate(store, 3)
    (tally,) = store.tallies()
    assert (tally.batch, tally.reports, tally.bytes) == (CROWD, 3, 12)
    assert {chunk.batch for chunk in store.read("colour")} == {CROWD}
    assert store.counters() == {("colour", "simulated"): 3}


def test_real_and_simulated_reports_of_one_epoch_never_share_a_batch(store: TabledStore) -> None:
    store.append([report(1), report(2)])
    simulate(store, 3, among_real=True)
    assert kinds(store) == {False: 2, True: 3}
    assert store.counters() == {("colour", "accepted"): 2, ("colour", "simulated"): 3}
    assert store.close_epochs(20_001, {("colour", 1): 1}, running_seconds=0) == 2
    assert kinds(store) == {False: 2, True: 3}


def test_a_store_for_trials_marks_what_arrives(stores: Stores) -> None:
    with stores.open("s", simulated=True) as store:
        told = store.append([report(1), report(1)])
        assert (told.accepted, told.duplicates) == (1, 1)
        assert kinds(store) == {True: 1}
        assert store.counters() == {("colour", "simulated"): 1, ("colour", "duplicate"): 1}


@pytest.mark.parametrize("real", [1, 51])
def test_a_store_with_real_reports_refuses_a_crowd(store: TabledStore, real: int) -> None:
    store.append([report(number) for number in range(real)])
    with pytest.raises(StoreError, match=rf"holds {real} real reports?,.*--into-real-store"):
        store.begin_simulation(CROWD, 1, 20_000)
    assert kinds(store) == {False: real}
    simulate(store, 5, among_real=True)  # and what was refused left no trace of its seed
    assert kinds(store) == {False: real, True: 5}


def test_an_empty_store_and_one_of_simulated_reports_take_a_crowd(store: TabledStore) -> None:
    simulate(store, 2, seed=1)
    simulate(store, 3, seed=2)
    assert kinds(store) == {True: 5}


def test_the_same_seed_is_refused_whatever_the_epoch_and_the_process(stores: Stores) -> None:
    with stores.open("s") as store:
        simulate(store, 2, seed=2**64)
    later = Batch("colour", 1, DIGEST, 20_001, simulated=True)
    with stores.open("s") as store:
        for batch in (CROWD, later):
            with pytest.raises(StoreError, match=r"Seed 18446744073709551616 was .* 2 people"):
                store.begin_simulation(batch, 2**64, 2)
        other = Batch("colour", 2, DIGEST, 20_000, simulated=True)
        store.begin_simulation(other, 2**64, 2)  # another version asks other people
        assert kinds(store) == {True: 2}


def test_a_crowd_that_is_not_marked_is_refused(store: TabledStore) -> None:
    with pytest.raises(InvalidParameter, match="marked as simulated"):
        store.begin_simulation(REAL, 1, 1)


def test_removing_leaves_real_reports_and_their_counters(
    store: TabledStore, stores: Stores
) -> None:
    store.append([report(1), report(2), report(2)])
    simulate(store, 300_000, among_real=True)  # more than one chunk
    before = dict(store.counters())
    assert store.remove_simulated() == 300_000
    assert kinds(store) == {False: 2}
    assert sorted(multiset(store)) == [1, 2]
    assert store.counters() == {k: v for k, v in before.items() if k[1] != "simulated"}
    assert len(stores.numbers_of_chunks()) == 1
    assert store.append([report(2)]).new == (False,)  # the ids of real reports are known still


@pytest.mark.parametrize("filled", [False, True])
def test_removing_from_a_store_without_simulated_reports_is_no_harm(
    store: TabledStore, filled: bool
) -> None:
    if filled:
        store.append([report(1)])
    assert store.remove_simulated() == 0
    assert sum(multiset(store).values()) == int(filled)


def test_after_removing_the_same_seed_may_answer_again(store: TabledStore) -> None:
    simulate(store, 4, seed=9)
    (before,) = store.tallies()
    assert store.remove_simulated() == 4
    simulate(store, 4, seed=9)
    (after,) = store.tallies()
    assert before == after
    assert before.stamp != after.stamp  # so that nobody takes the new reports for the old ones

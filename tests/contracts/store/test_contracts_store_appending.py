"""What goes in comes out once, whatever the store: the contract of appending and reading."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable.errors import InvalidParameter, StoreError
from deniable.store import Appended, Batch, Tally
from deniable.store.grouping import CHUNK_BYTES
from deniable.store.tabled import TabledStore
from material.store_kinds import Stores
from material.stores import DIGEST, multiset, numbers, report, reports

DAYS = {("colour", 1): 1}


def test_what_is_appended_is_read_once_each(store: TabledStore) -> None:
    assert store.append(reports(50)) == Appended(50, 0, (True,) * 50)
    assert store.append(reports(50, start=50)).accepted == 50
    assert multiset(store) == Counter(range(100))


def test_a_store_knows_how_many_bytes_it_takes(store: TabledStore) -> None:
    before = store.size()
    for start in range(0, 20_000, 5_000):
        store.append(reports(5_000, start=start))
    assert before > 0
    assert store.size() > before + 20_000 * 4  # records of four bytes, and their ids
    assert not store.simulating


def test_a_group_is_one_chunk_per_batch(store: TabledStore) -> None:
    other = report(900, question="shape")
    later = report(901, epoch=20_001)
    store.append([*reports(30), other, later])
    chunks = list(store.read("colour"))
    assert sorted((chunk.batch.epoch, chunk.count) for chunk in chunks) == [
        (20_000, 30),
        (20_001, 1),
    ]
    (shape,) = store.read("shape")
    assert shape.batch == Batch("shape", 1, DIGEST, 20_000)
    assert (shape.records, shape.count) == (other.record, 1)


def test_duplicates_are_counted_and_not_written(store: TabledStore) -> None:
    store.append(reports(3))
    again = store.append([report(1), report(3), report(3), report(2)])
    assert again == Appended(1, 3, (False, True, False, False))
    assert multiset(store) == Counter(range(4))
    assert store.counters() == {("colour", "accepted"): 4, ("colour", "duplicate"): 3}


def test_duplicates_are_known_after_reopening(stores: Stores) -> None:
    with stores.open() as store:
        store.append(reports(3))
    with stores.open(create=False) as again:
        assert again.append(reports(4)) == Appended(1, 3, (False, False, False, True))


def test_the_same_id_in_another_epoch_is_another_report(store: TabledStore) -> None:
    store.append([report(1, epoch=5), report(1, epoch=6)])
    assert numbers(store) == [1, 1]


def test_read_filters_by_version_and_epoch(store: TabledStore) -> None:
    store.append([report(n, epoch=n) for n in range(10, 15)] + [report(99, version=2)])
    assert {chunk.batch.version for chunk in store.read("colour", version=2)} == {2}
    epochs = {chunk.batch.epoch for chunk in store.read("colour", 1, 11, 13)}
    assert epochs == {11, 12, 13}
    assert list(store.read("colour", version=3)) == []
    assert list(store.read("nobody")) == []


def test_tallies_add_up_without_reading_chunks(store: TabledStore) -> None:
    store.append(reports(3))
    store.append([report(7), report(8, epoch=19_999)])
    assert store.tallies() == [
        Tally(Batch("colour", 1, DIGEST, 19_999), 1, 4),
        Tally(Batch("colour", 1, DIGEST, 20_000), 4, 16),
    ]


def test_records_of_different_sizes_never_share_a_chunk(store: TabledStore) -> None:
    store.append([report(1), report(2, size=9), report(3)])
    assert sorted((len(c.records), c.count) for c in store.read("colour")) == [(8, 2), (9, 1)]
    assert store.tallies() == [Tally(Batch("colour", 1, DIGEST, 20_000), 3, 17)]


def test_an_empty_group_writes_only_its_refusals(store: TabledStore) -> None:
    assert store.append([], {("colour", "digest"): 2, ("", "body"): 1}) == Appended(0, 0, ())
    assert store.counters() == {("colour", "digest"): 2, ("", "body"): 1}
    assert store.tallies() == []


def test_counters_add_up_and_zeros_are_not_shown(store: TabledStore) -> None:
    store.count({("colour", "digest"): 2, ("", "schema"): 1})
    store.count({("colour", "digest"): 3, ("", "accepted"): 0})
    assert store.counters() == {("colour", "digest"): 5, ("", "schema"): 1}


def test_many_records_enter_in_bounded_chunks(store: TabledStore) -> None:
    batch = Batch("colour", 1, DIGEST, 20_000)
    count = 2 * CHUNK_BYTES // 4 + 10
    records = b"".join(number.to_bytes(4, "little") for number in range(count))
    assert store.append_records(batch, records, 4) == count
    sizes = [len(chunk.records) for chunk in store.read("colour")]
    assert len(sizes) == 3
    assert max(sizes) == CHUNK_BYTES
    assert multiset(store) == Counter(range(count))
    assert store.counters() == {("colour", "accepted"): count}
    assert numbers(store) != list(range(count))


def test_no_records_are_no_batch(store: TabledStore) -> None:
    assert store.append_records(Batch("colour", 1, DIGEST, 1), b"", 4) == 0
    assert store.tallies() == []


@pytest.mark.parametrize(("records", "size"), [(b"12345", 4), (b"1234", 0), (b"1234", -4)])
def test_cut_and_empty_records_are_refused(store: TabledStore, records: bytes, size: int) -> None:
    with pytest.raises(InvalidParameter, match="records must be whole"):
        store.append_records(Batch("colour", 1, DIGEST, 1), records, size)
    with pytest.raises(InvalidParameter, match="records must be whole"):
        store.append([report(1), replace(report(2), record=b"")])
    assert store.tallies() == []
    assert store.append([report(1)]).accepted == 1


def test_a_bad_epoch_never_reaches_the_name_of_a_table(store: TabledStore) -> None:
    for epoch in (-1, 2**31, True, "1; DROP TABLE chunks", 1.5):
        with pytest.raises(InvalidParameter, match="epoch"):
            store.append([report(1), replace(report(2), epoch=epoch)])
    assert store.tallies() == []


def test_a_reader_sees_one_moment_while_a_writer_appends(store: TabledStore) -> None:
    for start in range(0, 50, 10):
        store.append(reports(10, start))
    seen = []
    for chunk in store.read("colour"):
        seen.append(chunk.count)
        store.append(reports(1, start=100 + len(seen)))
    assert seen == [10] * 5
    assert store.tallies()[0].reports == 55


def test_threads_may_share_a_store(store: TabledStore) -> None:
    threads = [
        threading.Thread(
            target=lambda part=part: [store.append([report(part * 20 + i)]) for i in range(20)]
        )
        for part in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert multiset(store) == Counter(range(80))


def test_threads_may_open_a_new_store_at_once(stores: Stores) -> None:
    for attempt in range(4):
        start = threading.Barrier(6)

        def open_it(attempt: int = attempt, start: threading.Barrier = start) -> bool:
            start.wait()
            with stores.open(f"{attempt}") as store:
                store.append(reports(3))
            return True

        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(lambda _, act=open_it: act(), range(6)))


def test_a_missing_store_is_not_created_by_a_reader(stores: Stores) -> None:
    for _ in range(2):
        with pytest.raises(StoreError, match="There is no store"):
            stores.open(create=False)


def test_a_closed_store_says_so(store: TabledStore) -> None:
    store.close()
    store.close()
    for call in (lambda: store.append(reports(1)), lambda: store.count({("", "body"): 1})):
        with pytest.raises(StoreError, match="The store is closed"):
            call()
    with pytest.raises(StoreError, match="The store is closed"):
        store.close_epochs(10**6, DAYS, running_seconds=0)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(groups=st.lists(st.lists(st.integers(0, 30), max_size=12), max_size=6))
def test_any_groups_leave_each_report_once(groups: list[list[int]], stores: Stores) -> None:
    """Against the slow obvious twin: a set."""
    seen: set[int] = set()
    with stores.open(secrets.token_hex(4)) as store:
        for group in groups:
            done = store.append([report(n) for n in group])
            fresh = set(group) - seen
            assert (done.accepted, done.duplicates) == (len(fresh), len(group) - len(fresh))
            seen |= fresh
        assert multiset(store) == Counter(seen)
        assert store.counters().get(("colour", "accepted"), 0) == len(seen)

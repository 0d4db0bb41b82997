"""Accumulate gives the same counts whatever the threads and the chunks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.engines import local
from deniable.engines.accumulated import Accumulated
from deniable.engines.local import accumulate
from deniable.engines.mapping import in_threads, mapped
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter, InvalidReport, StoreError
from deniable.mechanisms import Counts, mechanism_for
from deniable.mechanisms.records import view_records
from deniable.protocol import Question
from deniable.store import Batch
from material.engines import EPOCH, append, new_store, question, records


def slow_counts(asked: Question, data: bytes) -> dict[str, Counts]:
    """The obvious twin: one field at a time, one report at a time, cut by the protocol."""
    size = asked.record_size
    parts = [asked.split_record(data[i : i + size]) for i in range(0, len(data), size)]
    found = {}
    for place, field in enumerate(asked.fields):
        mechanism = mechanism_for(field.parameters)
        found[field.name] = mechanism.zero()
        for part in parts:
            record = np.frombuffer(part[place], dtype=mechanism.dtype)
            found[field.name] = found[field.name].merge(mechanism.accumulate(record))
    return found


def assert_same(found: Accumulated, expected: dict[str, Counts]) -> None:
    assert list(found.counts) == list(expected)
    for name, counts in expected.items():
        assert np.array_equal(found.counts[name].table, counts.table)
        assert np.array_equal(found.counts[name].reports, counts.reports)


def test_counts_equal_those_of_one_report_at_a_time(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    asked = question()
    data = records(asked, 300, rng)
    with new_store(tmp_path) as store:
        append(store, asked, data)
        found = accumulate(store, asked)
    assert_same(found, slow_counts(asked, data))
    assert found.n == 300
    assert found.epochs == {EPOCH: 300}
    assert found.ignored == 0


@settings(max_examples=15, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=8),
    threads=st.integers(1, 5),
    group=st.sampled_from([1, 100, 1 << 20]),
)
def test_threads_and_chunks_do_not_matter(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], threads: int, group: int
) -> None:
    asked, rng = question(), np.random.default_rng(7)
    data = records(asked, sum(sizes), rng)
    size, start = asked.record_size, 0
    with (
        new_store(tmp_path_factory.mktemp("chunks")) as store,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(local, "_group_bytes", lambda _: group)
        for part in sizes:
            append(store, asked, data[start * size : (start + part) * size])
            start += part
        found = accumulate(store, asked, threads=threads)
    assert_same(found, slow_counts(asked, data))


def test_reports_with_another_digest_are_ignored_and_counted(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    asked, changed = question(), question(epsilon=2.0)
    assert asked.digest != changed.digest
    with new_store(tmp_path) as store:
        append(store, asked, records(asked, 10, rng))
        append(store, changed, records(changed, 7, rng))
        found = accumulate(store, asked)
    assert (found.n, found.ignored) == (10, 7)
    assert all(counts.n == 10 for counts in found.counts.values())


def test_other_questions_and_versions_are_not_read(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    asked = question()
    with new_store(tmp_path) as store:
        append(store, asked, records(asked, 10, rng))
        for other in (question("other"), question(version=2)):
            append(store, other, records(other, 5, rng))
        found = accumulate(store, asked)
    assert (found.n, found.ignored) == (10, 0)


def test_epochs_are_counted_and_can_be_chosen(tmp_path: Path, rng: np.random.Generator) -> None:
    asked = question()
    with new_store(tmp_path) as store:
        for epoch, people in ((EPOCH + 1, 20), (EPOCH, 10), (EPOCH + 2, 30)):
            append(store, asked, records(asked, people, rng), epoch)
        everything = accumulate(store, asked)
        later = accumulate(store, asked, Selection(first_epoch=EPOCH + 1))
        middle = accumulate(store, asked, Selection(EPOCH + 1, EPOCH + 1))
    assert list(everything.epochs.items()) == [(EPOCH, 10), (EPOCH + 1, 20), (EPOCH + 2, 30)]
    assert later.epochs == {EPOCH + 1: 20, EPOCH + 2: 30}
    assert (middle.n, middle.counts["on"].n) == (20, 20)


def test_an_empty_store_gives_zero_counts(tmp_path: Path) -> None:
    with new_store(tmp_path) as store:
        found = accumulate(store, question())
    assert found.n == 0
    assert all(not counts.table.any() for counts in found.counts.values())


def test_progress_rises_to_the_number_of_reports(tmp_path: Path, rng: np.random.Generator) -> None:
    asked, seen = question(), []
    with new_store(tmp_path) as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "_group_bytes", lambda _: 1)
        for _ in range(5):
            append(store, asked, records(asked, 10, rng))
        accumulate(store, asked, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == [10, 20, 30, 40, 50]
    assert {total for _, total in seen} == {50}


def test_a_chunk_of_the_wrong_length_is_a_damaged_store(tmp_path: Path) -> None:
    asked = question()
    with new_store(tmp_path) as store:
        batch = Batch(asked.id, asked.version, asked.digest, EPOCH)
        store.append_records(batch, b"\0" * 5, 5)
        with pytest.raises(StoreError, match="damaged"):
            accumulate(store, asked)


def test_a_record_that_no_client_sends_is_an_error(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    asked = question()
    reports = view_records(asked, records(asked, 10, rng)).copy()
    reports["colour"]["symbol"][3] = 11
    with new_store(tmp_path) as store:
        append(store, asked, reports.tobytes())
        with pytest.raises(InvalidReport, match="symbol"):
            accumulate(store, asked)


@pytest.mark.parametrize("threads", [0, -1, 1000, True])
def test_the_number_of_threads_is_checked(tmp_path: Path, threads: int) -> None:
    with new_store(tmp_path) as store, pytest.raises(InvalidParameter, match="threads"):
        accumulate(store, question(), threads=threads)


def test_few_groups_are_in_memory_at_a_time() -> None:
    lock, alive, most = threading.Lock(), 0, 0

    def groups() -> Iterator[bytes]:
        nonlocal alive, most
        for _ in range(60):
            with lock:
                alive += 1
                most = max(most, alive)
            yield b"group"

    def fold(_: bytes) -> dict[str, Counts]:
        nonlocal alive
        time.sleep(0.001)
        with lock:
            alive -= 1
        return {}

    with in_threads(2) as pool:
        assert len(list(mapped(pool, fold, groups(), workers=2))) == 60
    assert most <= 6


def test_a_failure_in_a_thread_stops_the_reading() -> None:
    pulled = 0

    def groups() -> Iterator[bytes]:
        nonlocal pulled
        for _ in range(1000):
            pulled += 1
            yield b"group"

    def fold(_: bytes) -> dict[str, Counts]:
        raise InvalidReport("record", "no")

    with in_threads(2) as pool, pytest.raises(InvalidReport):
        list(mapped(pool, fold, groups(), workers=2))
    assert pulled <= 10

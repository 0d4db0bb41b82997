"""Counts of closed epochs that whoever asks leaves in the store: used, renewed, never trusted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.engines.accumulated import Accumulated
from deniable.engines.counts_file import to_bytes
from deniable.engines.local import accumulate
from deniable.engines.selection import Selection
from deniable.errors import StoreError
from deniable.mechanisms import mechanism_for
from deniable.protocol import Question
from deniable.store import Batch, Scope
from deniable.store.tabled import TabledStore
from material.segmented import published
from material.store_kinds import Stores

EPOCHS = (10, 11, 12)
PEOPLE = 3_000


@pytest.fixture
def question(tmp_path: Path) -> Question:
    found = published(tmp_path).question("dark")
    assert found is not None
    return found


def _write(store: TabledStore, question: Question, epoch: int, seed: int, people: int) -> None:
    """Append reports of an epoch, a third of them on each of three platforms."""
    mechanism, rng = mechanism_for(question.fields[0].parameters), np.random.default_rng(seed)
    for platform in ("linux", "mac", "windows"):
        reports = mechanism.simulate(rng.integers(2, size=people // 3), rng)
        segments = f'{{"channel":"beta","platform":"{platform}"}}'
        batch = Batch(question.id, question.version, question.digest, epoch, False, segments)
        store.append_records(batch, reports.tobytes(), question.record_size)


@pytest.fixture
def closed(store: TabledStore, question: Question) -> TabledStore:
    for epoch in EPOCHS:
        _write(store, question, epoch, epoch, PEOPLE)
    _close(store, question)
    return store


def _close(store: TabledStore, question: Question) -> None:
    store.close_epochs(13, {(question.id, question.version): 1}, running_seconds=0)


def _counted(store: TabledStore, question: Question, selection: Selection | None = None) -> bytes:
    return to_bytes(_counts(store, question, selection))


def _counts(
    store: TabledStore, question: Question, selection: Selection | None = None
) -> Accumulated:
    return accumulate(store, question, selection or Selection(), apart=True, threads=1)


def test_the_first_who_asks_leaves_counts_that_the_next_one_uses(
    closed: TabledStore, stores: Stores, question: Question
) -> None:
    assert "counted" not in stores.tables()  # who collects counts nothing
    first = _counted(closed, question)
    kept = stores.query("SELECT key, batch, data FROM counted")
    assert len(kept) == 9  # three epochs of three platforms
    assert sum(len(data) for _, _, data in kept) < 3 * PEOPLE * question.record_size
    assert stores.damage() > 0
    assert _counted(closed, question) == first  # no chunk was read: a damaged one is an error
    assert _counted(stores.open(), question) == first  # nor by another process
    stores.query("DELETE FROM counted WHERE batch > 0 RETURNING batch")
    with pytest.raises(StoreError):
        _counted(closed, question)


def test_a_part_is_asked_for_by_the_same_counts(
    closed: TabledStore, stores: Stores, question: Question
) -> None:
    chosen = Selection(11, 12, {"platform": "mac"})
    some = _counts(closed, question, chosen)
    assert some.n == 2 * PEOPLE // 3
    assert len(stores.query("SELECT key FROM counted")) == 2
    stores.damage("epoch = 11")
    assert to_bytes(_counts(closed, question, chosen)) == to_bytes(some)


def test_damaged_counts_are_made_again(
    closed: TabledStore, stores: Stores, question: Question
) -> None:
    first = _counted(closed, question)
    ((data,), *_) = stores.query("SELECT data FROM counted ORDER BY batch")
    wrong = bytes([data[0] ^ 1]) + bytes(data[1:])
    stores.query("UPDATE counted SET data = ? RETURNING batch", (wrong,))
    assert _counted(closed, question) == first
    assert all(bytes(row[0]) != wrong for row in stores.query("SELECT data FROM counted"))


def test_reports_that_come_late_are_counted_and_older_counts_go(
    closed: TabledStore, stores: Stores, question: Question
) -> None:
    before = _counts(closed, question)
    _write(closed, question, 11, 99, 300)
    assert _counts(closed, question).n == before.n + 300  # in an open epoch: not remembered
    _close(closed, question)
    after = _counts(closed, question)
    assert after.n == before.n + 300
    fresh = stores.query("SELECT COUNT(*) FROM counted")
    _counted(closed, question)
    assert stores.query("SELECT COUNT(*) FROM counted") == fresh


def test_counts_go_with_their_reports(
    closed: TabledStore, stores: Stores, question: Question
) -> None:
    _counted(closed, question)
    assert closed.delete(Scope(question.id, first_epoch=11, last_epoch=11)) == PEOPLE
    kept = {batch for (batch,) in stores.query("SELECT batch FROM counted")}
    assert kept == {batch for (batch,) in stores.query("SELECT batch FROM batches")}
    assert _counts(closed, question).n == 2 * PEOPLE


def test_counts_that_are_larger_than_their_reports_are_not_kept(
    store: TabledStore, stores: Stores, question: Question
) -> None:
    _write(store, question, 10, 1, 330)
    _close(store, question)
    assert _counts(store, question).n == 330
    assert "counted" not in stores.tables()

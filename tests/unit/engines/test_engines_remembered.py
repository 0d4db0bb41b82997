"""Counts of closed epochs are made once: what is closed is read no more, and nothing is stale."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.engines import Selection, accumulate
from deniable.engines.counts_file import to_bytes
from deniable.protocol import Question
from deniable.store import Batch, SqliteStore
from material.engines import EPOCH, append, new_store, question, records

EPOCHS, PEOPLE = 5, 600


@pytest.fixture
def asked() -> Question:
    return question()


def filled(store: SqliteStore, asked: Question, rng: np.random.Generator) -> None:
    for epoch in range(EPOCHS):
        append(store, asked, records(asked, PEOPLE, rng), EPOCH + epoch)
    store.close_question(asked.id, last_epoch=EPOCH + EPOCHS - 2)  # the last one stays open


def read_epochs(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the list that every later read of the store adds its epochs to."""
    seen: list[tuple[Any, ...]] = []
    plain = type(store).read

    def watched(self: SqliteStore, *given: Any) -> Any:
        seen.append(given[2:])
        return plain(self, *given)

    monkeypatch.setattr(type(store), "read", watched)
    return seen


def test_a_second_ask_reads_the_open_epoch_alone(
    tmp_path: Path, asked: Question, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with new_store(tmp_path) as store:
        filled(store, asked, rng)
        first = to_bytes(accumulate(store, asked))
        seen = read_epochs(store, monkeypatch)
        assert to_bytes(accumulate(store, asked)) == first
        assert seen == [(EPOCH + EPOCHS - 1, EPOCH + EPOCHS - 1)]
        some = accumulate(store, asked, Selection(EPOCH + 1, EPOCH + 2))
        assert some.epochs == {EPOCH + 1: PEOPLE, EPOCH + 2: PEOPLE}
    with new_store(tmp_path) as again:  # another process
        assert to_bytes(accumulate(again, asked)) == first


def test_late_and_removed_reports_and_damage_are_counted_anew(
    tmp_path: Path, asked: Question, rng: np.random.Generator
) -> None:
    with new_store(tmp_path) as store:
        filled(store, asked, rng)
        accumulate(store, asked)
        append(store, asked, records(asked, 7, rng), EPOCH)  # late: opens the epoch again
        assert accumulate(store, asked).epochs[EPOCH] == PEOPLE + 7
        store.close_question(asked.id, last_epoch=EPOCH)
        assert accumulate(store, asked).epochs[EPOCH] == PEOPLE + 7
        made_up = Batch(asked.id, 1, asked.digest, EPOCH, simulated=True)
        store.append_records(made_up, records(asked, 600, rng), asked.record_size)
        store.close_question(asked.id, last_epoch=EPOCH)
        assert accumulate(store, asked).simulated == 600
        store.remove_simulated()
        found = accumulate(store, asked)
        assert (found.simulated, found.epochs[EPOCH]) == (0, PEOPLE + 7)
        with store._writing() as tables:
            tables.execute("UPDATE counted SET data = zeroblob(50)")
        assert to_bytes(accumulate(store, asked)) == to_bytes(found)
        with store._reading() as tables:
            rows = tables.execute("SELECT count(*) FROM counted")
    assert rows == [(EPOCHS - 1,)]  # nothing of batches that are no more, nothing twice


def test_another_digest_shares_no_counts(
    tmp_path: Path, asked: Question, rng: np.random.Generator
) -> None:
    other = question(epsilon=2.0)
    with new_store(tmp_path) as store:
        filled(store, asked, rng)
        append(store, other, records(other, 50, rng), EPOCH)
        assert accumulate(store, asked).ignored == 50
        assert accumulate(store, asked).n == EPOCHS * PEOPLE
        assert accumulate(store, other).n == 50

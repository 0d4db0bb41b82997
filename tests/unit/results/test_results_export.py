"""Raw reports as files: reading them back gives the same counts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from deniable.engines import accumulate
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter, StoreError
from deniable.protocol import Question
from deniable.protocol.canonical import from_base64url
from deniable.results import export
from deniable.results.export import export_reports
from deniable.store import Batch, SqliteStore
from material.results import EPOCH, answer, question

BODY = """
[[questions.fields]]
name = "colour"
domain = { type = "categories", values = ["red", "green", "blue"] }
mechanism = "krr"
parameters = { epsilon = 1.0 }
[[questions.fields]]
name = "on"
domain = "boolean"
mechanism = "rappor"
parameters = { epsilon = 1.0, epsilon_forever = 2.0 }
"""


@pytest.fixture
def asked(tmp_path: Path) -> Question:
    return question(tmp_path, BODY)


@pytest.fixture
def store(tmp_path: Path, asked: Question, rng: np.random.Generator) -> SqliteStore:
    filled = SqliteStore(tmp_path / "reports.sqlite3")
    for epoch, people in ((EPOCH, 70), (EPOCH + 1, 30)):
        codes = {"colour": rng.integers(0, 3, people), "on": rng.integers(0, 2, people)}
        answer(filled, asked, codes, rng, epoch=epoch)
    answer(filled, replace(asked, epoch=7), codes, rng)
    return filled


def read_back(path: Path) -> list[tuple[int, bytes]]:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        columns = (table.column(name).to_pylist() for name in ("epoch", "record"))
        return list(zip(*columns, strict=True))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [(line["epoch"], from_base64url(line["record"])) for line in lines]


@pytest.mark.parametrize("suffix", [".parquet", ".ndjson"])
@pytest.mark.parametrize("group", [1, 50, 200_000])
def test_what_is_read_back_gives_the_same_counts(
    tmp_path: Path,
    asked: Question,
    store: SqliteStore,
    suffix: str,
    group: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(export, "GROUP_REPORTS", group)
    path, seen = tmp_path / f"reports{suffix}", []
    assert export_reports(store, asked, path, progress=seen.append) == 100
    assert seen == sorted(seen)
    assert seen[-1] == 100
    again = SqliteStore(tmp_path / "again.sqlite3")
    for epoch, record in read_back(path):
        batch = Batch(asked.id, asked.version, asked.digest, epoch)
        again.append_records(batch, record, asked.record_size)
    before, after = accumulate(store, asked), accumulate(again, asked)
    assert before.epochs == after.epochs == {EPOCH: 70, EPOCH + 1: 30}
    for name, counts in before.counts.items():
        assert np.array_equal(counts.table, after.counts[name].table)


def test_parquet_says_which_question_it_holds(
    tmp_path: Path, asked: Question, store: SqliteStore
) -> None:
    path = tmp_path / "reports.parquet"
    export_reports(store, asked, path)
    schema = pq.read_schema(path)
    assert schema.metadata[b"deniable.digest"].decode() == asked.digest.hex()
    assert json.loads(schema.metadata[b"deniable.question"])["id"] == "asked"
    assert str(schema.field("record").type) == f"fixed_size_binary[{asked.record_size}]"


def test_ndjson_has_no_id_and_nothing_about_arrival(
    tmp_path: Path, asked: Question, store: SqliteStore
) -> None:
    path = tmp_path / "reports.ndjson"
    export_reports(store, asked, path)
    keys = {tuple(json.loads(line)) for line in path.read_text().splitlines()}
    assert keys == {("question", "version", "digest", "epoch", "simulated", "record")}


def test_epochs_can_be_chosen(tmp_path: Path, asked: Question, store: SqliteStore) -> None:
    path = tmp_path / "reports.ndjson"
    assert export_reports(store, asked, path, Selection(first_epoch=EPOCH + 1)) == 30
    assert export_reports(store, asked, path, Selection(last_epoch=EPOCH)) == 70


@pytest.mark.parametrize("suffix", [".parquet", ".ndjson"])
def test_no_reports_make_an_empty_file(tmp_path: Path, asked: Question, suffix: str) -> None:
    path = tmp_path / f"reports{suffix}"
    assert export_reports(SqliteStore(tmp_path / "empty.sqlite3"), asked, path) == 0
    assert read_back(path) == []


def test_other_names_are_refused(tmp_path: Path, asked: Question, store: SqliteStore) -> None:
    with pytest.raises(InvalidParameter, match=r"\.parquet, \.ndjson"):
        export_reports(store, asked, tmp_path / "reports.csv")


@pytest.mark.parametrize("suffix", [".parquet", ".ndjson"])
def test_a_damaged_store_leaves_no_file(tmp_path: Path, asked: Question, suffix: str) -> None:
    damaged = SqliteStore(tmp_path / "damaged.sqlite3")
    damaged.append_records(Batch(asked.id, 1, asked.digest, EPOCH), b"\0" * 5, 5)
    before = set(tmp_path.iterdir())
    with pytest.raises(StoreError, match="damaged"):
        export_reports(damaged, asked, tmp_path / f"reports{suffix}")
    assert set(tmp_path.iterdir()) == before

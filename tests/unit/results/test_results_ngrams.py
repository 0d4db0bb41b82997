"""Strings from n-grams in a store: the same result and JSON as for grown ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable.ask import Options, discover, estimate
from deniable.ask.discover import found_table, is_discovered
from deniable.authoring import read_authored, resolve
from deniable.discover.ngrams.discovery import Search
from deniable.engines.local import accumulate
from deniable.engines.records import read_field
from deniable.engines.selection import Selection
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.protocol import Boolean, Field, Question
from deniable.results.table import as_text
from deniable.store import Batch, SqliteStore
from material.surveys import N_GRAMS

WORDS = ["rabbit", "hermit", "bat"]
SHARES = [0.5, 0.3, 0.2]


@pytest.fixture(scope="module")
def question(tmp_path_factory: pytest.TempPathFactory) -> Question:
    path = tmp_path_factory.mktemp("survey") / "survey.toml"
    path.write_text(N_GRAMS)
    found = read_authored(path).require().question("word")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, question: Question) -> SqliteStore:
    """Two epochs of reports, and some under another digest."""
    made = SqliteStore(tmp_path_factory.mktemp("store") / "reports.sqlite3")
    rng = np.random.default_rng(4)
    mechanism = mechanism_for(question.fields[0].parameters)
    other = bytes(32)
    for epoch, people, digest in (
        (20_000, 15_000, question.digest),
        (20_001, 5_000, question.digest),
        (20_001, 10, other),
    ):
        codes = rng.choice(3, size=people, p=SHARES)
        reports = mechanism.simulate(codes, rng, WORDS)
        batch = Batch(question.id, 1, digest, epoch)
        made.append_records(batch, reports.tobytes(), question.record_size)
    return made


def test_reports_of_a_field(store: SqliteStore, question: Question) -> None:
    assert read_field(store, question, "value").size == 20_000
    assert read_field(store, question, "value", Selection(last_epoch=20_000)).size == 15_000
    assert read_field(store, question, "value", Selection(first_epoch=20_002)).size == 0
    mechanism = mechanism_for(question.fields[0].parameters)
    counted = accumulate(store, question, threads=1).counts["value"]
    found = mechanism.accumulate(read_field(store, question, "value"))
    assert np.array_equal(found.table, counted.table)


def test_strings_are_found(store: SqliteStore, question: Question) -> None:
    assert is_discovered(question.fields[0])
    (found,) = discover(store, question, Options(threads=1))
    assert [row.value for row in found.rows] == WORDS
    text = as_text(found)
    assert "people who all report whole strings" in text
    assert "Common n-grams per place" in text
    data = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert data["mechanism"] == "ngrams"
    assert data["parts"] == {}
    assert {row["value"]: row["p_value"] < 0.05 for row in data["rows"]} == dict.fromkeys(
        WORDS, True
    )


def test_filters_and_epochs_are_passed_on(store: SqliteStore, question: Question) -> None:
    search = Search(matching="h.*")
    (found,) = discover(store, question, Options(search=search, last_epoch=20_000, threads=1))
    assert [row.value for row in found.rows] == ["hermit"]
    assert found.about.n == 15_000


def test_listed_strings_can_be_estimated_too(store: SqliteStore, question: Question) -> None:
    (result,) = estimate(store, question, Options(candidates={"value": WORDS}, threads=1))
    for row, share in zip(result.rows, SHARES, strict=True):
        assert row.frequency == pytest.approx(share, abs=0.05)


def test_listed_answers_are_not_searched_for(store: SqliteStore, question: Question) -> None:
    counted = accumulate(store, question, threads=1)
    krr = resolve("krr", {"epsilon": 1.0}, Boolean(), False)
    with pytest.raises(InvalidParameter, match="not found from reports"):
        found_table(counted, Field("value", Boolean(), krr), store)


def test_an_empty_store(tmp_path: Path, question: Question) -> None:
    empty = SqliteStore(tmp_path / "reports.sqlite3")
    (found,) = discover(empty, replace(question), Options(threads=1))
    assert found.rows == ()
    assert "There are no reports yet." in found.notes

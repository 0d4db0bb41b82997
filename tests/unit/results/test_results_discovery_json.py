"""The JSON of a discovery fits its schema, and people without an answer are shown apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from deniable.ask import Options, discover
from deniable.authoring import read_authored
from deniable.mechanisms import mechanism_for
from deniable.protocol import ABSENT, Question
from deniable.results.table import Table, as_text
from deniable.results.words.shares import in_words
from deniable.store import Batch, SqliteStore

SCHEMA = Path(__file__).parents[3] / "spec/schemas/table.json"
SURVEY = """name = "n"
owner = "o"
[[questions]]
id = "word"
description = "Which word?"
expires = 2099-01-01
domain = {{ type = "strings", alphabet = "abehimrt", length = 6 }}
mechanism = "{mechanism}"
parameters = {{ epsilon = 6.0, cohorts = 16 }}
send = "{send}"
"""
WORDS = ["rabbit", "hermit", "bat"]
SHARES = [0.2, 0.12, 0.08]
"""Of the people; the others have no answer."""


def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def question_of(folder: Path, mechanism: str, send: str) -> Question:
    (folder / "survey.toml").write_text(SURVEY.format(mechanism=mechanism, send=send))
    found = read_authored(folder / "survey.toml").require().question("word")
    assert found is not None
    return found


def found_by(
    folder: Path, mechanism: str, send: str, people: int = 40_000, crafted: float | None = None
) -> Table:
    """Return what is found of a crowd; with "always" most people have no answer."""
    question, rng = question_of(folder, mechanism, send), np.random.default_rng(7)
    shares = np.array([*SHARES, 1 - sum(SHARES)] if send == "always" else SHARES)
    listed = [*WORDS, ABSENT] if send == "always" else WORDS
    codes = rng.choice(len(listed), size=people, p=shares / shares.sum())
    reports = mechanism_for(question.fields[0].parameters).simulate(codes, rng, listed)
    with SqliteStore(folder / "reports.sqlite3") as store:
        batch = Batch(question.id, 1, question.digest, 20_000)
        if people:
            store.append_records(batch, reports.tobytes(), question.record_size)
        (one,) = discover(store, question, Options(beam=50, threads=1, crafted=crafted))
    return one


def as_read(found: Table) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(found.as_json(), allow_nan=False))
    return read


@pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])
@pytest.mark.parametrize("send", ["recorded", "always"])
@pytest.mark.parametrize("people", [40_000, 0])
def test_the_json_fits_its_schema(tmp_path: Path, mechanism: str, send: str, people: int) -> None:
    data = as_read(found_by(tmp_path, mechanism, send, people))
    validator().validate(data)
    assert {row["value"] for row in data["rows"] if row["holm"]} == (
        set(WORDS) if people else set()
    )
    for name in data:
        assert not validator().is_valid({key: value for key, value in data.items() if key != name})
    assert not validator().is_valid({**data, "more": 1})
    assert not validator().is_valid({**data, "limit": 0})


@pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])
def test_the_second_error_bar_fits_the_schema(tmp_path: Path, mechanism: str) -> None:
    data = as_read(found_by(tmp_path, mechanism, "recorded", crafted=0.01))
    validator().validate(data)
    assert data["crafted"] == 0.01
    for row in data["rows"]:
        assert row["crafted_interval"][0] < row["interval"][0]


@pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])
def test_the_share_without_an_answer_is_the_last_row(tmp_path: Path, mechanism: str) -> None:
    found = found_by(tmp_path, mechanism, "always")
    last = found.rows[-1]
    assert last.value == "(absent)"
    assert abs(last.frequency - (1 - sum(SHARES))) < 5 * last.std_error
    assert last.interval[0] < last.frequency < last.interval[1]
    row = as_read(found)["rows"][-1]
    assert (row["holm"], row["p_value"], row["uncorrected"]) == (None, None, None)
    assert "(absent)" in as_text(found)


@pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])
def test_where_everybody_answers_nobody_is_absent(tmp_path: Path, mechanism: str) -> None:
    found = found_by(tmp_path, mechanism, "recorded")
    assert [row.value for row in found.rows] == WORDS


def test_counting_and_finding_tell_how_far_they_are(tmp_path: Path) -> None:
    question = question_of(tmp_path, "prefixes", "recorded")
    mechanism, rng = mechanism_for(question.fields[0].parameters), np.random.default_rng(1)
    told: dict[str, list[tuple[int, int]]] = {}
    with SqliteStore(tmp_path / "reports.sqlite3") as store:
        batch = Batch(question.id, 1, question.digest, 20_000)
        records = mechanism.simulate(np.zeros(500, dtype=np.int64), rng, WORDS).tobytes()
        store.append_records(batch, records, question.record_size)
        options = Options(progress=lambda stage, *done: told.setdefault(stage, []).append(done))
        discover(store, question, options)
    assert told["counting"] == [(500, 500)]
    assert told["finding"][-1][0] == told["finding"][-1][1] > 1


@pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])
def test_the_words_speak_of_no_candidates(tmp_path: Path, mechanism: str) -> None:
    said = " ".join(in_words(found_by(tmp_path, mechanism, "recorded")).not_learned)
    assert "Rare strings were not found" in said
    assert "candidates" not in said

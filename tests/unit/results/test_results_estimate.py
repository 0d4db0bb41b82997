"""From reports in a real store to results, for every kind of domain."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator, ValidationError

from deniable.ask import Options, estimate
from deniable.errors import InvalidParameter
from deniable.protocol import ABSENT
from deniable.results.table import Table, as_json
from deniable.store import SqliteStore
from deniable.testing.statistics import accept, mean, reject
from material.results import EPOCH, answer, question

SCHEMA = Path(__file__).parents[3] / "spec" / "schemas" / "table.json"
ALPHA = 1e-9

KRR = 'mechanism = "krr"\nparameters = { epsilon = 1.0 }\n'
BASIC = 'mechanism = "rappor"\nparameters = { epsilon = 1.0, epsilon_forever = 3.0 }\n'
BLOOM = 'mechanism = "rappor"\nparameters = { epsilon = 3.0, m = 8, k = 64 }\n'
COLOURS = 'domain = { type = "categories", values = ["red", "green", "blue"] }\n'
NUMBERS = 'domain = { type = "numbers", edges = [1, 10, 100] }\n'
BOOLEAN = 'domain = "boolean"\n'
STRINGS = 'domain = { type = "strings", candidates = "list.txt" }\n'


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "reports.sqlite3")


def values(result: Table) -> list[str]:
    return [row.value for row in result.rows]


def people(*shares: int) -> list[int]:
    """Return codes: so many people with answer 0, so many with answer 1, ..."""
    return [code for code, share in enumerate(shares) for _ in range(share)]


def check_against(result: Table, truth: dict[str, float]) -> None:
    """Every estimate must fit the truth; a truth that is off by 20 errors must not."""
    for row in result.with_truth(truth).rows:
        assert row.truth is not None
        accept(mean(row.frequency, row.truth, row.std_error), alpha=ALPHA)
        wrong = row.truth + 20 * row.std_error
        reject(mean(row.frequency, wrong, row.std_error), alpha=ALPHA, miss=1e-12)


def test_a_boolean_question(tmp_path: Path, store: SqliteStore, rng: np.random.Generator) -> None:
    asked = question(tmp_path, BOOLEAN + KRR)
    answer(store, asked, {"value": people(6_000, 2_000)}, rng)
    (result,) = estimate(store, asked)
    assert values(result) == ["false", "true"]
    assert (result.about.n, result.about.question, result.about.field) == (8_000, "asked", "value")
    assert result.about.epsilon_once == pytest.approx(1.0, abs=1e-6)
    assert result.about.epsilon_forever == result.about.epsilon_once  # a device answers once
    assert not result.about.memoised
    assert result.about.epochs is not None
    assert (result.about.epochs.first, result.about.epochs.last) == (EPOCH, EPOCH)
    assert sum(row.frequency for row in result.rows) == pytest.approx(1)
    check_against(result, {"false": 0.75, "true": 0.25})


def test_categories_come_by_frequency(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(tmp_path, COLOURS + KRR)
    answer(store, asked, {"value": people(1_000, 16_000, 5_000)}, rng)
    (result,) = estimate(store, asked)
    assert values(result) == ["green", "blue", "red"]
    check_against(result, {"red": 1 / 22, "green": 16 / 22, "blue": 5 / 22})


def test_numbers_keep_their_order(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(tmp_path, NUMBERS + BASIC)
    answer(store, asked, {"value": people(1_000, 500, 9_000, 2_000)}, rng)
    (result,) = estimate(store, asked)
    assert values(result) == ["< 1", "1 to 10", "10 to 100", ">= 100"]
    assert result.about.memoised
    assert result.about.epsilon_forever == pytest.approx(3.0, abs=1e-5)
    check_against(result, {"< 1": 0.08, "1 to 10": 0.04, "10 to 100": 0.72, ">= 100": 0.16})


def test_strings_are_estimated_from_the_candidate_file(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    (tmp_path / "list.txt").write_text("rare\nmiddle\noften\nnever\nrare\n")
    asked = question(tmp_path, STRINGS + BLOOM)
    answer(store, asked, {"value": people(1_000, 4_000, 15_000)}, rng, ["rare", "middle", "often"])
    (result,) = estimate(store, asked, Options(folder=tmp_path))
    assert values(result)[:2] == ["often", "middle"]
    assert any("listed before" in note for note in result.notes)
    check_against(result, {"rare": 0.05, "middle": 0.2, "often": 0.75, "never": 0.0})


def test_candidates_of_the_caller_win(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    (tmp_path / "list.txt").write_text("x\n")
    asked = question(tmp_path, STRINGS + BLOOM)
    answer(store, asked, {"value": people(2_000)}, rng, ["a"])
    (result,) = estimate(store, asked, Options(candidates={"value": ["b", "a"]}, folder=tmp_path))
    assert values(result) == ["a", "b"]


@pytest.mark.parametrize(
    ("domain", "mechanism", "known"),
    [
        (COLOURS, KRR, ["red", "green", "blue"]),
        (COLOURS, BASIC, ["red", "green", "blue"]),
        (BOOLEAN, BASIC, ["false", "true"]),
        (STRINGS, BLOOM, ["a", "b"]),
    ],
)
def test_the_absent_answer_comes_last(
    tmp_path: Path,
    store: SqliteStore,
    rng: np.random.Generator,
    domain: str,
    mechanism: str,
    known: list[str],
) -> None:
    (tmp_path / "list.txt").write_text("a\nb\n")
    asked = question(tmp_path, 'send = "always"\n' + domain + mechanism)
    codes = people(*[1_000] * len(known), 12_000)
    answer(store, asked, {"value": codes}, rng, [*known, ABSENT])
    (result,) = estimate(store, asked, Options(folder=tmp_path))
    assert values(result)[-1] == "(absent)"
    assert sorted(values(result)[:-1]) == sorted(known)
    share = 1_000 / len(codes)
    check_against(result, {**dict.fromkeys(known, share), "(absent)": 12_000 / len(codes)})


def test_a_category_may_be_called_absent(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    domain = 'domain = { type = "categories", values = ["(absent)", "b"] }\n'
    asked = question(tmp_path, 'send = "always"\n' + domain + KRR)
    answer(store, asked, {"value": people(9_000, 1_000, 10)}, rng)
    (result,) = estimate(store, asked)
    assert values(result) == ["(absent)", "b", "(absent)"]
    assert result.rows[0].frequency > 0.5 > result.rows[-1].frequency


def test_several_fields_give_several_results(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(
        tmp_path,
        f'[[questions.fields]]\nname = "colour"\n{COLOURS}{KRR}'
        f'[[questions.fields]]\nname = "on"\n{BOOLEAN}{KRR}',
    )
    answer(store, asked, {"colour": people(8_000, 0, 0), "on": people(0, 8_000)}, rng)
    colour, on = estimate(store, asked)
    assert (colour.about.field, on.about.field) == ("colour", "on")
    check_against(colour, {"red": 1.0, "green": 0.0, "blue": 0.0})
    check_against(on, {"false": 0.0, "true": 1.0})
    assert estimate(store, asked, Options(fields=["on"])) == (on,)


def test_one_epoch_can_be_estimated(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(tmp_path, BOOLEAN + BASIC)
    for epoch in (EPOCH, EPOCH + 1):
        answer(store, asked, {"value": people(500, 500)}, rng, epoch=epoch)
    (both,) = estimate(store, asked)
    (one,) = estimate(store, asked, Options(first_epoch=EPOCH + 1, last_epoch=EPOCH + 1))
    assert (both.about.n, one.about.n) == (2_000, 1_000)
    assert any("does not average out" in note for note in both.notes)
    assert not any("times" in note for note in one.notes)


def test_fresh_noise_in_every_epoch_needs_no_factor(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(tmp_path, 'repeat = "epoch"\n' + BOOLEAN + KRR)
    for epoch in (EPOCH, EPOCH + 1):
        answer(store, asked, {"value": people(500, 500)}, rng, epoch=epoch)
    (result,) = estimate(store, asked)
    assert not any("times" in note for note in result.notes)
    assert result.about.epsilon_forever is None


def test_without_reports_nothing_is_known_and_a_note_says_so(
    tmp_path: Path, store: SqliteStore
) -> None:
    asked = question(tmp_path, COLOURS + KRR)
    (result,) = estimate(store, asked)
    assert result.about.n == 0
    assert result.about.epochs is None
    assert values(result) == ["red", "green", "blue"]
    assert all(math.isnan(row.frequency) and not row.learned for row in result.rows)
    assert result.notes


def test_reports_of_a_changed_question_are_noted(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator
) -> None:
    asked = question(tmp_path, BOOLEAN + KRR)
    changed = replace(asked, epoch=7)
    answer(store, asked, {"value": people(10, 10)}, rng)
    answer(store, changed, {"value": people(3)}, rng)
    (result,) = estimate(store, asked)
    assert result.about.n == 20
    assert any(note.startswith("Not counted: 3 reports") for note in result.notes)


def test_unknown_names_are_refused(tmp_path: Path, store: SqliteStore) -> None:
    asked = question(tmp_path, BOOLEAN + KRR)
    with pytest.raises(InvalidParameter, match="no field 'nope'"):
        estimate(store, asked, Options(fields=["nope"]))
    with pytest.raises(InvalidParameter, match="belong to fields of strings"):
        estimate(store, asked, Options(candidates={"value": ["a"]}))


def test_strings_need_candidates(tmp_path: Path, store: SqliteStore) -> None:
    (tmp_path / "list.txt").write_text("a\n")
    asked = question(tmp_path, STRINGS + BLOOM)
    with pytest.raises(InvalidParameter, match="needs candidates"):
        estimate(store, asked)


def schema() -> Draft202012Validator:
    loaded = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded, format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.mark.parametrize("count", [0, 2_000])
@pytest.mark.parametrize("body", [BOOLEAN + KRR, COLOURS + BASIC, STRINGS + BLOOM])
def test_json_fits_its_schema(
    tmp_path: Path, store: SqliteStore, rng: np.random.Generator, body: str, count: int
) -> None:
    (tmp_path / "list.txt").write_text("a\nb\n")
    asked = question(tmp_path, body)
    if count:
        answer(store, asked, {"value": people(count, count)}, rng, ["a", "b"])
    (result,) = estimate(store, asked, Options(folder=tmp_path))
    for shown in (result, result.with_truth({"a": 0.5, "true": 0.5})):
        read = json.loads(as_json(shown))
        schema().validate(read)
        assert read["rows"][0]["value"] == shown.rows[0].value
        if count:
            assert read["rows"][0]["frequency"] == shown.rows[0].frequency
            assert read["rows"][0]["interval"] == list(shown.rows[0].interval)
        else:
            assert read["rows"][0]["frequency"] is None
            assert read["rows"][0]["interval"] == [None, None]
            assert read["notes"]


@pytest.mark.parametrize(
    "change",
    [
        {"n": -1},
        {"rows": [{"value": "a", "frequency": 0.1, "std_error": 0.1, "interval": [0.1]}]},
        {"rows": [{"value": "a", "frequency": 0.1, "std_error": 0.1}]},
        {"extra": 1},
        {"epochs": {"first": 1}},
        {"level": 95},
    ],
)
def test_the_schema_refuses_what_is_no_result(
    tmp_path: Path, store: SqliteStore, change: dict[str, object]
) -> None:
    (result,) = estimate(store, question(tmp_path, BOOLEAN + KRR))
    good = result.as_json()
    schema().validate(good)
    with pytest.raises(ValidationError):
        schema().validate({**good, **change})

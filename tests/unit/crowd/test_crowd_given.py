"""Own values in: every kind of question, missing cells, and true values in memory alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deniable as dn
from deniable.authoring import read_authored
from deniable.crowd import given_people, read_columns
from deniable.errors import InvalidParameter, StoreError
from deniable.protocol import Question, Survey
from deniable.results.table import Table
from deniable.testing.statistics import accept, mean, reject
from material.commands import call, run
from material.surveys import BOOLEAN, asked, categories, listed, profile, several, survey, unlisted

JANE = "jane.doe@example.org"
COLOURS = categories("red", "green", "blue")
SETS = '{ type = "set", values = ["a", "b", "c"], most = 2 }'
ALWAYS = 'send = "always"\n'
SURVEY = survey(
    asked("dark"),
    asked("page", listed("pages.txt"), "rappor", "epsilon = 4.0"),
    asked("size", '{ type = "numbers", edges = [0, 1, 2] }', "krr", "epsilon = 4.0"),
    asked("tools", SETS, "krr", "epsilon = 4.0"),
    asked("perhaps", COLOURS, "krr", "epsilon = 4.0", more=ALWAYS),
    several("two", ("a", BOOLEAN, "krr", "epsilon = 3.0"), ("b", COLOURS, "krr", "epsilon = 3.0")),
    profile("many", "marg_ps", "epsilon = 3.0, order = 2", ("x", BOOLEAN), ("y", COLOURS)),
    asked("word", unlisted("abcdefgh"), "prefixes", "epsilon = 4.0"),
)
PEOPLE: dict[str, list[Any]] = {
    "dark": ["yes", "no", "TRUE", "0"],
    "page": ["news", "mail", "news", JANE],
    "size": ["0.5", "7", "-1", "1.5"],
    "tools": ["a;b", '["c"]', "a, c", "[]"],
    "perhaps": ["red", "", "blue", "red"],
    "two.a": ["yes", "no", "no", "no"],
    "b": ["red", "", "blue", "green"],
    "x": ["1", "0", "1", "0"],
    "y": ["red", "green", "blue", "red"],
    "word": ["abba", "head", "abba", "beef"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "survey.toml").write_text(SURVEY)
    (tmp_path / "pages.txt").write_text("news\nmail\nmaps\n")
    (tmp_path / "survey.json").write_bytes(ready(tmp_path).published())
    return tmp_path


def ready(folder: Path) -> Survey:
    return read_authored(folder / "survey.toml").require()


def question(folder: Path, name: str) -> Question:
    found = ready(folder).question(name)
    assert found is not None
    return found


def csv_file(folder: Path, columns: dict[str, list[Any]] = PEOPLE) -> Path:
    path = folder / "people.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


TRUTH = {
    "dark": {"value": {"false": 0.5, "true": 0.5}},
    "size": {"value": {">= 2": 0.25}},
    "tools": {"value": {"a": 0.5, "b": 0.25, "c": 0.5}},
    "perhaps": {"value": {"red": 0.5, "green": 0, "blue": 0.25, "(absent)": 0.25}},
    "two": {"a": {"false": 2 / 3, "true": 1 / 3}},
    "many": {"value": {"x=true": 0.5, "y=red": 0.5, "y=blue": 0.25}},
    "word": {"value": {"abba": 0.5, "head": 0.25, "beef": 0.25}},
}


@pytest.mark.parametrize("name", TRUTH)
def test_columns_become_the_true_answers(folder: Path, name: str, rng: np.random.Generator) -> None:
    given = given_people(question(folder, name), read_columns(csv_file(folder)), rng)
    for field, shares in TRUTH[name].items():
        found = given.population.truth(field)
        assert shares.items() <= found.items() or found == pytest.approx(shares)


def test_missing_cells_are_said(folder: Path, rng: np.random.Generator) -> None:
    columns = read_columns(csv_file(folder))
    two = given_people(question(folder, "two"), columns, rng)
    assert two.population.people == 3
    assert two.notes == ("1 of 4 people lack 'b' and send no report.",)
    absent = given_people(question(folder, "perhaps"), columns, rng)
    assert absent.population.people == 4
    assert absent.notes == ("1 of 4 people lack 'perhaps' and count as absent.",)
    with pytest.raises(InvalidParameter, match="Nobody has a value"):
        given_people(question(folder, "dark"), {"dark": ["", None, float("nan")]}, rng)


def test_every_kind_of_frame_is_read_alike(folder: Path) -> None:
    columns = {"dark": ["yes", None], "size": [1.0, 2.0]}
    frames: list[Any] = [columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    found = [dn.randomise(one, folder / "survey.json", seed=5, progress=False) for one in frames]
    assert len({str(one.truth) for one in found}) == 1
    assert all(one["dark"].reports == 1 and one["size"].reports == 2 for one in found)
    assert all("1 of 2 people lack 'dark'" in one.overview().notes[0] for one in found)


def test_three_lines_from_values_to_an_answer_with_the_truth(folder: Path) -> None:
    people = pd.DataFrame({"dark": np.arange(40_000) % 4 == 0, "page": "news"})
    answers = dn.randomise(people, folder / "survey.toml", seed=11, progress=False)
    table = answers["dark"].estimate()
    assert isinstance(table, Table)
    assert table.column("truth") == [0.75, 0.25]
    (no, yes) = table.rows
    accept(mean(yes.frequency, 0.25, yes.std_error))
    reject(mean(yes.frequency, 0.5, yes.std_error), miss=1e-9)  # some 20 standard errors away
    assert no.interval == table.interval[0]
    assert answers["page"].estimate().to_pandas()["truth"].tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"two.a": ["yes"], "b": [JANE]}, "Column 'b' has 1 value outside of the domain"),
        ({"size": ["1", JANE]}, "of people 2"),
        ({"tools": ["a,b,c"]}, "more members"),
        ({"colour": ["red"], "other": [JANE]}, "No question of the survey has all its columns"),
    ],
)
def test_a_bad_value_is_named_by_its_row_alone(
    folder: Path, columns: dict[str, list[Any]], words: str
) -> None:
    with pytest.raises(InvalidParameter, match=words) as caught:
        dn.randomise(columns, folder / "survey.json", progress=False)
    error: BaseException | None = caught.value
    while error is not None:
        assert JANE not in str(error)
        error = error.__cause__ or error.__context__


def test_no_true_value_is_written_or_shown(folder: Path) -> None:
    path = csv_file(folder)
    answers = dn.randomise(path, folder / "survey.json", data=folder / "data", progress=False)
    kept = b"".join(one.read_bytes() for one in (folder / "data").rglob("*") if one.is_file())
    assert JANE.encode() not in kept
    shown = [
        repr(answers),
        str(answers.truth),
        repr(answers["page"].estimate()),
        str(vars(answers)),
    ]
    assert not [text for text in shown if JANE in text]
    told = call("simulate", "page", "--values", path, *_places(folder, "other"))
    assert "news 50.00%, mail 25.00%, maps 0.00%" in told
    assert JANE not in told + call("simulate", "dark", "--values", path, *_places(folder, "o2"))
    told = call("simulate", "word", "--values", path, *_places(folder, "o3"))
    assert "truth of value: no string is listed" in told
    assert "abba" not in told
    population = given_people(question(folder, "page"), read_columns(path), np.random.default_rng())
    assert JANE not in repr(population) + repr(population.population)


def _places(folder: Path, name: str) -> tuple[object, ...]:
    return ("--survey", folder / "survey.json", "--data", folder / name)


def test_no_seed_of_given_people_is_in_the_store(folder: Path) -> None:
    path, place = csv_file(folder), _places(folder, "seeded")
    told = call("simulate", "two", "--values", path, *place, "--seed", 777_123, "--json")
    assert json.loads(told)["notes"] == ["1 of 4 people lack 'b' and send no report."]
    kept = b"".join(one.read_bytes() for one in (folder / "seeded").iterdir())
    assert b"777123" not in kept
    assert "can take the noise off" in call(
        "simulate", "dark", "--values", path, *place, "--seed", 777_123
    )


def test_the_same_people_do_not_count_twice(folder: Path) -> None:
    path, place = csv_file(folder), _places(folder, "twice")
    call("simulate", "dark", "--values", path, *place)
    again = run("simulate", "dark", "--values", path, *place)
    assert isinstance(again.exception, StoreError)
    assert "counted twice" in str(again.exception)
    crowd = run("simulate", "dark", "--values", path, "--people", 5, *_places(folder, "x"))
    assert "--values says who the people are" in str(crowd.exception)


def test_a_temporary_place_lives_as_long_as_its_data(folder: Path) -> None:
    answers = dn.randomise({"dark": [True, False]}, folder / "survey.json", progress=False)
    place = Path(answers.place)
    assert answers["dark"].reports == 2
    assert place.is_dir()
    del answers
    assert not place.exists()


def test_a_seed_makes_the_same_reports_again(folder: Path) -> None:
    people = {"dark": [True] * 50}
    shares = [
        dn.randomise(people, folder / "survey.json", seed=seed, progress=False)["dark"]
        .estimate()
        .to_pandas()["frequency"]
        .tolist()
        for seed in (1, 1, None, None)
    ]
    assert shares[0] == shares[1]
    with pytest.raises(InvalidParameter, match="The seed must be an integer"):
        dn.randomise(people, folder / "survey.json", seed="now")  # type: ignore[arg-type]


def test_numbers_of_a_frame_are_booleans_and_names(folder: Path) -> None:
    text = survey(asked("dark"), asked("rooms", categories("1", "2"), "krr", "epsilon = 1.0"))
    (folder / "survey.toml").write_text(text)
    people = pd.DataFrame({"dark": [0, 1.0, None], "rooms": [1, 2, 2]})
    answers = dn.randomise(people, folder / "survey.toml", progress=False)
    assert answers.truth["dark"]["value"] == {"false": 0.5, "true": 0.5}
    assert answers.truth["rooms"]["value"] == {"1": 1 / 3, "2": 2 / 3}
    with pytest.raises(InvalidParameter, match="1 value outside"):
        dn.randomise({"dark": [2], "rooms": [1]}, folder / "survey.toml", progress=False)


SEGMENTS = """
name = "S"
owner = "us"
people = 1000000
[[segments]]
name = "platform"
values = ["linux", "mac"]
[[questions]]
id = "dark"
description = "d"
expires = 2099-12-31
repeat = "epoch"
segments = ["platform"]
domain = "boolean"
mechanism = "krr"
parameters = { epsilon = 1.0 }
"""


def test_a_column_says_the_segment(tmp_path: Path) -> None:
    (tmp_path / "survey.toml").write_text(SEGMENTS)
    people = {"dark": [True] * 900, "platform": ["linux"] * 400 + ["bsd"] * 500}
    data = dn.randomise(people, tmp_path / "survey.toml", progress=False)
    table = data["dark"].estimate(by="platform")
    sizes = table.to_pandas().groupby("platform")["n"].first()
    assert sizes.to_dict() == {"linux": 400, "(other)": 500}
    drawn = dn.randomise({"dark": [True] * 900}, tmp_path / "survey.toml", progress=False)
    assert "drawn into them by the survey's shares" in drawn.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "name each column once|at least one"),
        ("a,a\n1,2\n", "name each column once"),
        ("a,b\n1\n", "Line 2 has another number"),
        ("a\n", "There are no people"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "people.csv").write_text(text)
    with pytest.raises(InvalidParameter, match=words):
        read_columns(tmp_path / "people.csv")
    with pytest.raises(InvalidParameter, match="cannot be read: No such file"):
        read_columns(tmp_path / "none.csv")
    with pytest.raises(InvalidParameter, match="must be a CSV file"):
        read_columns(3)

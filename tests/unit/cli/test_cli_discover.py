"""deniable discover: from a list to a model, and from reports to strings nobody listed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import make_app
from deniable.errors import InvalidParameter
from deniable.protocol.coding_model import CharacterModel
from material.commands import call

SURVEY = """name = "n"
owner = "o"
people = 20000
[[questions]]
id = "word"
description = "Which word?"
expires = 2099-01-01
domain = {{ type = "strings", alphabet = "abcdefgh", length = 6{outside} }}
mechanism = "prefixes"
parameters = {{ epsilon = 5.0, cohorts = 4{model} }}
"""


def prepare(folder: Path, outside: str = "", model: str = "") -> list[object]:
    """Publish, simulate, and return where everything is."""
    (folder / "survey.toml").write_text(SURVEY.format(outside=outside, model=model))
    (folder / "words.txt").write_text("abba\nabbaca\nhead\nfade\n")
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")
    places: list[object] = ["--survey", folder / "survey.json", "--data", folder / "data"]
    crowd = ["--people", 20_000, "--seed", 1, "--candidates", folder / "words.txt"]
    call("simulate", "word", *crowd, *places)
    return places


def test_strings_are_found_again_and_again(tmp_path: Path) -> None:
    places = prepare(tmp_path)
    first = call("discover", "word", "--beam", 50, "--json", *places)
    data = json.loads(first)
    assert [row["value"] for row in data["rows"] if row["holm"]] == [
        "abba",
        "abbaca",
        "head",
        "fade",
    ]
    assert call("discover", "word", "--beam", 50, "--json", *places) == first
    text = call("discover", "word", "--beam", 50, "-o", tmp_path / "out" / "w.csv", *places)
    assert "Detection limit" in text
    assert "abbaca" in (tmp_path / "out" / "w.csv").read_text()


def test_a_second_bar_for_crafted_reports(tmp_path: Path) -> None:
    places = prepare(tmp_path)
    wanted = ["discover", "word", "--beam", 50, "--crafted", 0.01]
    data = json.loads(call(*wanted, "--json", "-o", tmp_path / "w.csv", *places))
    assert data["crafted"] == 0.01
    assert len(data["rows"]) >= 4
    for row in data["rows"]:
        low, high = row["crafted_interval"]
        assert low < row["interval"][0] < row["interval"][1] < high
    assert "shares of what was found" in data["notes"][-1]
    assert "with 0.01 crafted" in call(*wanted, *places)
    header, first, *_ = csv.reader((tmp_path / "w.csv").read_text().splitlines())
    assert float(first[header.index("crafted_low")]) < float(first[header.index("low")])


def test_a_trained_model_is_used(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("bad\nabbc\nheaded\ncafe\nface\nbeef\n")
    trained = ["train", tmp_path / "list.txt", "-o", tmp_path / "m.model"]
    told = json.loads(call("discover", *trained, "--alphabet", "abcdefgh", "--length", 6, "--json"))
    assert told["lines"] == 6
    model = CharacterModel.from_bytes((tmp_path / "m.model").read_bytes())
    assert model.letters == "abcdefgh"
    assert told["bytes"] == len(model.to_bytes())
    places = prepare(tmp_path, model=', model = "m.model"')
    data = json.loads(call("discover", "word", "--beam", 50, "--json", *places))
    assert [row["value"] for row in data["rows"] if row["holm"]] == [
        "abba",
        "abbaca",
        "head",
        "fade",
    ]


def test_what_is_outside_is_escaped(tmp_path: Path) -> None:
    prepare(tmp_path, outside=', outside = "escape"')
    (tmp_path / "odd.txt").write_text("xyz\nxyw\nabbacabba\n")
    places: list[object] = ["--survey", tmp_path / "survey.json", "--data", tmp_path / "odd"]
    crowd = ["--people", 20_000, "--seed", 1, "--candidates", tmp_path / "odd.txt"]
    truth = json.loads(call("simulate", "word", *crowd, "--json", *places))["truth"]["value"]
    assert truth.keys() == {"\ufffd\ufffd\ufffd", "abbaca"}
    data = json.loads(call("discover", "word", "--beam", 50, "--json", *places))
    assert {row["value"] for row in data["rows"] if row["holm"]} == truth.keys()


def test_a_model_from_the_lists_own_letters(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("only-this-line\n")
    text = call("discover", "train", tmp_path / "list.txt", "-o", tmp_path / "m")
    assert "1 lines" in text
    assert CharacterModel.from_bytes((tmp_path / "m").read_bytes()).letters == "-ehilnosty"


@pytest.mark.parametrize(
    "arguments",
    [
        ["train"],
        ["train", "list.txt"],
        ["train", "list.txt", "-o", "a", "-o", "b"],
        ["train", "list.txt", "-o", "a", "--outside", "drop"],
        ["word", "list.txt"],
        ["word", "--crafted", "1.5"],
        ["word", "--crafted", "nobody"],
        ["train", "list.txt", "-o", "a", "--crafted", "0.01"],
    ],
)
def test_wrong_usage(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.txt").write_text("abc\n")
    assert CliRunner().invoke(make_app(["discover"]), ["discover", *arguments]).exit_code == 2


def test_an_alphabet_of_one_letter(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("aaa\n")
    with pytest.raises(InvalidParameter, match="2 to 4,096"):
        call("discover", "train", tmp_path / "list.txt", "-o", tmp_path / "m")

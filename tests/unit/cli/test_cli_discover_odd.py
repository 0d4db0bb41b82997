"""Odd strings and odd questions, from the command line: what is refused, changed, or just works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import InvalidAnswer, InvalidParameter, InvalidSurvey
from material.commands import call

SURVEY = """name = "n"
owner = "o"
people = {people}
[[questions]]
id = "word"
description = "Which word?"
expires = 2099-01-01
domain = {{ type = "strings", alphabet = "{alphabet}", length = 6{outside} }}
mechanism = "{mechanism}"
parameters = {{ epsilon = 6.0, cohorts = 8{more} }}
"""
BOTH = pytest.mark.parametrize("mechanism", ["prefixes", "ngrams"])


class Project:
    """A folder with a published question and a crowd that answers it."""

    def __init__(self, folder: Path, mechanism: str, **changes: Any) -> None:
        self.folder = folder
        named = {"people": 20_000, "alphabet": "abcdefgh", "outside": "", "more": "", **changes}
        (folder / "survey.toml").write_text(SURVEY.format(mechanism=mechanism, **named), "utf-8")
        call("publish", folder / "survey.toml", "--output", folder / "survey.json")

    @property
    def places(self) -> list[object]:
        return ["--survey", self.folder / "survey.json", "--data", self.folder / "data"]

    def simulate(self, *strings: str, json: bool = True, seed: int = 2) -> str:
        (self.folder / "words.txt").write_text("\n".join(strings), "utf-8")
        crowd: list[object] = ["--people", 20_000, "--seed", seed]
        crowd += ["--candidates", self.folder / "words.txt", *(["--json"] if json else [])]
        return call("simulate", "word", *crowd, *self.places)

    def found(self, *options: object) -> dict[str, Any]:
        """Return the JSON; its rows are those of Holm."""
        told: dict[str, Any] = json.loads(
            call("discover", "word", "--json", *options, *self.places)
        )
        return told


def only(told: dict[str, Any], *words: str) -> bool:
    """Tell whether these strings were found, and at most two false ones, rare under Holm."""
    strings = {row["value"] for row in told["rows"] if row["holm"]}
    return strings >= set(words) and len(strings) <= len(words) + 2


@BOTH
def test_characters_outside_are_refused(tmp_path: Path, mechanism: str) -> None:
    project = Project(tmp_path, mechanism)
    with pytest.raises(InvalidAnswer, match="outside of the alphabet"):
        project.simulate("abba", "xyz")
    with pytest.raises(InvalidAnswer, match="outside of the alphabet") as caught:
        call("encode", "word", "xyz", "--survey", tmp_path / "survey.json")
    assert "xyz" not in str(caught.value)


@BOTH
def test_characters_outside_are_escaped_and_long_strings_cut(
    tmp_path: Path, mechanism: str
) -> None:
    project = Project(tmp_path, mechanism, outside=', outside = "escape"')
    truth = json.loads(project.simulate("xyz", "abba", "abbacabbac", "abz"))
    assert truth["fitted"] == {"value": 3}
    assert only(project.found(), "\ufffd\ufffd\ufffd", "abba", "abbaca", "ab\ufffd")
    assert "3 of 4 listed strings of value were cut off" in project.simulate(
        "xyz", "abba", "abbacabbac", "abz", json=False, seed=3
    )


@BOTH
def test_what_fits_is_not_counted(tmp_path: Path, mechanism: str) -> None:
    assert "fitted" not in json.loads(Project(tmp_path, mechanism).simulate("abba", "head"))


@BOTH
def test_the_empty_string_is_an_answer(tmp_path: Path, mechanism: str) -> None:
    """A file of candidates cannot hold it, but a device can report it."""
    Project(tmp_path, mechanism)
    empty, full = (
        json.loads(call("encode", "word", text, "--json", "--survey", tmp_path / "survey.json"))
        for text in ("", "abba")
    )
    assert len(empty["record"]) == len(full["record"])


@BOTH
@pytest.mark.parametrize("alphabet", ["a", ""])
def test_an_alphabet_of_one_letter_or_none(tmp_path: Path, mechanism: str, alphabet: str) -> None:
    with pytest.raises(InvalidSurvey, match="alphabet"):
        Project(tmp_path, mechanism, alphabet=alphabet)


@BOTH
@pytest.mark.parametrize(
    ("alphabet", "words"),
    [
        ("ab", ["a", "bbbbbb", "ab"]),
        ("äöü🙂日本", ["日本", "🙂🙂🙂🙂🙂", "äö"]),
    ],
)
def test_small_and_foreign_alphabets(
    tmp_path: Path, mechanism: str, alphabet: str, words: list[str]
) -> None:
    project = Project(tmp_path, mechanism, alphabet=alphabet)
    project.simulate(*words)
    assert only(project.found(), *words)


def test_letters_of_two_code_points_are_the_same_as_of_one(tmp_path: Path) -> None:
    project = Project(tmp_path, "prefixes", alphabet="abcé")
    project.simulate("abe\u0301", "cab")
    assert only(project.found(), "abé", "cab")


def test_a_model_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "line.txt").write_text("a\n")
    model = tmp_path / "one.model"
    training = ["train", tmp_path / "line.txt", "-o", model, "--alphabet", "abcdefgh"]
    call("discover", *training, "--length", 6)
    project = Project(tmp_path, "prefixes", more=', model = "one.model"')
    project.simulate("abba", "head")
    assert only(project.found(), "abba", "head")


def test_training_says_how_many_lines_were_changed_or_left_out(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("abba\nabbacabba\nxyz\nhead\n")
    training = ["train", tmp_path / "list.txt", "-o", tmp_path / "m", "--alphabet", "abcdefgh"]
    told = json.loads(call("discover", *training, "--length", 6, "--json"))
    assert (told["lines"], told["fitted"], told["refused"]) == (4, 1, 1)
    text = call("discover", *training, "--length", 6)
    assert "1 lines were cut off or escaped; 1 were left out" in text
    with pytest.raises(InvalidParameter, match="at least one line"):
        call("discover", *training[:4], "--alphabet", "qv", "--length", 6)


def test_more_levels_than_people(tmp_path: Path) -> None:
    with pytest.raises(InvalidSurvey, match="3 people into 4 groups"):
        Project(tmp_path, "prefixes", people=3, more=", lengths = [2, 4, 6]")


def test_a_threshold_of_zero_ends(tmp_path: Path) -> None:
    project = Project(tmp_path, "ngrams", alphabet="ab")
    project.simulate("a", "bbbbbb", "ab", "babab", "aaaa")
    told = project.found("--threshold", 0)
    assert {row["value"] for row in told["rows"] if row["holm"]} >= {"a", "bbbbbb", "ab"}
    assert 5 < told["tested"] <= 2_000

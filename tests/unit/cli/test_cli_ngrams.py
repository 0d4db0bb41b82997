"""deniable discover of n-grams: published, simulated, found; filters and thresholds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable.errors import InvalidParameter
from material.commands import call
from material.surveys import asked, survey, unlisted

SURVEY = survey(
    asked(
        "word", unlisted(" abcdefgh"), "ngrams", "epsilon = 6.0, m = 16, whole = 0.4", "Which word?"
    )
)
WORDS = ["abba", "a head", "fade"]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    folder: Path = tmp_path_factory.mktemp("ngrams")
    (folder / "survey.toml").write_text(SURVEY)
    (folder / "words.txt").write_text("\n".join(WORDS))
    call("publish", folder / "survey.toml", "--output", folder / "survey.json")
    where: list[object] = ["--survey", folder / "survey.json", "--data", folder / "data"]
    crowd = ["--people", 20_000, "--seed", 1, "--candidates", folder / "words.txt"]
    call("simulate", "word", *crowd, *where)
    return where


def found(*options: object) -> list[str]:
    data = json.loads(call("discover", "word", "--json", *options))
    return [row["value"] for row in data["rows"] if row["holm"]]


def test_strings_are_found(places: list[object]) -> None:
    assert found(*places) == WORDS
    assert "Common n-grams per place" in call("discover", "word", *places)


def test_filters(places: list[object]) -> None:
    assert found("--no-inner-spaces", *places) == ["abba", "fade"]
    assert found("--matching", "f.*|a .*", *places) == ["a head", "fade"]


def test_thresholds(places: list[object]) -> None:
    assert found("--threshold", 0, *places) == WORDS
    assert found("--threshold", 1000, *places) == []


def test_a_broken_regular_expression(places: list[object]) -> None:
    with pytest.raises(InvalidParameter, match="regular expression"):
        call("discover", "word", "--matching", "(", *places)

"""The search for k, h and m, and for the split between n-grams and the whole string."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from deniable.authoring.survey import read_authored
from deniable.errors import InvalidParameter
from deniable.plan import Setting, of_categories, of_strings
from deniable.plan.shapes import PEOPLE_OF_A_COHORT, search_shapes
from deniable.protocol import Strings
from material.commands import call

SURVEY = """
name = "shapes"
owner = "Team"
people = {people}
[[questions]]
id = "name"
expires = 2027-12-31
description = "Which one?"
domain = {{ type = "strings", candidates = "names.txt" }}
mechanism = "rappor"
parameters = {{ epsilon = 1.0, {letters}{more} }}
"""
LISTED = Setting(1_000_000, 1.0, Strings(), listed=1_000)


def test_no_shape_shown_is_beaten_by_a_shorter_one() -> None:
    found = search_shapes(LISTED)
    assert {shape.prediction.mechanism for shape in found} == {"rappor", "orr"}
    limits = [shape.prediction.smallest for shape in found]
    assert limits == sorted(limits)
    bloom = [shape for shape in found if shape.prediction.mechanism == "rappor"]
    for better, worse in pairwise(bloom):
        assert better.prediction.size > worse.prediction.size
    for shape in bloom:
        k, h, m = (shape.letters[name] for name in "khm")
        assert h == 1  # at equal epsilon one hash function is best
        assert k * m >= 2_000
        assert m <= 1_000_000 / PEOPLE_OF_A_COHORT


def test_few_people_have_few_cohorts_and_a_permanent_stage_is_kept() -> None:
    few = Setting(5_000, 1.0, Strings(), 4.0, listed=100)
    for shape in search_shapes(few):
        assert shape.letters["m"] <= 5
        assert shape.prediction.forever is not None


def test_no_shape_shown_is_one_that_a_check_warns_of(tmp_path: Path) -> None:
    for people, listed, forever in ((100, 10, None), (100_000, 1_000, 4.0), (5_000, 1, 2.0)):
        (tmp_path / "names.txt").write_text("\n".join(f"name {i}" for i in range(listed)))
        shapes = search_shapes(Setting(people, 1.0, Strings(), forever, listed=listed), "rappor")
        for shape in shapes:
            letters = ", ".join(f"{name} = {value}" for name, value in shape.letters.items())
            more = "" if forever is None else f", epsilon_forever = {forever}"
            source = SURVEY.format(letters=letters, people=people, more=more)
            (tmp_path / "survey.toml").write_text(source)
            warned = [one.message for one in read_authored(tmp_path / "survey.toml").warnings]
            # Of one cohort, where so few people have no more of them.
            assert not [text for text in warned if text.startswith("k = ")], letters
            assert not [text for text in warned if text.startswith("about")], letters
            assert shape.prediction.learned <= listed


def test_a_permanent_response_of_few_people_still_has_shapes_for_a_long_list() -> None:
    assert search_shapes(Setting(100_000, 1.0, Strings(), 3.0, listed=100_000), "rappor")


def test_shapes_are_drawn(tmp_path: Path) -> None:
    wanted = ["plan", "--strings", "--people", 100_000, "--epsilon", 4, "--search"]
    for name, more in {"listed": ["--candidates", 500], "split": ["--length", 4]}.items():
        picture = tmp_path / f"{name}.svg"
        call(*wanted, *more, "-o", picture)
        assert "smallest share that is seen" in picture.read_text(encoding="utf-8")


def test_the_split_of_ngrams() -> None:
    unlisted = Setting(200_000, 5.0, of_strings("abcd", 4))
    found = search_shapes(unlisted, "ngrams")
    assert {shape.letters["whole"] for shape in found} == {0.2, 0.33, 0.5, 0.67, 0.8}
    assert found[0].prediction.smallest <= found[-1].prediction.smallest


def test_what_cannot_be_searched() -> None:
    with pytest.raises(InvalidParameter, match="Only strings"):
        search_shapes(Setting(1_000, 1.0, of_categories(10)))
    with pytest.raises(InvalidParameter, match="no shape of 'ngrams'"):
        search_shapes(LISTED, "ngrams")
    with pytest.raises(InvalidParameter, match="--search goes with --strings"):
        call("plan", "--yes-no", "--people", 1_000, "--epsilon", 1, "--search")


def test_the_command() -> None:
    wanted = ["plan", "--strings", "--candidates", 500, "--people", 100_000, "--epsilon", 2]
    read = json.loads(call(*wanted, "--search", "--mechanism", "rappor", "--json"))
    assert read["rows"][0]["parameters"].startswith("k = ")
    assert "smallest" in call(*wanted, "--search")


def test_a_list_that_is_screened_gets_no_more_symbols_than_it_needs() -> None:
    """To fit 2,000 strings at once O-RR would need 48 symbols, at twice the detection limit."""
    (best,) = search_shapes(Setting(200_000, 1.0, Strings(), listed=2_000), "orr")
    assert best.letters["symbols"] == 12
    assert best.prediction.assumes

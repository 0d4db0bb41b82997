"""The search for k, h and m, and for the split between n-grams and the whole string."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from deniable.errors import InvalidParameter
from deniable.plan import Setting, of_categories, of_strings
from deniable.plan.shapes import PEOPLE_OF_A_COHORT, search_shapes
from deniable.protocol import Strings
from material.commands import call

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

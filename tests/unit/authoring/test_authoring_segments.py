"""Segments, levels and shares in survey.toml: what is read, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from deniable.authoring.segments import clear_cells
from deniable.protocol import Survey, thresholds
from material.segmented import PEOPLE, SURVEY, authored, published

BLOOM = 'mechanism = "rappor"\nparameters = { k = 64, h = 2, m = 16, f = 0.5, p = 0.5, q = 0.75 }'


def _messages(folder: Path, *changes: tuple[str, str]) -> str:
    text = SURVEY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return "\n".join(map(str, authored(folder, text).problems))


def test_the_people_of_each_clear_cell_add_up(tmp_path: Path) -> None:
    survey = published(tmp_path)
    for name in ("dark", "colour"):
        asked = survey.question(name)
        assert asked is not None
        cells = list(clear_cells(survey.levels(asked), PEOPLE))
        assert len(cells) == 8
        assert sum(cell.people * cell.number for cell in cells) == pytest.approx(PEOPLE)
    least = min(cells, key=lambda cell: cell.people)
    assert least.people == pytest.approx(PEOPLE * 0.1 * 0.25)
    assert least.words() == "platform (other), level strict"


def test_too_few_people_in_a_clear_cell_are_refused(tmp_path: Path) -> None:
    # The smallest cell of 'colour' has a fortieth of all: 1,000 of 40,000, ten times the floor.
    few = (f"people = {PEOPLE}", "people = 39_999")
    assert "platform (other), level strict" in _messages(tmp_path, few)
    refused = authored(tmp_path, SURVEY.replace(*few))
    assert refused.survey is None
    assert min(cells.people for cells in refused.cells) == pytest.approx(39_999 / 40)
    assert _messages(tmp_path, (few[0], "people = 40_000")) == ""
    assert _messages(tmp_path, (few[0], "people = 39_999\nfloor = 99")) == ""


def test_cohorts_and_devices_that_are_not_asked_make_cells_smaller(tmp_path: Path) -> None:
    krr = 'domain = "boolean"\nmechanism = "krr"\nparameters = { epsilon = 1.0 }'
    people = (f"people = {PEOPLE}", "people = 100_000")
    assert _messages(tmp_path, people) == ""
    strings = (krr, f'domain = "strings"\n{BLOOM}')
    assert "in each of 16 cohorts with" in _messages(tmp_path, people, strings)
    assert "1,000 (10 times the floor)" in _messages(tmp_path, people, (krr, f"{krr}\nasked = 0.1"))


def test_a_survey_with_segments_or_levels_says_how_many_people(tmp_path: Path) -> None:
    assert "must say how many people" in _messages(tmp_path, (f"people = {PEOPLE}", ""))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('values = ["beta"]', 'values = ["(other)"]', "must match"),
        ('values = ["beta"]', "values = []", "1 to 63"),
        ('name = "channel"', 'name = "platform"', "same name"),
        ("shares = [0.2, 0.3, 0.4]", "shares = [0.2, 0.3]", "one for each"),
        ("shares = [0.2, 0.3, 0.4]", "shares = [0.5, 0.5, 0.5]", "add up"),
        ("shares = [0.2, 0.3, 0.4]", "share = [0.2]", "unknown key"),
        ('segments = ["platform"]', 'segments = ["nope"]', "declared by the survey"),
        ('segments = ["platform"]', 'segments = "platform"', "1 to 3 names"),
        ("share = 0.25", "share = 0.5", "add up to 1"),
        ("share = 0.25\n", "", "add up to 1"),
        ('name = "open"', 'name = "strict"', "same name"),
        ('name = "open"', 'name = "Open"', "must match"),
        ("epsilon = 0.5", "epsilon = 0", "greater than 0"),
        ("epsilon = 0.5", "", "missing"),
        (
            'mechanism = "krr"\n\n[[q',
            'mechanism = "krr"\nparameters = { epsilon = 1.0 }\n\n[[q',
            "bel",
        ),
        ('id = "plain"', 'id = "plain"\nasked = 0', "asked"),
        ('id = "plain"', 'id = "plain"\nasked = 1.5', "asked"),
        ('name = "Segments"', 'name = "Segments"\nkeep_counts = 1', "true or false"),
        ('name = "Segments"', 'name = "Segments"\nretention_days = 0', "from 1 to 36,525"),
        ('name = "Segments"', 'name = "Segments"\nfloor = 0', "from 1"),
        ('id = "plain"', 'id = "plain"\nretention_days = 0', "from 1 to 36,525"),
        ('id = "plain"', 'id = "plain"\nretention_days = "30"', "from 1 to 36,525"),
        ('id = "plain"', 'id = "plain"\nkeep_counts = 0', "true or false"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert words in _messages(tmp_path, (old, new))


def test_too_many_combinations(tmp_path: Path) -> None:
    values = ", ".join(f'"v{i}"' for i in range(16))
    wide = ('values = ["beta"]', f"values = [{values}]")
    assert "from 1 to 64" in _messages(tmp_path, wide)  # 4 x 17


def test_numbers_of_the_survey_are_published(tmp_path: Path) -> None:
    more = 'name = "Segments"\nfloor = 50\nretention_days = 400\nkeep_counts = true'
    survey = published(tmp_path, SURVEY.replace('name = "Segments"', more))
    assert (survey.people, survey.floor) == (PEOPLE, 50)
    assert (survey.retention_days, survey.keep_counts) == (400, 1)
    assert published(tmp_path).keep_counts is None


def test_the_retention_of_a_question_is_published_at_each_level(tmp_path: Path) -> None:
    plain = published(tmp_path)
    text = SURVEY.replace("[[questions]]", "[[questions]]\nretention_days = 7\nkeep_counts = false")
    survey = published(tmp_path, text)
    assert {(q.retention_days, q.keep_counts) for q in survey.questions} == {(7, 0)}
    assert [q.digest for q in survey.questions] == [q.digest for q in plain.questions]
    assert Survey.from_published(survey.published()) == survey
    assert published(tmp_path).published() == plain.published()


def test_the_threshold_of_a_share_is_exact(tmp_path: Path) -> None:
    survey = published(tmp_path, SURVEY.replace('id = "plain"', 'id = "plain"\nasked = 0.1'))
    asked = survey.question("plain")
    assert asked is not None
    assert asked.asked == thresholds.ceil_threshold(Fraction(1, 10))
    assert (
        published(tmp_path, SURVEY.replace('"plain"', '"plain"\nasked = 1')).known[-1].asked is None
    )


def test_fields_share_the_epsilon_of_a_level(tmp_path: Path) -> None:
    fields = "".join(
        f'\n[[questions.fields]]\nname = "{name}"\ndomain = "boolean"\nmechanism = "krr"\n'
        for name in ("one", "two")
    )
    domain = (
        'domain = { type = "categories", values = ["red", "green", "blue"] }\nmechanism = "krr"\n'
    )
    survey = published(tmp_path, SURVEY.replace(domain, fields))
    levels = [q for q in survey.questions if q.id == "colour"]
    assert [q.epsilon_once for q in levels] == [500_000, 2_000_000]
    assert [len(q.fields) for q in levels] == [2, 2]

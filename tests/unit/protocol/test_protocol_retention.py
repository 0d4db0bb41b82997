"""How long reports stay: a question's own number, its format, and what publishing refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from deniable.authoring import resolve
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import Boolean, Field, Question, Survey
from deniable.protocol.publication import publication
from deniable.protocol.retention import Keeping, keeping_of

TODAY = date(2026, 1, 1)


def question(name: str = "dark", version: int = 1, **changes: object) -> Question:
    krr = resolve("krr", {"epsilon": 1.0}, Boolean(), False)
    field = Field("value", Boolean(), krr)
    day = date(2099, 1, 1)
    made = Question(name, version, "?", "us", day, 1, "once", "recorded", (field,))
    return replace(made, **changes)


def survey(*questions: Question, **changes: object) -> Survey:
    return replace(Survey("s", "us", questions), **changes)


@pytest.mark.parametrize(
    ("own", "whole", "kept"),
    [
        ({}, {}, Keeping()),
        ({}, {"retention_days": 30}, Keeping(30)),
        ({}, {"retention_days": 30, "keep_counts": 1}, Keeping(30, counts=True)),
        ({"retention_days": 7}, {"retention_days": 30}, Keeping(7)),
        ({"retention_days": 90}, {"retention_days": 30}, Keeping(90)),
        ({"retention_days": 90}, {}, Keeping(90)),
        ({"keep_counts": 0}, {"retention_days": 30, "keep_counts": 1}, Keeping(30)),
        ({"keep_counts": 1}, {"retention_days": 30}, Keeping(30, counts=True)),
        ({"keep_counts": 1}, {}, Keeping()),
    ],
)
def test_a_question_has_its_own_or_else_the_surveys(
    own: dict[str, int], whole: dict[str, int], kept: Keeping
) -> None:
    asked = question(**own)
    made = survey(asked, **whole)
    assert keeping_of(made, asked) == kept
    text = made.published()
    assert json.loads(text)["deniable"] == (2 if own else 1)
    assert Survey.from_published(text) == made
    assert asked.digest == question().digest  # no bit of a report depends on it


@pytest.mark.parametrize(
    ("one", "other", "longer"),
    [
        (Keeping(), Keeping(), False),
        (Keeping(30), Keeping(), False),
        (Keeping(), Keeping(30), True),
        (Keeping(30), Keeping(30), False),
        (Keeping(29), Keeping(30), False),
        (Keeping(31), Keeping(30), True),
        (Keeping(30, counts=True), Keeping(30), True),
        (Keeping(7, counts=True), Keeping(30), True),
        (Keeping(7, counts=True), Keeping(), False),
        (Keeping(30), Keeping(30, counts=True), False),
    ],
)
def test_what_stays_longer(one: Keeping, other: Keeping, longer: bool) -> None:
    assert one.exceeds(other) == longer


def test_an_earlier_question_alone_makes_the_second_format() -> None:
    made = survey(question(version=2), earlier=(question(retention_days=30),))
    assert json.loads(made.published())["deniable"] == 2
    assert Survey.from_published(made.published()) == made


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"deniable":2', '"deniable":1', "exactly"),
        ('"deniable":2', '"deniable":3', "upgrade deniable"),
        ('"retention_days":30', '"retention_days":0', "'retention_days' parameter of a question"),
        ('"retention_days":30', '"retention_days":36526', "from 1 to 36525"),
        ('"retention_days":30', '"retention_days":"30"', "'retention_days'"),
        ('"retention_days":30', '"keep_counts":2', "'keep_counts' parameter of a question"),
        ('"retention_days":30,', "", "upgrade deniable"),
    ],
)
def test_what_is_refused(old: str, new: str, words: str) -> None:
    text = survey(question(retention_days=30)).published().decode()
    assert old in text
    with pytest.raises(InvalidSurvey, match=words):
        Survey.from_published(text.replace(old, new, 1).encode())


@pytest.mark.parametrize(
    ("own", "whole"),
    [
        ({"retention_days": 31}, {"retention_days": 30}),
        ({}, {"retention_days": 31}),
        ({}, {}),
        ({"keep_counts": 1}, {"retention_days": 30}),
    ],
)
def test_reports_to_a_version_stay_no_longer_than_people_were_told(
    own: dict[str, int], whole: dict[str, int]
) -> None:
    before = survey(question(), retention_days=30)
    with pytest.raises(InvalidParameter, match="on that promise") as caught:
        publication(before, survey(question(**own), **whole), TODAY)
    assert "Raise its version" in caught.value.fix
    raised = survey(question(version=2, **own), **whole)
    made = publication(before, raised, TODAY).survey
    # The new version has the new number; what was collected before keeps its own.
    assert keeping_of(made, made.questions[0]) == keeping_of(raised, raised.questions[0])
    assert keeping_of(made, made.earlier[0]) == Keeping(30)
    assert publication(made, raised, TODAY).survey == made


def test_a_shorter_retention_holds_for_what_was_collected_before() -> None:
    old, new = question("old"), question()
    before = survey(old, new, retention_days=30, keep_counts=1)
    made = publication(before, survey(replace(new, retention_days=7), retention_days=20), TODAY)
    assert {q.id: keeping_of(made.survey, q) for q in made.survey.known} == {
        "dark": Keeping(7),
        "old": Keeping(20),
    }
    assert made.survey.earlier == (old,)
    edited = [change.words for change in made.changes if change.kind == "edited"]
    assert edited == [
        "Reports are deleted 7 days after the end of their epoch, and refused from then on; "
        "their counts go with them. That "
        "holds for those collected before, too."
    ]


def test_a_withdrawn_question_keeps_its_own_number() -> None:
    before = survey(question("old", retention_days=7), question(), retention_days=30)
    made = publication(before, survey(question(), retention_days=30), TODAY).survey
    assert made.earlier == (question("old", retention_days=7),)


def test_forgetting_says_that_no_retention_reaches_its_reports() -> None:
    before = survey(question(version=2), earlier=(question(),), retention_days=30)
    ready = survey(question(version=2), retention_days=30)
    made = publication(before, ready, TODAY, forget=[("dark", 1)])
    assert "deniable delete dark --version 1" in made.changes[0].words

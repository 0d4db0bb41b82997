"""Segments in survey.json and in reports: one spelling, one numbering, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deniable.errors import InvalidParameter, InvalidReport, InvalidSurvey
from deniable.protocol import Question, Report, Survey
from deniable.protocol.publication import publication
from deniable.protocol.segments import (
    NO_COMBINATION,
    Segment,
    combinations,
    numbering,
    own_combination,
    small_combination,
)
from material.clients import START
from material.segmented import published

PLATFORM = Segment("platform", ("linux", "mac"))
CHANNEL = Segment("channel", ("beta",))


@pytest.fixture
def survey(tmp_path: Path) -> Survey:
    return published(tmp_path)


def _asked(survey: Survey, name: str, level: str | None = None) -> Question:
    found = survey.question(name, level=level)
    assert found is not None
    return found


def test_a_survey_with_segments_and_levels_reads_back(survey: Survey) -> None:
    again = Survey.from_published(survey.published())
    assert again == survey
    assert [s.name for s in _asked(again, "dark").segments] == ["platform", "channel"]
    assert [q.level for q in survey.levels(_asked(survey, "colour"))] == ["strict", "open"]
    assert survey.people == 1_000_000


def test_combinations_are_numbered_by_the_order_of_the_survey() -> None:
    texts = combinations((PLATFORM, CHANNEL))
    assert texts[0] == '{"channel":"beta","platform":"linux"}'
    assert texts[1] == '{"channel":"(other)","platform":"linux"}'
    assert texts[-1] == '{"channel":"(other)","platform":"(other)"}'
    assert len(texts) == len(set(texts)) == 6 < NO_COMBINATION


def test_a_question_without_segments_has_one_empty_combination(survey: Survey) -> None:
    assert _asked(survey, "plain").combinations == ("",)


def test_what_is_not_declared_is_other() -> None:
    told = {"platform": "beos", "unheard": "of"}
    assert own_combination((PLATFORM, CHANNEL), told) == combinations((PLATFORM, CHANNEL))[-1]
    assert own_combination((PLATFORM,), {"platform": "mac"}) == '{"platform":"mac"}'
    assert own_combination((PLATFORM,), {"platform": "(small)"}) == '{"platform":"(other)"}'


def test_small_takes_the_place_of_every_value() -> None:
    text = '{"channel":"beta","platform":"linux"}'
    assert small_combination(text) == '{"channel":"(small)","platform":"(small)"}'


def test_a_new_value_changes_the_numbering_and_no_digest(survey: Survey) -> None:
    old = _asked(survey, "dark")
    grown = tuple(replace(s, values=(*s.values, "more"), shares=()) for s in old.segments)
    assert numbering(grown) != numbering(old.segments)
    assert numbering(tuple(replace(s, shares=()) for s in old.segments)) == numbering(old.segments)
    assert replace(old, segments=grown).digest == old.digest
    assert replace(old, segments=()).digest == old.digest


def test_a_level_has_a_digest_of_its_own(survey: Survey) -> None:
    strict, lax = survey.levels(_asked(survey, "colour"))
    assert strict.digest != lax.digest
    assert replace(strict, level="gentle").digest != strict.digest
    assert (strict.epsilon_once, lax.epsilon_once) == (500_000, 2_000_000)
    assert replace(strict, share=1).digest == strict.digest


def test_a_report_carries_its_segments() -> None:
    report = Report("q", 1, bytes(32), 3, bytes(16), b"\1", '{"a":"x","b":"(other)"}')
    wire = report.as_json()
    assert wire["segments"] == {"a": "x", "b": "(other)"}
    assert Report.from_json(wire) == report
    assert Report.from_json({**wire, "segments": {"b": "(other)", "a": "x"}}) == report


@pytest.mark.parametrize(
    "segments",
    [
        {},
        {"a": "x", "b": "x", "c": "x", "d": "x"},
        {"A": "x"},
        {"a": ""},
        {"a": "(small)"},
        {"a": 'x"'},
        {"a": "x" * 65},
        {"a": "é"},
        {"a": 1},
        ["a"],
        "a",
        None,
    ],
)
def test_bad_segments_of_a_report(segments: Any) -> None:
    wire = Report("q", 1, bytes(32), 3, bytes(16), b"\1").as_json()
    with pytest.raises(InvalidReport) as caught:
        Report.from_json({**wire, "segments": segments})
    assert caught.value.reason == "schema"


def _changed(survey: Survey, change: Any) -> bytes:
    raw = json.loads(survey.published())
    change(raw)
    return json.dumps(raw).encode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda raw: raw.update(segments=[]), "segments of a survey"),
        (lambda raw: raw["segments"].reverse(), "sorted by name"),
        (lambda raw: raw["segments"].append({"name": "z", "values": ["a"]}), "named by a question"),
        (lambda raw: raw["segments"][1].update(values=["a", "a"]), "must differ"),
        (lambda raw: raw["segments"][1].update(values=["(other)"]), "'values' must match"),
        (lambda raw: raw["segments"][1].update(shares=[1_000_000, 1, 0]), "add up"),
        (lambda raw: raw["questions"][0].update(segments=["nope"]), "declared by the survey"),
        (lambda raw: raw["questions"][0].update(segments=["channel"] * 2), "different ones"),
        (lambda raw: raw["questions"][0].update(segments=[]), "1 to 3 names"),
        (lambda raw: raw["questions"][1].update(level="open"), "same id and version"),
        (lambda raw: raw["questions"][1].update(share=1), "add up to 1,000,000"),
        (lambda raw: raw["questions"][1].update(epoch=2), "alone"),
        (lambda raw: raw["questions"][3].update(share=1), "share"),
        (lambda raw: raw["questions"][3].update(asked="0"), "'asked' must be above 0"),
        (lambda raw: raw["questions"][3].update(asked=str(2**64)), "'asked' must be above 0"),
        (lambda raw: raw.update(floor=0), "'floor' parameter"),
        (lambda raw: raw.update(keep_counts=2), "'keep_counts' parameter"),
    ],
)
def test_bad_surveys(survey: Survey, change: Any, words: str) -> None:
    with pytest.raises(InvalidSurvey, match=words):
        Survey.from_published(_changed(survey, change))


def test_at_most_64_combinations_with_levels(survey: Survey) -> None:
    values = [f"v{i}" for i in range(31)]

    def many(raw: Any) -> None:
        raw["segments"][1] = {"name": "platform", "values": values}

    with pytest.raises(InvalidSurvey, match="from 1 to 64"):
        Survey.from_published(_changed(survey, lambda raw: (many(raw), values.append("v31"))))
    del values[31:]
    fewer = _changed(survey, lambda raw: (many(raw), raw["questions"].pop(0)))
    with pytest.raises(InvalidSurvey, match="named by a question"):  # 32 x 2 levels fit
        Survey.from_published(fewer)


def test_a_person_is_asked_one_level_of_each_question(survey: Survey) -> None:
    asked = {choice: survey.at_level(choice) for choice in ("", "strict", "open", "none")}
    levels = {choice: [q.level for q in s.asked] for choice, s in asked.items()}
    assert levels["strict"] == levels[""] == ["", "strict", ""]
    assert levels["open"] == ["", "open", ""]
    assert levels["none"] == ["", ""]


def test_publishing_adds_values_and_refuses_to_take_any(survey: Survey) -> None:
    def with_values(*values: str) -> Survey:
        segment = Segment("platform", values)
        questions = tuple(
            replace(q, segments=tuple(segment if s.name == "platform" else s for s in q.segments))
            for q in survey.questions
        )
        return replace(survey, questions=questions)

    more = publication(survey, with_values("linux", "mac", "windows", "bsd"), START.date())
    assert any("another value" in change.words for change in more.changes)
    with pytest.raises(InvalidParameter, match="lost windows"):
        publication(survey, with_values("linux", "mac"), START.date())
    bare = tuple(replace(q, segments=q.segments[:1]) for q in survey.questions)
    with pytest.raises(InvalidParameter, match="other segments"):
        publication(survey, replace(survey, questions=bare), START.date())


def test_earlier_questions_keep_their_levels_and_take_new_values(survey: Survey) -> None:
    grown = Segment("platform", ("linux", "mac", "windows", "bsd"))
    raised = tuple(
        replace(q, version=2, segments=(grown,)) for q in survey.questions if q.id == "colour"
    )
    made = publication(survey, replace(survey, questions=raised), START.date()).survey
    assert [(q.id, q.level) for q in made.earlier] == [
        ("colour", "strict"),
        ("colour", "open"),
        ("dark", ""),
        ("plain", ""),
    ]
    assert made.earlier[0].segments == (grown,)
    assert Survey.from_published(made.published()) == made

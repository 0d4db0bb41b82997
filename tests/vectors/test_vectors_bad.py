"""Every bad vector is refused, and for the reason that it names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from deniable.collector.admission import Admission
from deniable.collector.problems import Refused
from deniable.errors import InvalidAnswer, InvalidParameter, InvalidReport, InvalidSurvey
from deniable.protocol import MECHANISMS, Report, Survey
from deniable.protocol.canonical import canonical
from deniable.protocol.compact import read_compact
from material.collector import SURVEY
from material.vectors import BAD, question_of, value_of

NAMES = "|".join(MECHANISMS)
SURVEY_REASONS = {
    "json": r"must be JSON in UTF-8",
    "value": r"^Canonical JSON",
    "members": r"must be an object with exactly|name a member twice",
    "format": r"reads surveys of format 1",
    "question": r"'(id|repeat|send|expires)'|'(version|epoch)' parameter of a question"
    r"|'(questions|fields|earlier)' must be a list|same id and version|fields of a question have"
    r" the same|'earlier'|at most 1,000 questions|'level'|levels of a question|'share'|'asked'",
    "ceiling": r"'ceiling' parameter of a survey",
    "number": r"'(people|floor|retention_days|keep_counts)' parameter of a survey",
    "segments": r"^A segment's|segments of a (survey|question)|'segments' parameter of a question",
    "field": r"'(name|mechanism|candidates)' must",
    "domain": r"^(A domain|Categor|Edges)",
    "parameters": rf"^(Basic |A )?({NAMES}) |threshold must be"
    rf"|'\w+' (parameter|threshold) of ({NAMES}) ",
}
"""The reasons of protocol.md, section 3, and what the package says of each."""


def _case(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return case


def _of(kind: str) -> list[Any]:
    return [pytest.param(c, id=path.stem) for path in BAD if (c := _case(path))["kind"] == kind]


@pytest.mark.parametrize("case", _of("survey"))
def test_bad_surveys(case: dict[str, Any]) -> None:
    given = case["input"]
    data = bytes.fromhex(given["bytes"]) if "bytes" in given else given["text"].encode()
    with pytest.raises(InvalidSurvey) as caught:
        Survey.from_published(data)
    fitting = [name for name, text in SURVEY_REASONS.items() if re.search(text, str(caught.value))]
    assert fitting == [case["reason"]], f"{case['about']}: {caught.value}"


@pytest.mark.parametrize("case", _of("report"))
def test_bad_reports(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidReport) as caught:
        Report.from_json(case["input"]["report"])
    assert caught.value.reason == case["reason"]


@pytest.mark.parametrize("case", _of("compact"))
def test_bad_compact_batches(case: dict[str, Any]) -> None:
    body = bytes.fromhex(case["input"]["body"])
    with pytest.raises(InvalidReport, match="no compact batch"):
        read_compact(body)
    with pytest.raises(Refused) as caught:
        Admission(SURVEY, 30, 1).split_packed(body, 1_000)
    assert caught.value.problem.reason == case["reason"]


@pytest.mark.parametrize("case", _of("record"))
def test_bad_records(case: dict[str, Any]) -> None:
    question = question_of(case["input"]["question"])
    with pytest.raises(InvalidReport) as caught:
        question.check_record(bytes.fromhex(case["input"]["record"]))
    assert caught.value.reason == case["reason"]


@pytest.mark.parametrize("case", _of("answer"))
def test_bad_answers(case: dict[str, Any]) -> None:
    question, value = question_of(case["input"]["question"]), value_of(case["input"]["value"])
    with pytest.raises(InvalidAnswer) as caught:
        question.answers(value)
    assert caught.value.reason == case["reason"]
    assert caught.value.__context__ is None


@pytest.mark.parametrize("case", _of("canonical"))
def test_bad_canonical_values(case: dict[str, Any]) -> None:
    value = json.loads(case["input"]["text"])
    with pytest.raises(InvalidParameter, match="Canonical JSON"):
        canonical(value)


def test_every_bad_vector_is_read_by_a_test_above() -> None:
    kinds = ("survey", "report", "compact", "record", "answer", "canonical")
    assert sum(len(_of(kind)) for kind in kinds) == len(BAD) >= 25


def test_the_bad_inputs_are_bad_by_their_defect_alone() -> None:
    """Negative control: mended, one of each kind is accepted."""
    texts = {path.stem: _case(path)["input"] for path in BAD}
    survey = texts["survey-p-equals-q"]["text"].replace(
        '"report_zero":"13835058055282163712"', '"report_zero":"9223372036854775808"'
    )
    assert Survey.from_published(survey.encode()).questions
    report = {**texts["report-uppercase-hex"]["report"], "digest": "0123456789abcdef" * 4}
    assert Report.from_json(report).question == "browser"
    body = bytes.fromhex(texts["compact-byte-over"]["body"])
    assert read_compact(body[:-1]).reports == 2
    padded = texts["record-padding-not-zero"]
    question_of(padded["question"]).check_record(bytes.fromhex("0600ff1f"))

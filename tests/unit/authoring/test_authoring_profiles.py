"""Questions about many attributes in survey.toml: one mechanism, fields without any."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deniable.authoring import Authored, read_authored
from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import PROFILE_MECHANISMS, CoefficientsParameters, Profile, Survey
from material.profiles import profile_of
from material.toml_writing import toml

FIELDS: list[dict[str, Any]] = [
    {"name": "toll", "domain": "boolean"},
    {"name": "kind", "domain": {"type": "categories", "values": ["a", "b", "c"]}},
    {"name": "fare", "domain": {"type": "numbers", "edges": [0, 10]}},
]
GOOD: dict[str, Any] = {
    "id": "trip",
    "description": "What was the trip like?",
    "expires": date(2099, 12, 31),
    "mechanism": "coefficients",
    "parameters": {"epsilon": 1.1, "order": 2},
    "fields": FIELDS,
}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Return a function that reads a survey of one question, after writing it as TOML."""

    def reading(**changes: Any) -> Authored:
        question = {k: v for k, v in {**GOOD, **changes}.items() if v is not None}
        table = {"name": "n", "owner": "o", "questions": [question]}
        (tmp_path / "survey.toml").write_text(toml(table), encoding="utf-8")
        return read_authored(tmp_path / "survey.toml")

    return reading


def test_fields_become_one_profile(read: Any) -> None:
    survey = read().require()
    (question,) = survey.questions
    (field,) = question.fields
    assert question.plain
    assert field.name == "value"
    assert isinstance(field.domain, Profile)
    assert field.domain.names == ("toll", "kind", "fare")
    assert isinstance(field.parameters, CoefficientsParameters)
    assert (question.repeat, question.send) == ("once", "recorded")
    assert question.epsilon_once == 1_100_000
    assert Survey.from_published(survey.published()) == survey


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_every_mechanism_reports_a_value_of_the_app(read: Any, mechanism: str) -> None:
    (question,) = read(mechanism=mechanism).require().questions
    value = {"toll": True, "kind": "b", "fare": 3.5}
    draws = SystemDraws()
    records = Counter(encode(question, value, bytes(32), draws) for _ in range(200))
    assert len(records) > 1
    for sent in records:
        assert len(sent) == question.record_size
        question.check_record(sent)


def test_permanent_reports_are_the_same_for_ever(read: Any) -> None:
    (question,) = read(repeat="permanent").require().questions
    value = {"toll": True, "kind": "b", "fare": 3.5}
    draws = SystemDraws()
    assert len({encode(question, value, bytes(32), draws) for _ in range(20)}) == 1
    assert question.epsilon_forever == question.epsilon_once


def test_every_epoch_costs_its_epsilon(read: Any) -> None:
    authored = read(repeat="epoch")
    (question,) = authored.require().questions
    assert question.epsilon_forever is None
    (warning,) = authored.warnings
    assert warning.key == "questions[0](trip).parameters"
    assert "forever" not in warning.fix


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"fields": FIELDS[:1]}, "fields", "2 to 32 fields. Got 1"),
        (
            {"fields": [{"name": f"a{i}", "domain": "boolean"} for i in range(64)]},
            "fields",
            "2 to 32 fields. Got 64",
        ),
        ({"fields": [*FIELDS, FIELDS[0]]}, "fields[3].name", "same name"),
        ({"fields": [*FIELDS, 7]}, "fields[3]", "must be a table"),
        ({"fields": 7}, "fields", "2 to 32 fields"),
        ({"fields": [*FIELDS, {"name": "A", "domain": "boolean"}]}, "fields[3].name", "match"),
        ({"fields": [*FIELDS, {"domain": "boolean"}]}, "fields[3].name", "missing"),
        ({"fields": [*FIELDS, {"name": "x"}]}, "fields[3].domain", "missing"),
        ({"fields": [*FIELDS, {"name": "x", "domain": "strings"}]}, "fields[3].domain", "boolean"),
        (
            {"fields": [*FIELDS, {"name": "x", "domain": {"type": "categories", "values": ["a"]}}]},
            "fields[3].domain.values",
            "2 to 65,536 names",
        ),
        (
            {"fields": [*FIELDS, {"name": "x", "domain": "boolean", "parameters": {}}]},
            "fields[3].parameters",
            "unknown key",
        ),
        ({"domain": "boolean"}, "domain", "belongs to each of the fields"),
        ({"send": "always"}, "parameters", "no absent answer"),
        ({"parameters": {"epsilon": 1, "order": 4}}, "parameters", "at most 3"),
        ({"parameters": {"epsilon": 1, "order": 0}}, "parameters.order", "from 1 to 32"),
        ({"parameters": {"epsilon": -1}}, "parameters.epsilon", "number from"),
        ({"parameters": {"order": 2}}, "parameters", "needs 'epsilon'"),
        ({"parameters": {"epsilon": 1, "size": 3}}, "parameters.size", "unknown key"),
        ({"parameters": 5}, "parameters", "must be a table"),
    ],
)
def test_problems(read: Any, changes: dict[str, Any], key: str, message: str) -> None:
    problems = {problem.key: str(problem) for problem in read(**changes).problems}
    assert list(problems) == [f"questions[0](trip).{key}"]
    assert message in problems[f"questions[0](trip).{key}"]


def test_a_mechanism_of_one_value_stays_with_its_field(read: Any) -> None:
    """What was refused before profiles existed still is, with the same words."""
    keys = [problem.key for problem in read(mechanism="krr").problems]
    assert keys[:2] == [f"questions[0](trip).{name}" for name in ("mechanism", "parameters")]


def test_a_mechanism_of_profiles_needs_fields(read: Any) -> None:
    problems = read(fields=None, domain="boolean").problems
    assert [problem.key for problem in problems] == ["questions[0](trip).parameters"]
    assert "needs a profile" in problems[0].message


def test_auto_chooses_a_mechanism_of_profiles(read: Any) -> None:
    (question,) = read(mechanism="auto").require().questions
    assert question.fields[0].parameters.mechanism in PROFILE_MECHANISMS


def test_a_published_profile_with_a_mechanism_of_one_value_is_refused(read: Any) -> None:
    survey = read(mechanism="inp_olh").require().published()
    parameters = b'"mechanism":"olh","name":"value","parameters":'
    start = survey.index(b'"mechanism":"inp_olh"')
    tail = survey[survey.index(b"}", start) :]
    forged = survey[:start] + parameters + b'{"keep":"13835058055282163712","seeds":9,"symbols":4'
    with pytest.raises(InvalidSurvey, match="olh reports one value"):
        Survey.from_published(forged + tail)


def test_a_profile_cannot_be_always_sent(read: Any) -> None:
    survey = read().require().published().replace(b'"recorded"', b'"always"')
    with pytest.raises(InvalidSurvey, match="no absent answer"):
        Survey.from_published(survey)


def test_the_domain_of_a_profile_is_no_word_of_authors() -> None:
    with pytest.raises(InvalidParameter, match="answers"):
        CoefficientsParameters((2,), 1, 3 * 2**62, "walsh", ())
    assert profile_of(2, 2).published()["type"] == "profile"

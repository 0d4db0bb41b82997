"""survey.toml: every problem at once, each with its key, what is allowed and the fix."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deniable._validate import shown
from deniable.authoring import Authored, read_authored, survey
from deniable.authoring.survey import FEW_PER_COHORT, MAX_SURVEY_FILE
from deniable.errors import InvalidSurvey
from deniable.protocol import KRRParameters, Numbers, RapporParameters
from material.toml_writing import toml

GOOD: dict[str, Any] = {
    "id": "dark_mode",
    "description": "Is the dark mode on?",
    "expires": date(2099, 12, 31),
    "domain": "boolean",
    "mechanism": "krr",
    "parameters": {"epsilon": 1.0},
}


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Return a function that reads a survey of questions, after writing it as TOML."""

    def reading(*questions: Any, **survey: Any) -> Authored:
        table = {"name": "n", "owner": "o", "questions": list(questions), **survey}
        (tmp_path / "survey.toml").write_text(toml(table), encoding="utf-8")
        return read_authored(tmp_path / "survey.toml")

    return reading


def _without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name not in names}


def _keys(authored: Authored) -> list[str]:
    return [problem.key for problem in authored.problems]


def test_a_good_survey(read: Any) -> None:
    authored = read(GOOD)
    assert authored.problems == authored.warnings == ()
    (question,) = authored.require().questions
    assert (question.id, question.version, question.epoch) == ("dark_mode", 1, 1)
    assert (question.repeat, question.send, question.owner) == ("once", "recorded", "o")
    assert question.plain
    assert question.epsilon_once == 1_000_000
    assert authored.people is None


def test_everything_can_be_said(read: Any) -> None:
    full = {
        **GOOD,
        "version": 3,
        "owner": "x",
        "epoch": 7,
        "repeat": "epoch",
        "send": "always",
        "expires": "2099-12-31",
        "parameters": {"epsilon": 1, "epsilon_forever": 3.5},
    }
    authored = read(full, people=10**6)
    (question,) = authored.require().questions
    assert (question.version, question.owner, question.epoch) == (3, "x", 7)
    assert (question.repeat, question.send) == ("epoch", "always")
    assert question.fields[0].parameters.published()["answers"] == 3
    assert question.epsilon_forever == 3_500_000
    assert authored.people == 10**6


def test_memoised_mechanisms_repeat_by_default_and_others_do_not(read: Any) -> None:
    memoised = {**GOOD, "id": "m", "parameters": {"epsilon": 1, "epsilon_forever": 2}}
    repeats = [question.repeat for question in read(GOOD, memoised).require().questions]
    assert repeats == ["once", "epoch"]


def test_every_problem_is_said_at_once_with_key_rule_and_fix(read: Any) -> None:
    authored = read(
        {**GOOD, "id": "Dark", "version": 0, "epoch": 1000, "repeat": "twice", "send": 3},
        {**_without("description", "expires"), "color": "red", "domain": "colour"},
        {**GOOD, "mechanism": "magic", "id": "c"},
        {**GOOD, "id": "d", "parameters": {"epsilon": math.nan, "epsilon_forever": -1, "x": 1}},
        7,
        owner="",
        people=0,
        extra=True,
    )
    assert authored.survey is None
    assert set(_keys(authored)) == {
        "extra",
        "owner",
        "people",
        "questions[0].id",
        "questions[0].version",
        "questions[0].epoch",
        "questions[0].repeat",
        "questions[0].send",
        "questions[1](dark_mode).color",
        "questions[1](dark_mode).description",
        "questions[1](dark_mode).expires",
        "questions[1](dark_mode).domain",
        "questions[2](c).mechanism",
        "questions[3](d).parameters.epsilon",
        "questions[3](d).parameters.epsilon_forever",
        "questions[3](d).parameters.x",
        "questions[4]",
    }
    assert len(_keys(authored)) == len(set(_keys(authored)))
    for problem in authored.problems:
        assert problem.message.endswith("."), problem
        assert problem.fix.endswith("."), problem
        assert str(problem) == f"{problem.key}: {problem.message} Fix: {problem.fix}"
        assert problem.as_json() == {
            "key": problem.key,
            "message": problem.message,
            "fix": problem.fix,
        }
    with pytest.raises(InvalidSurvey) as caught:
        authored.require()
    assert caught.value.problems == authored.problems


RAPPOR = {**GOOD, "mechanism": "rappor", "domain": "strings"}


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ({"parameters": {"p": 0.5, "q": 0.5}}, "parameters", "greater than 'p'"),
        ({"parameters": {"p": 0.5, "q": 1.5}}, "parameters.q", "from 0 to 1. Got 1.5"),
        ({"parameters": {"p": math.nan, "q": 1}}, "parameters.p", "from 0 to 1. Got nan"),
        ({"parameters": {"epsilon": math.inf}}, "parameters.epsilon", "0.000001 to 32. Got inf"),
        ({"parameters": {"epsilon": "1"}}, "parameters.epsilon", "0.000001 to 32. Got '1'"),
        ({"parameters": {"epsilon": 2**20000}}, "parameters.epsilon", "Got a very large int"),
        ({"parameters": {}}, "parameters", "needs 'epsilon'"),
        ({"parameters": {"epsilon": 1, "q": 0.5}}, "parameters", "not both"),
        ({"parameters": {"epsilon": 1, "h": 20}}, "parameters.h", "from 1 to 16"),
        ({"parameters": {"epsilon": 1, "m": True}}, "parameters.m", "Got True"),
        ({"parameters": {"epsilon": 1, "k": 1}}, "parameters", "from 2 to 65537"),
        ({"parameters": [1]}, "parameters", "must be a table"),
        ({"mechanism": "krr"}, "parameters", "closed domain"),
        ({"mechanism": ["krr"]}, "mechanism", "unknown mechanism"),
        ({"expires": 20991231}, "expires", "must be a date"),
        ({"expires": "soon"}, "expires", "must be a date"),
        ({"version": 2**20000}, "version", "Got a very large int"),
        ({"version": 1.0}, "version", "Got 1.0"),
        ({"epoch": True}, "epoch", "Got True"),
        ({"description": "  "}, "description", "non-empty"),
        ({"description": 5}, "description", "non-empty string. Got 5"),
        ({"id": "a" * 65}, "id", "must match"),
        ({"id": 5}, "id", "non-empty string"),
        ({"fields": []}, "fields", "1 to 64 fields"),
        ({"fields": 5}, "fields", "1 to 64 fields"),
    ],
    ids=lambda value: shown(value, 40),
)
def test_one_mistake_one_problem(read: Any, change: Any, key: str, message: str) -> None:
    question = {**RAPPOR, **change}
    if "fields" in change:
        question = {k: v for k, v in question.items() if k not in GOOD or k in _SHARED}
    authored = read(question)
    (problem,) = authored.problems
    assert problem.key.endswith(f".{key}")
    assert message in problem.message
    assert problem.fix


_SHARED = {"id", "description", "expires", "fields"}


@pytest.mark.parametrize("name", ["id", "description", "expires", "domain", "mechanism"])
def test_missing_keys(read: Any, name: str) -> None:
    (problem,) = read(_without(name)).problems
    assert problem.key.endswith(f".{name}")
    assert problem.message == "missing."
    assert "add" in problem.fix or "use one of" in problem.fix


def test_unknown_keys_with_strange_names_are_quoted_and_short(read: Any) -> None:
    authored = read(GOOD, **{"": 1, "a b": 2, "x" * 5000: 3, "plain-key": 4})
    assert _keys(authored)[:3] == ["''", "'a b'", "plain-key"]
    assert all(len(key) <= 60 for key in _keys(authored))


def test_duplicate_ids(read: Any) -> None:
    (problem,) = read(GOOD, {**GOOD, "version": 2}, GOOD).problems
    assert problem.key == "questions[2](dark_mode).id"
    assert "same id and version" in problem.message
    assert len(read(GOOD, {**GOOD, "version": 2}).require().questions) == 2


@pytest.mark.parametrize("questions", [None, [], 5, [GOOD] * 1001])
def test_the_list_of_questions(tmp_path: Path, questions: Any) -> None:
    table = {"name": "n", "owner": "o"} | ({} if questions is None else {"questions": questions})
    (tmp_path / "s.toml").write_text(toml(table))
    (problem,) = read_authored(tmp_path / "s.toml").problems
    assert problem.key == "questions"


def test_several_fields(read: Any) -> None:
    part = {"domain": "boolean", "mechanism": "rappor", "parameters": {"epsilon": 0.5}}
    base = {name: GOOD[name] for name in ("id", "description", "expires")}
    named = [{**part, "name": "a"}, {**part, "name": "b"}]
    (question,) = read({**base, "fields": named}).require().questions
    assert [field.name for field in question.fields] == ["a", "b"]
    assert question.epsilon_once == 1_000_000
    wrong = [{**part, "name": "a"}, {**part, "name": "a"}, {**part, "name": "A"}, part, 5]
    authored = read({**base, **part, "fields": [*wrong, {**part, "name": "c", "x": 1}]})
    place = "questions[0](dark_mode)"
    assert set(_keys(authored)) == {
        f"{place}.domain",
        f"{place}.mechanism",
        f"{place}.parameters",
        f"{place}.fields[1].name",
        f"{place}.fields[2].name",
        f"{place}.fields[3].name",
        f"{place}.fields[4]",
        f"{place}.fields[5].x",
    }
    assert all(problem.fix for problem in authored.problems)


def test_few_people_per_cohort_are_warned_of(read: Any) -> None:
    question = {**RAPPOR, "parameters": {"m": 16, "epsilon": 1}}
    enough = 16 * FEW_PER_COHORT
    assert read(question, people=enough).warnings == ()
    authored = read(question, people=enough - 1)
    (warning,) = authored.warnings
    assert authored.require()
    assert "people per cohort" in warning.message
    assert "at most 15 cohorts" in warning.fix
    assert read(question).warnings == ()
    (single,) = read({**RAPPOR, "parameters": {"m": 1, "epsilon": 1}}, people=5).warnings
    assert "never told apart" in single.message


DISCOVERED: dict[str, Any] = {
    **GOOD,
    "domain": {"type": "strings", "alphabet": "abcdefgh", "length": 6},
    "repeat": "permanent",
}


@pytest.mark.parametrize(
    ("mechanism", "words", "apart"),
    [("ngrams", "cohort and choice of places", 3), ("prefixes", "group and cohort", 4)],
)
def test_places_and_groups_are_told_in_clear_too(
    read: Any, mechanism: str, words: str, apart: int
) -> None:
    lengths = {"lengths": [2, 4, 6]} if mechanism == "prefixes" else {}
    parameters = {"epsilon": 4.0, "cohorts": 10, **lengths}
    question = {**DISCOVERED, "mechanism": mechanism, "parameters": parameters}
    enough = 10 * apart * FEW_PER_COHORT
    assert read(question, people=enough).warnings == ()
    (warning,) = read(question, people=enough - 1).warnings
    assert f"about 999 people per {words}:" in warning.message
    assert warning.fix == "use at most 9 cohorts, or ask more people."
    (warning,) = read(question, people=1_000).warnings
    assert warning.fix.endswith(f"ask more people: {apart:,},000 for one cohort.")
    assert read({**question, "repeat": "once"}, people=1_000).warnings == ()


def test_warnings_of_several_fields_name_the_field(read: Any) -> None:
    part = {"domain": "strings", "mechanism": "rappor", "parameters": {"epsilon": 0.5, "m": 8}}
    base = {name: GOOD[name] for name in ("id", "description", "expires")}
    authored = read({**base, "fields": [{**part, "name": "a"}]}, people=10)
    assert [w.key for w in authored.warnings] == ["questions[0](dark_mode).fields[0].parameters"]


def test_repeating_without_a_permanent_response_is_warned_of(read: Any) -> None:
    authored = read({**GOOD, "repeat": "epoch"})
    (warning,) = authored.warnings
    assert "every report adds its whole epsilon" in warning.message
    assert authored.require().questions[0].epsilon_forever is None


def test_an_expiry_in_the_past_is_warned_of(read: Any) -> None:
    (warning,) = read({**GOOD, "expires": date(2001, 1, 1)}).warnings
    assert "is past" in warning.message


CANDIDATES = {**RAPPOR, "domain": {"type": "strings", "candidates": "lists/names.txt"}}


def test_candidate_files(read: Any, tmp_path: Path) -> None:
    (problem,) = read(CANDIDATES).problems
    assert problem.key.endswith(".domain.candidates")
    assert "no file 'lists/names.txt'" in problem.message
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "names.txt").write_text("a\n")
    (question,) = read(CANDIDATES).require().questions
    assert question.fields[0].candidates == "lists/names.txt"
    dotted = {**CANDIDATES, "domain": {"type": "strings", "candidates": "./lists//names.txt"}}
    assert read(dotted).require().questions[0].fields[0].candidates == "lists/names.txt"


@pytest.mark.parametrize(
    "name", ["../x", "/etc/hostname", "a/../../x", "a\\b", "C:/x", "\0", ".", 5, [], "lists"]
)
def test_candidate_files_that_are_elsewhere_or_no_files(
    read: Any, tmp_path: Path, name: Any
) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path.parent / "x").write_text("a\n")
    (problem,) = read({**CANDIDATES, "domain": {"type": "strings", "candidates": name}}).problems
    assert problem.key.endswith(".domain.candidates")


def test_a_candidate_name_that_no_file_system_takes(read: Any) -> None:
    long = {**CANDIDATES, "domain": {"type": "strings", "candidates": "x" * 5000}}
    (problem,) = read(long).problems
    assert "there is no file" in problem.message
    assert len(problem.message) < 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", None),
        (b"name = \n", "line 1"),
        (b"\xff", "utf-8"),
        (b"\x00", "TOML"),
        (b"x = " + b"[" * 100_000, "TOML"),
        (b"x = " + b"9" * 5000, "TOML"),
        (b"name = 'a'\nname = 'b'", "TOML"),
        (b"x = 2027-13-45", "TOML"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_files_that_are_no_survey(tmp_path: Path, text: bytes, message: str | None) -> None:
    path = tmp_path / "survey.toml"
    path.write_bytes(text)
    authored = read_authored(str(path))
    assert authored.survey is None
    if message is None:
        assert _keys(authored) == ["name", "owner", "questions"]
    else:
        (problem,) = authored.problems
        assert problem.key == "survey.toml"
        assert message in problem.message
        assert problem.fix


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        (problem,) = read_authored(path).problems
        assert "cannot be read" in problem.message
    big = tmp_path / "big.toml"
    big.write_bytes(b"#" * (MAX_SURVEY_FILE + 1))
    (problem,) = read_authored(big).problems
    assert "16,777,216 bytes" in problem.message


def test_a_survey_that_would_be_too_long_when_published(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = len(read(GOOD).require().published())
    monkeypatch.setattr(survey, "MAX_SURVEY_BYTES", size)
    assert read(GOOD).require()
    monkeypatch.setattr(survey, "MAX_SURVEY_BYTES", size - 1)
    (problem,) = read(GOOD).problems
    assert "would be published as more than" in problem.message


def test_the_example_of_the_paper(read: Any) -> None:
    paper = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
    question = read({**RAPPOR, "parameters": paper}).require().questions[0]
    assert isinstance(question.fields[0].parameters, RapporParameters)
    assert question.repeat == "epoch"
    assert (question.epsilon_once, question.epsilon_forever) == (1_074_286, 4_394_450)


def test_bins_become_edges_and_categories(read: Any) -> None:
    domain = {"type": "numbers", "low": 1, "high": 1000, "bins": 3, "scale": "log"}
    field = read({**GOOD, "domain": domain}).require().questions[0].fields[0]
    assert field.domain == Numbers(("1", "10", "100", "1000"))
    assert isinstance(field.parameters, KRRParameters)
    assert field.parameters.answers == 5


def test_auto_finds_strings_with_an_alphabet_that_nobody_listed(read: Any, tmp_path: Path) -> None:
    """With a list, without an alphabet, or with a permanent response they are tested for."""
    (tmp_path / "list.txt").write_text("abba\nabc\n")
    named = {"type": "strings", "alphabet": "abc", "length": 4}

    def chosen(domain: object, **parameters: float) -> str:
        asked = {**GOOD, "domain": domain, "mechanism": "auto", "parameters": parameters}
        (question,) = read(asked, people=100_000).require().questions
        return str(question.fields[0].parameters.mechanism)

    assert chosen(named, epsilon=2.0) == "prefixes"
    assert chosen({**named, "candidates": "list.txt"}, epsilon=2.0) != "prefixes"
    assert chosen("strings", epsilon=2.0) != "prefixes"
    assert chosen(named, epsilon=1.0, epsilon_forever=4.0) != "prefixes"
    prefixes = {**GOOD, "domain": named, "mechanism": "prefixes", "parameters": {"epsilon": 2.0}}
    auto = {**prefixes, "mechanism": "auto"}
    by_name, by_auto = (read(asked, people=100_000).require() for asked in (prefixes, auto))
    assert by_name.questions[0].digest == by_auto.questions[0].digest

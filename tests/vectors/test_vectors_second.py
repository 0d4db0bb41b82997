"""The vectors of format 2: questions that say how long their reports stay."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.client.surveys import Bundle, narrowed
from deniable.errors import InvalidSurvey
from deniable.protocol import Survey
from deniable.protocol.retention import Keeping, keeping_of
from material.vectors import SPEC

SURVEY = Draft202012Validator(json.loads((SPEC / "schemas" / "survey.json").read_bytes()))
REASONS = {
    "members": "must be an object with exactly",
    "format": "reads surveys of format 1, and of format 2 where",
    "question": "'(retention_days|keep_counts)' parameter of a question|Two levels of a question",
    "value": "^Canonical JSON",
}
"""The reasons of protocol.md, section 3, and what the package says of each."""
FOLDER = SPEC / "vectors" / "v2"
BAD = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((FOLDER / "bad").glob("*.json"))
}
NOT_EXPRESSIBLE = {"survey-retention-of-a-level"}
"""Two entries together are beyond a schema."""


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", load("surveys.json"), ids=lambda case: case["name"])
def test_surveys(case: dict[str, Any]) -> None:
    survey = Survey.from_published(case["text"].encode())
    assert survey.published().decode() == case["text"]
    found = [
        {"id": q.id, "version": q.version, "digest": q.digest.hex()}
        | keeping_of(survey, q).as_json()
        for q in survey.known
    ]
    assert found == case["kept"]
    SURVEY.validate(json.loads(case["text"]))


@pytest.mark.parametrize("word", [False, True], ids=["without", "with"])
@pytest.mark.parametrize("case", load("fetched.json"), ids=lambda case: case["name"])
def test_fetched_surveys(case: dict[str, Any], word: bool) -> None:
    app, shown = (Bundle.read(case[name].encode()) for name in ("app", "shown"))
    left, _ = narrowed(app, shown, word)
    expected = case["with" if word else "without"]["asked"]
    asked = [[q.id, q.version, q.level or None] for q in left.survey.asked]
    assert sorted(asked, key=lambda q: str(q[0])) == [each[:3] for each in expected]
    # The device tells a person what the server says.
    for question in left.survey.asked:
        theirs = shown.survey.question(question.id, question.version)
        assert theirs is not None
        assert keeping_of(left.survey, question) == keeping_of(shown.survey, theirs)
    pinned = frozenset({sha256(case["shown"].encode()).hexdigest()}) if word else frozenset()
    assert narrowed(app, shown, pinned)[0].survey == left.survey


def test_without_a_word_nothing_stays_longer_than_the_app_says() -> None:
    told = 0
    for case in load("fetched.json"):
        app, shown = (Bundle.read(case[name].encode()) for name in ("app", "shown"))
        for question in narrowed(app, shown, trusted=False)[0].survey.asked:
            now: Keeping = keeping_of(shown.survey, question)
            assert not now.exceeds(keeping_of(app.survey, app.newest[question.id]))
            told += 1
    assert told > 10


@pytest.mark.parametrize("name", BAD)
def test_bad_surveys(name: str) -> None:
    case = BAD[name]
    with pytest.raises(InvalidSurvey) as caught:
        Survey.from_published(case["input"]["text"].encode())
    fitting = [each for each, text in REASONS.items() if re.search(text, str(caught.value))]
    assert fitting == [case["reason"]], f"{case['about']}: {caught.value}"
    assert SURVEY.is_valid(json.loads(case["input"]["text"])) == (name in NOT_EXPRESSIBLE)

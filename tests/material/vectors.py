"""Reading the vectors of spec/vectors/v1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.protocol import ABSENT, MECHANISMS, Question, Survey
from deniable.protocol.canonical import canonical

SPEC = Path(__file__).parents[2] / "spec"
FOLDER = SPEC / "vectors" / "v1"
RECORD_FILES = [f"{name}.json" for name in (*MECHANISMS, "sets", "permanent", "fields")]
BAD = sorted((FOLDER / "bad").glob("*.json"))


def load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def survey_text(*questions: dict[str, Any]) -> bytes:
    return canonical({"deniable": 1, "name": "v", "owner": "v", "questions": list(questions)})


def question_of(published: dict[str, Any]) -> Question:
    return Survey.from_published(survey_text(published)).questions[0]


def value_of(spelled: dict[str, Any]) -> object:
    """Return the value that a vector spells as an object of one member, named for its type."""
    ((kind, inner),) = spelled.items()
    if kind == "utf16":
        return b"".join(unit.to_bytes(2, "little") for unit in inner).decode(
            "utf-16-le", "surrogatepass"
        )
    if kind == "fields":
        return {name: value_of(part) for name, part in inner.items()}
    if kind == "list":
        return [value_of(part) for part in inner]
    simple = {"boolean": lambda: inner, "string": lambda: inner, "number": lambda: float(inner)}
    others = {
        "integer": lambda: int(inner),
        "repeat": lambda: inner[0] * inner[1],
        "absent": lambda: ABSENT,
        "null": lambda: None,
    }
    return {**simple, **others}[kind]()

"""Questions and values as they are named on a command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.protocol import Domain, Profile, Question, Survey


def load_survey(path: Path) -> Survey:
    """Read survey.json, with a hint where it is missing or still TOML."""
    if path.suffix == ".toml":
        raise InvalidParameter(f"{path} is not published yet. Run: deniable publish {path}")
    if not path.is_file():
        raise InvalidParameter(
            f"There is no published survey {path}. Run deniable publish, or name it with --survey."
        )
    return Survey.load(path)


def find_question(path: Path, question_id: str) -> Question:
    """Return a question of a published survey by its id."""
    survey = load_survey(path)
    question = survey.question(question_id)
    if question is None:
        known = ", ".join(sorted({q.id for q in survey.questions}))
        raise InvalidParameter(f"Unknown question '{question_id}'. The survey has: {known}.")
    return question


def parse_value(question: Question, text: str) -> object:
    """Read a value from the command line as the question's domain wants it."""
    if question.plain:
        return _parse(question.fields[0].domain, text)
    return _mapping(text, [field.name for field in question.fields])


def _mapping(text: str, names: Sequence[str]) -> dict[str, object]:
    """Read a JSON object with a member per field."""
    try:
        parts = json.loads(text)
    except ValueError:
        parts = None
    if not isinstance(parts, dict):
        raise InvalidParameter(
            f"The value must be a JSON object with the fields {', '.join(names)}."
        )
    return parts


def _parse(domain: Domain, text: str) -> object:
    if domain.kind == "boolean":
        words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in words:
            raise InvalidParameter(f"A boolean is one of {', '.join(words)}.")
        return words[text.lower()]
    if domain.kind == "numbers":
        try:
            return float(text)
        except ValueError:
            raise InvalidParameter("The value must be a number.") from None
    if domain.kind == "set":
        return _names(text)
    if isinstance(domain, Profile):
        return _mapping(text, domain.names)
    return text


def _names(text: str) -> list[object]:
    """Read the names of a set: a JSON list, or names with commas between them."""
    if not text.lstrip().startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        names = json.loads(text)
    except ValueError:
        raise InvalidParameter("The value must be a JSON list of names, or a,b,c.") from None
    return list(names)

"""Questions and values as they are named on a command line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.cli.output import err
from deniable.errors import InvalidParameter
from deniable.protocol import Domain, Profile, Question, Survey
from deniable.protocol.naming import question_of

if TYPE_CHECKING:
    from deniable.store import Store


def load_survey(path: Path) -> Survey:
    """Read survey.json, with a hint where it is missing or still TOML."""
    if path.suffix == ".toml":
        raise InvalidParameter(f"{path} is not published yet. Run: deniable publish {path}")
    if not path.is_file():
        raise InvalidParameter(
            f"There is no published survey {path}. Run deniable publish, or name it with --survey."
        )
    return Survey.load(path)


def any_survey(path: Path) -> Survey:
    """Read a survey in either form: survey.toml, or a published survey.json."""
    from deniable.authoring import read_authored

    return Survey.load(path) if path.suffix == ".json" else read_authored(path).require()


def find_question(
    path: Path, question_id: str, version: int | None = None, level: str | None = None
) -> Question:
    """Return a question of a published survey by its id, in its newest version by default."""
    return question_of(load_survey(path), question_id, version, level)


def say_where_reports_are(store: Store, path: Path, asked: Question) -> None:
    """Say on standard error, of a version without reports, which other versions have some."""
    from deniable.store.versions import reports_by_version

    words = elsewhere(reports_by_version(store.tallies(), load_survey(path), asked.id), asked)
    if words:
        err.print(words, markup=False, style="yellow")


def elsewhere(reports: Mapping[int, int], asked: Question) -> str:
    """Return a sentence that names the versions with reports, if this one has none."""
    if reports.get(asked.version):
        return ""
    others = {version: number for version, number in reports.items() if number}
    if not others:
        return ""
    told = ", ".join(
        f"version {version} has {number:,}" for version, number in sorted(others.items())
    )
    return (
        f"There are no reports of version {asked.version} of {asked.id}, but {told}. "
        f"Add --version {max(others)} to read them."
    )


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

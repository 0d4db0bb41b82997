"""Questions and values as they are named on a command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.cli.output import err
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Survey
from deniable.protocol.naming import question_of
from deniable.protocol.typed_values import typed_mapping, typed_value

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
        return typed_value(question.fields[0].domain, text)
    return typed_mapping(text, [field.name for field in question.fields])

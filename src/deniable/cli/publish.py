"""deniable publish: from the survey that people write to the one that clients read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deniable._words import epsilon_text
from deniable.authoring import Authored, read_authored
from deniable.cli.output import JsonFlag, SurveyToml, emit_json, err, out, write_file
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol import Question, Survey
from deniable.protocol.epochs import date_of, day_number
from deniable.protocol.epsilon import as_float
from deniable.protocol.publication import Key, Publication, publication

PUBLISHED = Path("survey.json")
"""The file that a survey is published to, unless another one is named."""


def publish(
    survey: SurveyToml,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write it.", metavar="survey.json")
    ] = PUBLISHED,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave out an earlier version: nobody can read its reports then. May be repeated.",
            metavar="ID:VERSION",
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Resolve every parameter into integers and write the survey.json that clients read.

    A question that was published before keeps its meaning: changing it needs a new version. What
    was asked earlier is kept in the file, so that its reports are still admitted and read.
    """
    authored = read_authored(survey)
    ready = authored.require()
    before = published_before(output)
    keys = [_key(text) for text in forget or ()]
    made = publication(before, ready, date_of(day_number()), keys)
    write_file(output, made.survey.published())
    if json:
        emit_json(_as_json(output, authored, made))
        return
    for warning in (*authored.warnings, *made.notes):
        err.print(f"warning {warning}", markup=False, style="yellow")
    out.print(_table(made.survey))
    for change in made.changes:
        out.print(f"{change.question} version {change.version}: {change.words}", markup=False)
    out.print(_closing(output, before, made), markup=False)


def published_before(output: Path) -> Survey | None:
    """Return the survey that is published there already, if there is one.

    Raises:
        InvalidParameter: if the file is something else.
    """
    if not output.exists():
        return None
    try:
        return Survey.load(output)
    except InvalidSurvey as error:
        raise InvalidParameter(
            f"{output} is there and is no published survey: {error}",
            "Bring back the one that was published last, or name another file with --output.",
        ) from None


def _key(text: str) -> Key:
    """Read ID:VERSION."""
    question, colon, version = text.rpartition(":")
    if not (colon and question and version.isascii() and version.isdigit()):
        raise InvalidParameter(f"--forget takes ID:VERSION, such as browser:1. Got {text!r}.")
    return question, int(version)


def _as_json(output: Path, authored: Authored, made: Publication) -> dict[str, object]:
    return {
        "path": str(output),
        "questions": [summary(question) for question in made.survey.questions],
        "earlier": [summary(question) for question in made.survey.earlier],
        "changes": [change.as_json() for change in made.changes],
        "warnings": [
            *(warning.as_json() for warning in authored.warnings),
            *({"key": "", "message": note, "fix": ""} for note in made.notes),
        ],
    }


def _closing(output: Path, before: Survey | None, made: Publication) -> str:
    if before is None:
        return f"Wrote {output}. No survey was published there before."
    if made.changes:
        return f"Wrote {output}."
    return f"Wrote {output}. Nothing has changed for devices that hold the survey from before."


def summary(question: Question) -> dict[str, object]:
    """Return a question as an object of `--json`."""
    forever = question.epsilon_forever
    return {
        "id": question.id,
        "version": question.version,
        "level": question.level,
        "digest": question.digest.hex(),
        "expires": question.expires.isoformat(),
        "epsilon": as_float(question.epsilon_once),
        "epsilon_forever": None if forever is None else as_float(forever),
        "record_bytes": question.record_size,
    }


def _table(survey: Survey) -> Table:
    table = Table(box=None, header_style="bold")
    for heading in ("question", "version", "epsilon once", "for ever", "bytes", "digest"):
        table.add_column(heading, justify="left" if heading in ("question", "digest") else "right")
    for question in survey.known:
        forever = question.epsilon_forever
        earlier = question in survey.earlier
        table.add_row(
            question.title,
            f"{question.version} (earlier)" if earlier else str(question.version),
            epsilon_text(as_float(question.epsilon_once)),
            "adds up" if forever is None else epsilon_text(as_float(forever)),
            str(question.record_size),
            question.digest.hex()[:16] + "…",
        )
    return table

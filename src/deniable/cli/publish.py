"""deniable publish: from the survey that people write to the one that clients read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deniable.authoring import read_authored
from deniable.cli.output import JsonFlag, SurveyToml, emit_json, err, out, write_file
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Survey
from deniable.protocol.epsilon import as_float


def publish(
    survey: SurveyToml,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to write it.", metavar="survey.json")
    ] = Path("survey.json"),
    json: JsonFlag = False,
) -> None:
    """Resolve every parameter into integers and write the survey.json that clients read.

    A question that was published before keeps its meaning: changing it needs a new version.
    """
    authored = read_authored(survey)
    ready = authored.require()
    if output.exists():
        refuse_silent_changes(Survey.load(output), ready)
    write_file(output, ready.published())
    if json:
        emit_json({"path": str(output), "questions": [summary(q) for q in ready.questions]})
        return
    for warning in authored.warnings:
        err.print(f"warning {warning}", markup=False, style="yellow")
    out.print(_table(ready))
    out.print(f"Wrote {output}.", markup=False)


def refuse_silent_changes(before: Survey, after: Survey) -> None:
    """Raise if a question means something else than before under the same version."""
    for question in after.questions:
        old = before.question(question.id, question.version)
        if old is not None and old.digest != question.digest:
            raise InvalidParameter(
                f"Question '{question.id}' version {question.version} was published with other "
                "parameters. Clients in the field answer the old one: raise its version."
            )


def summary(question: Question) -> dict[str, object]:
    """Return what `--json` says about a question."""
    forever = question.epsilon_forever
    return {
        "id": question.id,
        "version": question.version,
        "digest": question.digest.hex(),
        "epsilon": as_float(question.epsilon_once),
        "epsilon_forever": None if forever is None else as_float(forever),
        "record_bytes": question.record_size,
    }


def _table(survey: Survey) -> Table:
    table = Table(box=None, header_style="bold")
    for heading in ("question", "version", "epsilon once", "for ever", "bytes", "digest"):
        table.add_column(heading, justify="left" if heading in ("question", "digest") else "right")
    for question in survey.questions:
        forever = question.epsilon_forever
        table.add_row(
            question.id,
            str(question.version),
            f"{as_float(question.epsilon_once):.6f}",
            "adds up" if forever is None else f"{as_float(forever):.6f}",
            str(question.record_size),
            question.digest.hex()[:16] + "…",
        )
    return table

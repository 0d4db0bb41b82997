"""deniable associate: which answers of several fields go together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import (
    DataDirectory,
    JsonFlag,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import find_question, say_where_reports_are
from deniable.protocol import Question
from deniable.results.associate import associate_question, chosen_fields
from deniable.results.associate_files import save_association
from deniable.results.associate_table import association_as_text
from deniable.results.candidates import Candidates, read_candidates
from deniable.results.files import format_of
from deniable.store import open_store


def associate(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    more: Annotated[
        list[str] | None,
        typer.Argument(help="The fields after the first one of --fields.", metavar="[FIELD]..."),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option(
            "--fields",
            help="Two or more fields: --fields a b, or a,b; all of the question unless said.",
            metavar="FIELD [FIELD]...",
        ),
    ] = None,
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=FILE: the answers of a field to tell apart, one per line. A FILE alone is "
            "for every field of strings. May be repeated.",
            metavar="FIELD=FILE",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1000,
            help="At most so many answers of each field, the most frequent of those that stand "
            "out; 5 unless said or unless candidates are given.",
        ),
    ] = None,
    no_other: Annotated[
        bool, typer.Option("--no-other", help="Leave out the category of all other answers.")
    ] = False,
    attackers: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of reports that may be crafted: a second interval."),
    ] = None,
    version: VersionNumber = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write a file: .csv, .json, .parquet, .png, .svg or .html. May be repeated.",
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Say which answers of several fields go together: table, test, heat map."""
    asked = find_question(survey, question, version)
    names = [n for text in (*(fields or ()), *(more or ())) for n in text.split(",") if n]
    chosen = [field.name for field in chosen_fields(asked, names or None)]
    given = candidate_files(asked, chosen, candidates or [])
    for path in output or ():
        format_of(path)  # a wrong name is said before the work is done
    with open_store(data, create=False) as store, progress(quiet=json) as display:
        say_where_reports_are(store, survey, asked)
        task = display.add_task("reading", total=None)
        crafted = display.add_task("attacking", total=None, visible=False)
        association = associate_question(
            store,
            asked,
            chosen,
            candidates=given,
            candidates_folder=survey.parent,
            top=top,
            other=False if no_other else None,
            attackers=attackers,
            attacking=lambda done, total: display.update(
                crafted, completed=done, total=total, visible=True
            ),
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )
    for path in output or ():
        path.parent.mkdir(parents=True, exist_ok=True)
        save_association(association, path)
    if json:
        emit_json(association.as_json())
        return
    out.print(association_as_text(association), markup=False)


def candidate_files(
    question: Question, chosen: list[str], options: list[str]
) -> dict[str, Candidates]:
    """Return the candidates of each field from FIELD=FILE, or FILE for all fields of strings.

    Edge cases: what stands before the first '=' counts as a field only if the question has it; a
    file whose name holds '=' can be written ./name.

    Raises:
        InvalidParameter: if a file cannot be read.
    """
    known = {field.name for field in question.fields}
    found: dict[str, Candidates] = {}
    for option in options:
        name, equals, path = option.partition("=")
        if equals and name in known:
            found[name] = read_candidates(Path(path))
            continue
        listed = read_candidates(Path(option))
        found |= {
            field.name: listed
            for field in question.fields
            if field.domain.size is None and field.name in chosen and field.name not in found
        }
    return found

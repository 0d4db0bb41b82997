"""deniable associate: the answers of several fields that go together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deniable.ask import Candidates, read_candidates
from deniable.ask import associate as ask_together
from deniable.ask.associate import chosen_fields
from deniable.cli.asking import (
    CountsFile,
    EpochNumber,
    SinceDate,
    UntilDate,
    WhereSegments,
    Which,
    asking,
)
from deniable.cli.output import (
    Crafted,
    DataDirectory,
    IntervalsOf,
    JsonFlag,
    LevelName,
    OutputFiles,
    SurveyJson,
    VersionNumber,
    check_names,
    emit_tables,
)
from deniable.cli.values import find_question
from deniable.protocol import Question
from deniable.results.table import Tables


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
            help="Two or more fields: --fields a b, or a,b; by default all of the question.",
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
            help="The most answers of each field, the most frequent of those that stand "
            "out; by default 5, or all candidates that are given.",
        ),
    ] = None,
    no_other: Annotated[
        bool, typer.Option("--no-other", help="Leave out the category of all other answers.")
    ] = False,
    of: IntervalsOf = "population",
    crafted: Crafted = None,
    epoch: EpochNumber = None,
    since: SinceDate = None,
    until: UntilDate = None,
    where: WhereSegments = None,
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    counts: CountsFile = None,
    output: OutputFiles = None,
    json: JsonFlag = False,
) -> None:
    """Say which answers of several fields go together: table, test, heat map."""
    asked = find_question(survey, question, version, level)
    names = [n for text in (*(fields or ()), *(more or ())) for n in text.split(",") if n]
    chosen = [field.name for field in chosen_fields(asked, names or None)]
    given = _candidate_files(asked, chosen, candidates or [])
    check_names(output)
    which = Which(epoch, since, until, where)
    with asking(survey, asked, data, which, counts, quiet=json) as (store, base):
        options = replace(
            base,
            fields=chosen,
            candidates=given,
            folder=survey.parent,
            top=top,
            other=False if no_other else None,
            of=of,
            crafted=crafted,
        )
        table = ask_together(store, asked, options)
    emit_tables(Tables([table]), output, json)


def _candidate_files(
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

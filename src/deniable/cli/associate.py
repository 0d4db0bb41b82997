"""deniable associate: the answers of several fields that go together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from deniable.ask import Candidates, read_candidates
from deniable.ask import associate as ask_together
from deniable.ask.associate import chosen_fields
from deniable.ask.discover import is_discovered
from deniable.cli.asking import AskingPeople
from deniable.cli.output import (
    Confidence,
    Crafted,
    IntervalsOf,
    JsonFlag,
    OutputFiles,
    check_names,
    emit_tables,
    out,
)
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Question
from deniable.results.table import LEVEL, Tables

DISCOVERED = "discovered"
"""In place of a file of candidates: those that a discovery finds."""


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
            "for every field of strings. 'discovered' in place of FILE: those that a discovery "
            "finds on half of the people; the table is of the other half. May be repeated.",
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
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            help="Also the shares of every other field given the answers to this one, others "
            "summed out; repeat it to condition on several.",
            metavar="FIELD",
        ),
    ] = None,
    confidence: Confidence = LEVEL,
    solver: Annotated[
        Literal["sqp", "squarem", "em"],
        typer.Option(help="Of the joint table; all stop by the same certificate."),
    ] = "sqp",
    method: Annotated[
        Literal["default", "score", "moments", "wald", "bootstrap"],
        typer.Option(help="Of the test of independence; 'wald' is the paper's."),
    ] = "default",
    other_profile: Annotated[
        Literal["peaks", "flat", "fitted", "halves"],
        typer.Option(help="The model of unlisted strings; 'fitted' is the paper's."),
    ] = "peaks",
    of: IntervalsOf = "population",
    crafted: Crafted = None,
    output: OutputFiles = None,
    *,
    asking: AskingPeople,
    json: JsonFlag = False,
) -> None:
    """Say which answers of several fields go together: table, test, heat map."""
    questions = asking.questions(question)
    asked = questions[-1]
    names = [n for text in (*(fields or ()), *(more or ())) for n in text.split(",") if n]
    chosen = [field.name for field in chosen_fields(asked, names or None)]
    listed, discovered = _candidate_files(asked, chosen, candidates or [])
    check_names(output)
    with asking.source(questions, quiet=json) as (store, base):
        options = replace(
            base,
            fields=chosen,
            candidates=listed,
            discovered=discovered,
            folder=asking.survey.parent,
            top=top,
            other=False if no_other else None,
            of=of,
            people=asking.people(),
            crafted=crafted,
            confidence=confidence,
            solver=solver,
            method=method,
            profile=other_profile,
            given=_given(chosen, given or []),
        )
        table = ask_together(store, questions, options)
    emit_tables(Tables([table]), output, json)
    if not json:
        for part in table.parts.values():
            if part.about.kind == "conditional":
                out.print("\n" + part.text(), markup=False)


def _given(chosen: list[str], named: list[str]) -> list[str]:
    """Return the fields of --given.

    Raises:
        InvalidParameter: if one is not among the fields, is named twice, or none is left over.
    """
    names = [name for text in named for name in text.split(",") if name]
    if set(names) - set(chosen) or len(set(names)) < len(names) or len(names) == len(chosen):
        raise InvalidParameter(
            f"--given takes some of the fields {', '.join(chosen)}, each once, and must leave one "
            f"whose shares are shown. Got {', '.join(names)}."
        )
    return names


def _candidate_files(
    question: Question, chosen: list[str], options: list[str]
) -> tuple[dict[str, Candidates], list[str]]:
    """Return the candidates of each field, and the fields whose candidates are to be found.

    FIELD=FILE is of one field; FILE alone of all fields of strings, and 'discovered' alone of all
    whose strings are found from reports.

    Edge cases: what stands before the first '=' counts as a field only if the question has it; a
    file whose name holds '=', or that is called 'discovered', can be written ./name.

    Raises:
        InvalidParameter: if a file cannot be read, or 'discovered' has no field.
    """
    known = {field.name for field in question.fields}
    listed: dict[str, Candidates] = {}
    found: list[str] = []
    for option in options:
        name, equals, path = option.partition("=")
        if equals and name in known:
            if path == DISCOVERED:
                found.append(name)
            else:
                listed[name] = read_candidates(Path(path))
            continue
        strings = [f for f in question.fields if f.domain.size is None and f.name in chosen]
        if option == DISCOVERED:
            found += _discovered(question, strings)
            continue
        read = read_candidates(Path(option))
        listed |= {field.name: read for field in strings if field.name not in listed}
    return listed, found


def _discovered(question: Question, strings: list[Field]) -> list[str]:
    names = [field.name for field in strings if is_discovered(field)]
    if not names:
        raise InvalidParameter(
            f"Question {question.id!r} has no field among those named whose strings are found "
            "from reports.",
            'Such a field has mechanism = "prefixes" or "ngrams".',
        )
    return names

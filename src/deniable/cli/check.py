"""deniable check: everything that is wrong with a survey, at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from deniable._words import epsilon_text
from deniable.authoring import Authored, read_authored
from deniable.authoring.problems import Problem
from deniable.authoring.segments import Cells
from deniable.cli.output import JsonFlag, SurveyToml, emit_json, out
from deniable.cli.publish import PUBLISHED, published_before
from deniable.errors import InvalidParameter
from deniable.protocol import Question, StringSets, Survey
from deniable.protocol.budget import budget_of
from deniable.protocol.epochs import date_of, day_number
from deniable.protocol.epsilon import as_float
from deniable.protocol.publication import publication
from deniable.protocol.retention import keeping_of


def check(
    survey: SurveyToml,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where publish would write it.", metavar="FILE")
    ] = PUBLISHED,
    json: JsonFlag = False,
) -> None:
    """Say everything that is wrong with a survey, with the key, what is allowed and the fix.

    Where a survey was published before, say also whether publish would refuse this one.
    """
    authored = _against_published(read_authored(survey), output)
    if json:
        emit_json(
            {
                "ok": not authored.problems,
                "problems": [problem.as_json() for problem in authored.problems],
                "warnings": [warning.as_json() for warning in authored.warnings],
                "questions": [
                    {**_epsilons(question), **keeping_of(authored.survey, question).as_json()}
                    for question in authored.survey.questions
                ]
                if authored.survey
                else [],
                "budget": _budget(authored.survey),
                "clear_cells": [cells.as_json() for cells in authored.cells],
            }
        )
    else:
        show(authored)
    if authored.problems:
        raise typer.Exit(1)


def _against_published(authored: Authored, output: Path) -> Authored:
    """Add the reason for which publish would refuse the survey, if there is one."""
    if authored.problems or authored.survey is None:
        return authored
    try:
        publication(published_before(output), authored.survey, date_of(day_number()))
    except InvalidParameter as error:
        refusal = Problem(f"publish to {output}", error.message, error.fix)
        return replace(authored, problems=(refusal,))
    return authored


def _budget(survey: Survey | None) -> dict[str, object] | None:
    return None if survey is None else budget_of(survey, day_number()).as_json()


def show(authored: Authored) -> None:
    """Print problems, warnings and a closing line."""
    for problem in authored.problems:
        _line("problem", "red", problem)
    for warning in authored.warnings:
        _line("warning", "yellow", warning)
    for cells in authored.cells:
        out.print(_people_in(cells), markup=False)
    if authored.survey is not None and not authored.problems:
        for question in authored.survey.questions:
            if len(question.fields) > 1:
                out.print(_sum(question), markup=False)
        for question in authored.survey.questions:
            for text in _factors(question):
                out.print(text, markup=False)
        for text in _retention(authored.survey):
            out.print(text, markup=False)
        number = len({(q.id, q.version) for q in authored.survey.questions})
        out.print(f"{number} question{'s' * (number > 1)}, ready to be published.")
    else:
        out.print(f"{len(authored.problems)} to mend.")


def _factors(question: Question) -> list[str]:
    """Say what drawing one place of a set of strings does to the variance."""
    return [
        f"{question.title}.{field.name}: a device reports one of {field.domain.most} places, which "
        f"multiplies the variance of shares by {field.domain.most**2:,}"
        for field in question.fields
        if isinstance(field.domain, StringSets)
    ]


def _retention(survey: Survey) -> list[str]:
    """Say how long reports to each question stay, in a survey that says anything about it."""
    told = {q.id: keeping_of(survey, q) for q in survey.asked}
    if all(keeping.days is None for keeping in told.values()):
        return []
    if len(set(told.values())) == 1:
        return [next(iter(told.values())).words()]
    return [f"{name}: {keeping.words()}" for name, keeping in told.items()]


def _people_in(cells: Cells) -> str:
    """Say how many people a reader of the wire cannot tell apart."""
    many = f" in each of {cells.number} cohorts" if cells.number > 1 else ""
    return f"{cells.question.id}, {cells.words()}: about {cells.people:,.0f} people{many}, in clear"


def _line(word: str, colour: str, problem: Problem) -> None:
    out.print(word, style=colour, end=" ")
    out.print(problem.key, style="bold", markup=False, end="\n    ")
    out.print(problem.message, markup=False)
    if problem.fix:
        out.print(f"    fix: {problem.fix}", markup=False, style="dim")


def _epsilons(question: Question) -> dict[str, object]:
    """Return the epsilon of a report to a question, in all and field by field."""
    forever = question.epsilon_forever
    return {
        "id": question.id,
        "version": question.version,
        "level": question.level,
        "epsilon": as_float(question.epsilon_once),
        "epsilon_forever": None if forever is None else as_float(forever),
        "fields": {f.name: as_float(f.parameters.epsilon_once) for f in question.fields},
    }


def _sum(question: Question) -> str:
    """Say how the fields of a question share its epsilon."""
    parts = " + ".join(
        f"{f.name} {epsilon_text(as_float(f.parameters.epsilon_once))}" for f in question.fields
    )
    whole = epsilon_text(as_float(question.epsilon_once))
    return f"{question.title}: one report has epsilon {whole} = {parts}"

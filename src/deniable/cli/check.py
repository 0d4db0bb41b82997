"""deniable check: everything that is wrong with a survey, at once."""

from __future__ import annotations

import typer

from deniable.authoring import Authored, read_authored
from deniable.authoring.problems import Problem
from deniable.cli.output import JsonFlag, SurveyToml, emit_json, out
from deniable.protocol import Question, Survey
from deniable.protocol.budget import budget_of
from deniable.protocol.epochs import day_number
from deniable.protocol.epsilon import as_float


def check(survey: SurveyToml, json: JsonFlag = False) -> None:
    """Say everything that is wrong with a survey, with the key, what is allowed and the fix."""
    authored = read_authored(survey)
    if json:
        emit_json(
            {
                "ok": not authored.problems,
                "problems": [problem.as_json() for problem in authored.problems],
                "warnings": [warning.as_json() for warning in authored.warnings],
                "questions": [
                    _epsilons(question)
                    for question in (authored.survey.questions if authored.survey else ())
                ],
                "budget": _budget(authored.survey),
            }
        )
    else:
        show(authored)
    if authored.problems:
        raise typer.Exit(1)


def _budget(survey: Survey | None) -> dict[str, object] | None:
    return None if survey is None else budget_of(survey, day_number()).as_json()


def show(authored: Authored) -> None:
    """Print problems, warnings and a closing line."""
    for problem in authored.problems:
        _line("problem", "red", problem)
    for warning in authored.warnings:
        _line("warning", "yellow", warning)
    if authored.survey is not None:
        for question in authored.survey.questions:
            if len(question.fields) > 1:
                out.print(_sum(question), markup=False)
        number = len(authored.survey.questions)
        out.print(f"{number} question{'s' * (number > 1)}, ready to be published.")
    else:
        out.print(f"{len(authored.problems)} to mend.")


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
        "epsilon": as_float(question.epsilon_once),
        "epsilon_forever": None if forever is None else as_float(forever),
        "fields": {f.name: as_float(f.parameters.epsilon_once) for f in question.fields},
    }


def _sum(question: Question) -> str:
    """Say how the fields of a question share its epsilon."""
    parts = " + ".join(
        f"{f.name} {as_float(f.parameters.epsilon_once):.6f}" for f in question.fields
    )
    return f"{question.id}: one report has epsilon {as_float(question.epsilon_once):.6f} = {parts}"

"""deniable check: everything that is wrong with a survey, at once."""

from __future__ import annotations

import typer

from deniable.cli.output import JsonFlag, SurveyToml, emit_json, out
from deniable.protocol import Authored, read_authored
from deniable.protocol.problems import Problem


def check(survey: SurveyToml, json: JsonFlag = False) -> None:
    """Say everything that is wrong with a survey, with the key, what is allowed and the fix."""
    authored = read_authored(survey)
    if json:
        emit_json(
            {
                "ok": not authored.problems,
                "problems": [problem.as_json() for problem in authored.problems],
                "warnings": [warning.as_json() for warning in authored.warnings],
            }
        )
    else:
        show(authored)
    if authored.problems:
        raise typer.Exit(1)


def show(authored: Authored) -> None:
    """Print problems, warnings and a closing line."""
    for problem in authored.problems:
        _line("problem", "red", problem)
    for warning in authored.warnings:
        _line("warning", "yellow", warning)
    if authored.survey is not None:
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

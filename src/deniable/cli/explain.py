"""deniable explain: what each question promises and costs, in plain words."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, SurveyToml, emit_json, out
from deniable.protocol import Survey, read_authored
from deniable.results.explain import explain_question


def explain(
    survey: SurveyToml,
    people: Annotated[
        int | None, typer.Option(min=1, help="Expected people; the survey's own by default.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Say in plain words what each question promises to people, and what that costs the analyst.

    Takes survey.toml or a published survey.json.
    """
    if survey.suffix == ".json":
        ready, expected = Survey.load(survey), people
    else:
        authored = read_authored(survey)
        ready, expected = authored.require(), people or authored.people
    explanations = [
        explain_question(question, expected, survey.parent) for question in ready.questions
    ]
    if json:
        emit_json({"questions": [explanation.as_json() for explanation in explanations]})
        return
    for explanation in explanations:
        out.print(explanation.title, style="bold", markup=False)
        for sentence in (*explanation.sentences, *explanation.reasons):
            out.print(f"  • {sentence}", markup=False)
        out.print()

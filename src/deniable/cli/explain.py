"""deniable explain: the promise and the cost of each question, in plain words."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, SurveyToml, VersionNumber, emit_json, out
from deniable.cli.values import any_survey
from deniable.errors import InvalidParameter
from deniable.protocol import Survey
from deniable.protocol.budget import budget_of
from deniable.protocol.epochs import day_number
from deniable.protocol.naming import known_question
from deniable.protocol.retention import keeping_of
from deniable.results.explain import explain_question
from deniable.results.plan.budget import budget_table


def explain(
    survey: SurveyToml,
    question: Annotated[
        str | None, typer.Option(help="This question only; by default all of them.")
    ] = None,
    version: VersionNumber = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="Expected people; the survey's own by default.")
    ] = None,
    reports: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10**12,
            help="Also the epsilon of this number of reports of one unchanged value.",
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="A page for the people who are asked.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="With --public: a directory, or a file (.html, .md, .yaml).",
            metavar="PATH",
        ),
    ] = None,
    language: Annotated[
        Path | None,
        typer.Option(help="With --public: a file of translated sentences.", metavar="FILE"),
    ] = None,
    sentences: Annotated[
        bool, typer.Option("--sentences", help="Print the English sentences to translate.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Say in plain words what each question promises to people, and what that costs the analyst.

    Takes survey.toml or a published survey.json. --public makes a page for the people who are asked
    (what is collected, how it is randomised, what anyone could learn, in odds) and an entry for the
    OpenDP registry of deployments. Without --public or --question, the budget stands at the end:
    what one unchanged value of each question costs a device, and how many devices leave it out
    because of their ceiling.
    """
    if sentences:
        _sentences(json)
        return
    if language is not None and not public:
        raise InvalidParameter("--language belongs to --public.", "Add --public, or leave it out.")
    if version is not None and question is None:
        raise InvalidParameter("--version belongs to --question.", "Name the question, too.")
    ready = any_survey(survey)
    expected = people or ready.people
    if public:
        if question is not None:
            raise InvalidParameter("--public is about a whole survey.", "Leave --question out.")
        _disclose(ready, output, language, json)
        return
    if reports is not None and public:
        raise InvalidParameter("--reports is not for --public.", "Leave one of them out.")
    if output is not None:
        raise InvalidParameter("--output belongs to --public.", "Add --public, or leave it out.")
    chosen = ready.questions
    if question is not None:
        chosen = ready.levels(known_question(ready, question, version))
    explanations = [
        explain_question(asked, expected, survey.parent, reports, keeping_of(ready, asked))
        for asked in chosen
    ]
    budget = budget_of(ready, day_number()) if question is None else None
    if json:
        told: dict[str, object] = {"questions": [each.as_json() for each in explanations]}
        emit_json(told if budget is None else {**told, "budget": budget.as_json()})
        return
    for explanation in explanations:
        out.print(explanation.title, style="bold", markup=False)
        for sentence in explanation.sentences:
            out.print(f"  • {sentence}", markup=False)
        if explanation.reasons:
            out.print("  In numbers, for engineers:", markup=False)
        for reason in explanation.reasons:
            out.print(f"  • {reason}", markup=False)
        out.print()
    if budget is not None:
        out.print(budget_table(budget).text(), markup=False)


def _disclose(survey: Survey, output: Path | None, language: Path | None, json: bool) -> None:
    """Write or print the page for the people who are asked."""
    from deniable.results.disclosure import (
        disclose,
        page_markdown,
        read_language,
        save_disclosure,
    )

    say = None if language is None else read_language(language)
    files = [] if output is None else [str(path) for path in save_disclosure(survey, output, say)]
    page = disclose(survey, say)
    if json:
        emit_json({**page.as_json(), "files": files})
    elif files:
        out.print(f"Written: {', '.join(files)}", markup=False)
    else:
        out.print(page_markdown(page).decode(), markup=False)


def _sentences(json: bool) -> None:
    """Print the sentences of the page for the people who are asked, as a translator gets them."""
    from deniable.results.disclosure.language import ENGLISH

    text = ENGLISH.read_text("utf-8")
    if json:
        emit_json(tomllib.loads(text))
    else:
        print(text, end="")

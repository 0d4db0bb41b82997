"""The page /try: a person answers by clicking and sees all that becomes of the answer.

It belongs to trials (`deniable demo`): its reports go where invented people's do. It is the one
page of the dashboard that runs a script, the client for web pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from deniable.ask.candidates import candidate_path, read_candidates
from deniable.dashboard.pages import page
from deniable.protocol import Boolean, Field, Question, Survey
from deniable.results.disclosure.odds import EXAMPLES, sentence

SCRIPTS = ("deniable.bundle.js", "try.js")
"""Served only beside the page."""
_MOST_CHOICES = 12


@dataclass(frozen=True)
class Choice:
    """An answer to click on: its words, and the value as JSON."""

    words: str
    value: str


@dataclass(frozen=True)
class Tried:
    """A question of the page.

    Attributes:
        question: as published.
        choices: the answers to click on.
        labels: the words of each bit of a report; empty where bits have no meaning by themselves.
        learned: the most that one report, and all of them, could tell anybody.
    """

    question: Question
    choices: tuple[Choice, ...]
    labels: tuple[str, ...]
    learned: tuple[str, ...]


def tried(survey: Survey, folder: Path) -> list[Tried]:
    """Return the questions that the page can ask: one choice each, reported by bits or a symbol."""
    asked = survey.at_level("").asked
    fields = [(question, question.fields[0]) for question in asked if question.plain]
    return [
        Tried(question, choices, _labels(field), _learned(question))
        for question, field in fields
        if field.parameters.channel.typical.stages and (choices := _choices(field, folder))
    ]


def try_page(survey: Survey, folder: Path) -> Callable[[Request], Response]:
    """Return what answers /try for a survey whose candidate files are in `folder`."""

    def answer(request: Request) -> Response:
        asked = tried(survey, folder)
        return page(request, "try.html", scripted=True, survey=survey, tried=asked)

    return answer


def _choices(field: Field, folder: Path) -> tuple[Choice, ...]:
    """Return the answers to click on: yes and no, names, or the first listed strings."""
    if isinstance(field.domain, Boolean):
        return (Choice("yes", "true"), Choice("no", "false"))
    names = field.domain.labels if field.domain.kind == "categories" else ()
    if field.domain.kind == "strings" and field.candidates:
        names = tuple(read_candidates(candidate_path(folder, field)))
    return tuple(Choice(n, msgspec.json.encode(n).decode()) for n in names[:_MOST_CHOICES])


def _labels(field: Field) -> tuple[str, ...]:
    if isinstance(field.domain, Boolean):
        return ("no", "yes")
    return field.domain.labels if field.domain.size is not None else ()


def _learned(question: Question) -> tuple[str, ...]:
    half, forever = EXAMPLES[0], question.epsilon_forever
    once = f"From one report, {sentence(question.epsilon_once, half)}."
    if question.repeat == "once" or forever is None:
        return (once,)
    return (once, f"From all reports of one answer, {sentence(forever, half)}.")

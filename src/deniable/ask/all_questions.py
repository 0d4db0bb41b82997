"""Every question of a survey with its answer at a glance, as one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deniable.ask.candidates import candidates_for
from deniable.ask.glance import glance
from deniable.ask.kinds import ask
from deniable.ask.options import DEFAULTS, Options
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Survey
from deniable.protocol.naming import questions_of
from deniable.results.glance import Glance, glance_of
from deniable.results.table import About, Column, Table
from deniable.store.base import Store

COLUMNS = (
    Column("question", "label", "question"),
    Column("reports", "count", "reports"),
    Column("answer", "label", "answer"),
    Column("interval", "label", "95% interval"),
)

_ROOM = 45
"""The longest reason for no answer that stands in the answer's place."""


def all_questions(
    store: Store, survey: Survey, folder: Path | None = None, options: Options = DEFAULTS
) -> Table:
    """Return the questions that a survey asks, each with its reports and its main answer.

    Args:
        store: where the reports are.
        survey: the published survey.
        folder: where its candidate files are.
        options: those of the asks.

    Raises:
        StoreError: if the store cannot be read.
    """
    rows, notes = [], []
    for name in dict.fromkeys(question.id for question in survey.asked):
        found = _glance(store, questions_of(survey, name), folder, options)
        answer, interval = _words(found)
        rows.append((name, found.n, answer, interval))
        notes += [f"{name}: {found.problem}"] if len(found.problem) > _ROOM else []
    about = About("questions", what=(f"{survey.name}: the main answer of every question.",))
    return Table.of(about, COLUMNS, rows, notes=tuple(notes))


def _glance(
    store: Store, asked: tuple[Question, ...], folder: Path | None, options: Options
) -> Glance:
    """Return the answer of the first field; levels are pooled."""
    try:
        options = replace(options, folder=folder, candidates=candidates_for(asked[-1], folder))
        if len(asked) == 1:
            return glance(store, asked[0], options)
        return glance_of(ask(store, asked, options)[0])
    except InvalidParameter as error:
        return Glance(problem=error.message)


def _words(found: Glance) -> tuple[str, str]:
    if found.problem:
        return (found.problem if len(found.problem) <= _ROOM else "none, see below"), ""
    value, low, high = found.shown
    label = f"{found.field}: {found.label}" if found.field else found.label
    told = f"median {value}" if found.kind == "median" else f"{label} {value}"
    return told, f"{low} to {high}"

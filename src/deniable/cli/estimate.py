"""deniable estimate: from reports to a table with honest errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from deniable.ask import candidates_for, over_time
from deniable.ask import cumulative as ask_curve
from deniable.ask import estimate as ask_shares
from deniable.ask import numbers as ask_numbers
from deniable.ask.all_questions import all_questions
from deniable.ask.google_rappor import google_tables
from deniable.ask.options import Options
from deniable.ask.truth import read_truth
from deniable.cli.asking import AskingPeople, GroupBy
from deniable.cli.output import (
    Confidence,
    Crafted,
    IntervalForm,
    IntervalsOf,
    JsonFlag,
    OutputFiles,
    emit_tables,
    err,
    out,
    stages,
)
from deniable.cli.values import load_survey
from deniable.interop.google_files import read_triple
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.results.table import LEVEL, Tables
from deniable.store import open_store


def estimate(
    question: Annotated[
        str | None,
        typer.Argument(help="The question's id; without one, all questions with their answers."),
    ] = None,
    by: GroupBy = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Of numbers: mean, median and quantiles.")
    ] = False,
    quantile: Annotated[
        list[float] | None, typer.Option(help="Of numbers: this quantile too. May be repeated.")
    ] = None,
    above: Annotated[
        list[float] | None,
        typer.Option(help="Of numbers: the share from this value on. May be repeated."),
    ] = None,
    cumulative: Annotated[
        bool, typer.Option("--cumulative", help="Of numbers: the cumulative curve.")
    ] = False,
    candidates: Annotated[
        Path | None, typer.Option(help="A file of strings to test for, one per line.")
    ] = None,
    decoder: Annotated[
        Literal["default", "lasso"],
        typer.Option(
            help="Of strings in Bloom filters; 'lasso' is the RAPPOR paper's, with Bonferroni's "
            "correction and with the false discovery rate.",
        ),
    ] = "default",
    truth: Annotated[
        Path | None,
        typer.Option(
            help="The truth: the output of simulate --json (.json), answers with shares "
            "(.csv), or a list. Adds precision, recall and coverage.",
        ),
    ] = None,
    confidence: Confidence = LEVEL,
    output: OutputFiles = None,
    google_rappor: Annotated[
        Path | None,
        typer.Option(help="Decode params.csv, counts.csv and map.csv in this folder instead."),
    ] = None,
    of: IntervalsOf = "population",
    interval: IntervalForm = "mid-p",
    crafted: Crafted = None,
    *,
    asking: AskingPeople,
    json: JsonFlag = False,
) -> None:
    """Estimate the share of each answer, with standard error, 95% interval and test."""
    if question is not None and google_rappor is not None:
        raise typer.BadParameter("Name either a question or a folder with --google-rappor.")
    if question is None and google_rappor is None:
        _all_questions(asking.survey, asking.data, output, json)
        return
    if google_rappor is not None and crafted is not None:
        raise typer.BadParameter("--crafted needs a question, whose parameters are known.")
    if google_rappor is not None and (decoder, truth, confidence) != ("default", None, LEVEL):
        raise typer.BadParameter("--decoder, --truth and --confidence need a question of a survey.")
    if google_rappor is not None and asking.version is not None:
        raise typer.BadParameter("--version needs a question of a survey.")
    if google_rappor is not None:
        tables = google_tables(read_triple(google_rappor), str(google_rappor))
        emit_tables(tables, output, json)
        return
    if cumulative and (numbers or quantile or above or by):
        raise typer.BadParameter(
            "--cumulative goes alone: not with --numbers, --quantile, --above or --by."
        )
    questions = asking.questions(question or "")
    asked = questions[-1]
    strings = candidates_for(asked, asking.survey.parent, candidates)
    with asking.source(questions, quiet=json) as (store, base):
        options = replace(
            base,
            candidates=strings,
            people=asking.people(changes=True),
            of=of,
            interval=interval,
            crafted=crafted,
            confidence=confidence,
            decoder=decoder,
            truth={} if truth is None else read_truth(truth, asked),
        )
        if cumulative:
            tables = ask_curve(store, questions, options)
        elif numbers or quantile or above:
            options = replace(options, quantiles=quantile or (), above=above or ())
            tables = ask_numbers(store, questions, options, by or ())
        elif by:
            tables = over_time(store, questions, by, options)
        else:
            tables = ask_shares(store, questions, options)
    emit_tables(tables, output, json)


def _all_questions(survey: Path, data: str, output: list[Path] | None, json: bool) -> None:
    """Show every question with its main answer."""
    ready = load_survey(survey)
    with open_store(data, create=False) as store, stages(quiet=json) as told:
        options = Options(floor=ready.floor or DEFAULT_FLOOR, progress=told)
        table = all_questions(store, ready, survey.parent, options)
    emit_tables(Tables([table]), output, json)
    if not any(table.column("reports")):
        err.print("There are no reports yet.", markup=False)
        raise typer.Exit(1)
    if not json:
        out.print("One question in full: deniable estimate QUESTION", markup=False)

"""deniable estimate: from reports to a table with honest errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from deniable.ask import Options, candidates_for
from deniable.ask import estimate as ask_shares
from deniable.ask.google_rappor import google_tables
from deniable.ask.truth import read_truth
from deniable.cli.output import (
    Confidence,
    Crafted,
    DataPlace,
    IntervalForm,
    IntervalsOf,
    JsonFlag,
    LevelName,
    OutputFiles,
    SurveyJson,
    VersionNumber,
    emit_tables,
    stages,
)
from deniable.cli.values import find_question, say_where_reports_are
from deniable.interop.google_files import read_triple
from deniable.results.table import LEVEL
from deniable.store import open_store


def estimate(
    question: Annotated[
        str | None, typer.Argument(help="The question's id; none with --google-rappor.")
    ] = None,
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataPlace = "data",
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
    json: JsonFlag = False,
) -> None:
    """Estimate the share of each answer, with standard error, 95% interval and test."""
    if (question is None) == (google_rappor is None):
        raise typer.BadParameter("Name either a question or a folder with --google-rappor.")
    if google_rappor is not None and crafted is not None:
        raise typer.BadParameter("--crafted needs a question, whose parameters are known.")
    if google_rappor is not None and (decoder, truth, confidence) != ("default", None, LEVEL):
        raise typer.BadParameter("--decoder, --truth and --confidence need a question of a survey.")
    if google_rappor is not None and version is not None:
        raise typer.BadParameter("--version needs a question of a survey.")
    if google_rappor is not None:
        tables = google_tables(read_triple(google_rappor), str(google_rappor))
        emit_tables(tables, output, json)
        return
    asked = find_question(survey, question or "", version, level)
    strings = candidates_for(asked, survey.parent, candidates)
    with open_store(data, create=False) as store, stages(quiet=json) as told:
        say_where_reports_are(store, survey, asked)
        options = Options(
            candidates=strings,
            of=of,
            interval=interval,
            crafted=crafted,
            progress=told,
            confidence=confidence,
            decoder=decoder,
            truth={} if truth is None else read_truth(truth, asked),
        )
        tables = ask_shares(store, asked, options)
    emit_tables(tables, output, json)

"""deniable estimate: from reports to a table with honest errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import (
    DataDirectory,
    JsonFlag,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import find_question, say_where_reports_are
from deniable.interop.google_files import read_triple
from deniable.protocol import Question
from deniable.results import Result, as_text, estimate_question, save
from deniable.results.candidates import candidates_for
from deniable.results.google_rappor import google_result
from deniable.store import open_store


def estimate(
    question: Annotated[
        str | None, typer.Argument(help="The question's id; none with --google-rappor.")
    ] = None,
    version: VersionNumber = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    candidates: Annotated[
        Path | None, typer.Option(help="A file of strings to test for, one per line.")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Also write a file: .csv, .json, .parquet, .png, .svg or .html. May be repeated.",
        ),
    ] = None,
    google_rappor: Annotated[
        Path | None,
        typer.Option(help="Decode params.csv, counts.csv and map.csv in this folder instead."),
    ] = None,
    attackers: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Share of reports that may be crafted: a second bar."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Estimate the share of each answer, with standard error, 95% interval and test."""
    if (question is None) == (google_rappor is None):
        raise typer.BadParameter("Name either a question or a folder with --google-rappor.")
    if google_rappor is not None and attackers is not None:
        raise typer.BadParameter("--attackers needs a question, whose parameters are known.")
    if google_rappor is not None and version is not None:
        raise typer.BadParameter("--version needs a question of a survey.")
    if google_rappor is not None:
        results = [google_result(read_triple(google_rappor), str(google_rappor))]
    else:
        asked = find_question(survey, question or "", version)
        results = _estimate(asked, survey, data, candidates, attackers, quiet=json)
    for path in output or ():
        _save(results, path)
    if json:
        emit_json(results[0].as_json() if len(results) == 1 else {"fields": _by_field(results)})
        return
    for result in results:
        out.print(as_text(result), markup=False)


def _estimate(
    asked: Question,
    survey: Path,
    data: Path,
    candidates: Path | None,
    attackers: float | None,
    quiet: bool,
) -> list[Result]:
    strings = candidates_for(asked, survey.parent, candidates)
    with open_store(data, create=False) as store, progress(quiet=quiet) as display:
        say_where_reports_are(store, survey, asked)
        task = display.add_task("estimating", total=None)
        return estimate_question(
            store,
            asked,
            candidates=strings,
            attackers=attackers,
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )


def _by_field(results: list[Result]) -> dict[str, object]:
    return {result.field: result.as_json() for result in results}


def _save(results: list[Result], path: Path) -> None:
    """Write each field's result; several fields get their name into the file's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for result in results:
        name = path if len(results) == 1 else path.with_stem(f"{path.stem}-{result.field}")
        save(result, name)

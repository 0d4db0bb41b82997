"""deniable export: the raw reports, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.asking import EpochNumber, SinceDate, UntilDate, WhereSegments, Which
from deniable.cli.output import (
    DataDirectory,
    JsonFlag,
    LevelName,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import find_question, load_survey, say_where_reports_are
from deniable.results.export import export_reports
from deniable.store import open_store


def export(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A .parquet or .ndjson file to write.")
    ],
    epoch: EpochNumber = None,
    since: SinceDate = None,
    until: UntilDate = None,
    where: WhereSegments = None,
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    json: JsonFlag = False,
) -> None:
    """Write a question's reports to a file, in no meaningful order; simulated ones are marked."""
    asked = find_question(survey, question, version, level)
    chosen = Which(epoch, since, until, where).selection(asked, load_survey(survey))
    with open_store(data, create=False) as store, progress(quiet=json) as display:
        say_where_reports_are(store, survey, asked)
        task = display.add_task("exporting", total=None)
        written = export_reports(
            store, asked, output, chosen, progress=lambda done: display.update(task, completed=done)
        )
    if json:
        told = {"question": asked.id, "version": asked.version, "reports": written}
        emit_json({**told, "path": str(output)})
    else:
        out.print(f"Wrote {written:,} reports to {output}.", markup=False)

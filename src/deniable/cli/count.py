"""deniable count: the mergeable counts of a question's reports."""

from __future__ import annotations

from json import loads as parse_json
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import (
    DataPlace,
    JsonFlag,
    LevelName,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import find_question, say_where_reports_are
from deniable.engines.local import accumulate
from deniable.results.report_counts import reports_text
from deniable.store import open_store


def count(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataPlace = "data",
    json: JsonFlag = False,
) -> None:
    """Count the bits or symbols of all reports to a question: all that an estimate needs."""
    asked = find_question(survey, question, version, level)
    with open_store(data, create=False) as store, progress(quiet=json) as display:
        say_where_reports_are(store, survey, asked)
        task = display.add_task("counting", total=None)
        accumulated = accumulate(
            store,
            asked,
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )
    if json:
        fields = {
            name: {"reports": counts.reports.tolist(), "table": counts.table.tolist()}
            for name, counts in accumulated.counts.items()
        }
        told = {"question": asked.id, "version": asked.version, "level": asked.level}
        told |= {"fields": fields}
        segments = [
            {"segments": parse_json(text) if text else {}, "reports": number}
            for text, number in accumulated.segments.items()
        ]
        emit_json({**told, "simulated": accumulated.simulated, "segments": segments})
        return
    at_level = f" ({asked.level})" if asked.level else ""
    for name, counts in accumulated.counts.items():
        rows, columns = counts.table.shape
        reports = reports_text(counts.n, accumulated.simulated)
        out.print(f"{asked.id}{at_level}.{name}: {reports}", markup=False)
        out.print(f"  {rows} cohort(s) of {columns} counts; {int(counts.table.sum()):,} in all")
    for text, number in accumulated.segments.items():
        if text:
            words = ", ".join(f"{name} {value}" for name, value in parse_json(text).items())
            out.print(f"  {words}: {number:,} reports", markup=False)

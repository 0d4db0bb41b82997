"""deniable count: the mergeable counts of a question's reports."""

from __future__ import annotations

from json import loads as parse_json
from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.ask.several import only
from deniable.cli.asking import Asking
from deniable.cli.output import (
    JsonFlag,
    emit_json,
    out,
    write_file,
)
from deniable.engines.accumulated import Accumulated
from deniable.engines.counts_file import to_bytes
from deniable.engines.sql import counts_from_sql
from deniable.errors import InvalidParameter
from deniable.results.report_counts import reports_text

ONE_FILE = "A file of counts holds one version and one level: each counts other bits or symbols."
OutputFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the counts to a file, by epoch and segment."),
]


def count(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    output: OutputFile = None,
    from_sql: Annotated[
        Path | None,
        typer.Option(help="A CSV file: the result of the query of export --sql.", metavar="RESULT"),
    ] = None,
    *,
    asking: Asking,
    json: JsonFlag = False,
) -> None:
    """Count the bits or symbols of a question's reports: all that an estimate needs.

    A file of counts (-o) takes a store's place in estimate, marginals and discover (--counts), and
    files of the same question can be added up (deniable merge). Levels and versions are counted
    each by itself, and each has a file of its own.
    """
    asked = asking.questions(question)
    if output is not None:
        only(asked, ONE_FILE)
    if from_sql is not None:
        if asking.counts is not None or asking.engine != "local":
            raise InvalidParameter("--from-sql goes without --counts and --engine.")
        alone = only(asked, ONE_FILE)
        found = [counts_from_sql(from_sql, alone, asking.selection(alone))]
    else:
        with asking.source(asked, quiet=json) as (source, options):
            apart = output is not None or None
            found = [options.counted(source, one, apart=apart) for one in asked]
    if output is not None:
        write_file(output, to_bytes(found[0]))
    if json and len(found) > 1:
        emit_json({"question": question, "parts": [counts_json(one) for one in found]})
        return
    for counted in found:
        show_counts(counted, output, json)


def counts_json(counted: Accumulated) -> dict[str, object]:
    """Return counts as JSON."""
    asked = counted.question
    fields = {
        name: {"reports": counts.reports.tolist(), "table": counts.table.tolist()}
        for name, counts in counted.counts.items()
    }
    told = {"question": asked.id, "version": asked.version, "level": asked.level}
    told |= {"fields": fields, "epochs": {str(e): n for e, n in counted.epochs.items()}}
    segments = [
        {"segments": parse_json(text) if text else {}, "reports": number}
        for text, number in counted.segments.items()
    ]
    return {**told, "simulated": counted.simulated, "segments": segments}


def show_counts(counted: Accumulated, output: Path | None, json: bool) -> None:
    """Print counts: the numbers as JSON, or how many there are."""
    asked = counted.question
    if json:
        emit_json(counts_json(counted))
        return
    at_level = f" ({asked.level})" if asked.level else ""
    for name, counts in counted.counts.items():
        rows, columns = counts.table.shape
        reports = reports_text(counts.n, counted.simulated)
        out.print(f"{asked.id}{at_level}.{name}: {reports}", markup=False)
        out.print(f"  {rows} cohort(s) of {columns} counts; {int(counts.table.sum()):,} in all")
    for text, number in counted.segments.items():
        if text:
            words = ", ".join(f"{name} {value}" for name, value in parse_json(text).items())
            out.print(f"  {words}: {plural(number, 'report')}", markup=False)
    if output is not None:
        epochs = plural(len(counted.epochs), "epoch")
        out.print(f"Wrote the counts of {epochs} to {output}.", markup=False)

"""deniable export: the raw reports, for other tools."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from deniable._words import plural
from deniable.ask.several import only
from deniable.cli.asking import Reports
from deniable.cli.output import (
    JsonFlag,
    emit_json,
    out,
    progress,
)
from deniable.cli.values import load_survey, say_where_reports_are
from deniable.engines.sql import Dialect, query
from deniable.errors import InvalidParameter
from deniable.results.export import export_reports
from deniable.store import open_store
from deniable.store.archive import write_archive

ONE_QUERY = "A query counts one version and one level: each has other bits or symbols."
ONE_FILE = "Reports of different levels and versions have different columns: a file holds one."


def export(
    question: Annotated[
        str | None, typer.Argument(help="The question's id; all of them with --archive.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .parquet or .ndjson file to write.")
    ] = None,
    archive: Annotated[
        Path | None,
        typer.Option(help="A folder for all closed epochs as Parquet files, which grows."),
    ] = None,
    columns: Annotated[
        bool,
        typer.Option("--columns", help="With --archive: also numbers and words, for databases."),
    ] = False,
    sql: Annotated[
        Literal["duckdb", "postgres"] | None,
        typer.Option(help="Print the query that counts an archive's columns in a database."),
    ] = None,
    table: Annotated[
        str, typer.Option(help="With --sql postgres: the table that holds the columns.")
    ] = "reports",
    *,
    reports: Reports,
    json: JsonFlag = False,
) -> None:
    """Write a question's reports to a file, in no meaningful order; simulated ones are marked.

    With --archive the closed epochs of all questions, or of one, go into a folder of Parquet files
    that every asking verb takes as --data. What the folder has already stays as it is. With
    --columns a database can count them: --sql prints the query, and deniable count --from-sql reads
    its result.
    """
    if sql is not None:
        _print_query(question, reports, sql, archive, table, json=json)
        return
    if columns and archive is None:
        raise InvalidParameter("--columns goes with --archive.")
    if (output is None) == (archive is None):
        raise InvalidParameter("Name what to write: either --output FILE or --archive FOLDER.")
    if archive is not None:
        _write_archive(archive, question, reports, columns, json=json)
        return
    if question is None or output is None:
        raise InvalidParameter("Name the question whose reports are written.")
    asked = only(reports.questions(question), ONE_FILE)
    chosen = reports.selection(asked)
    with open_store(reports.data, create=False) as store, progress(quiet=json) as display:
        say_where_reports_are(store, reports.survey, asked)
        task = display.add_task("exporting", total=None)
        written = export_reports(
            store, asked, output, chosen, progress=lambda done: display.update(task, completed=done)
        )
    if json:
        told = {"question": asked.id, "version": asked.version, "reports": written}
        emit_json({**told, "path": str(output)})
    else:
        out.print(f"Wrote {plural(written, 'report')} to {output}.", markup=False)


def _print_query(
    question: str | None,
    reports: Reports,
    dialect: Dialect,
    archive: Path | None,
    table: str,
    *,
    json: bool,
) -> None:
    if question is None:
        raise InvalidParameter("Name the question that the query counts.")
    asked = only(reports.questions(question), ONE_QUERY)
    place = table if dialect == "postgres" else str(archive or "archive")
    text = query(asked, dialect, place)
    if json:
        emit_json({"question": asked.id, "version": asked.version, "sql": dialect, "query": text})
    else:
        typer.echo(text, nl=False)


def _write_archive(
    folder: Path,
    question: str | None,
    reports: Reports,
    columns: bool,
    *,
    json: bool,
) -> None:
    if question is not None:
        asked = list(reports.questions(question))
    elif (reports.version, reports.level) == (None, None):
        asked = list(load_survey(reports.survey).known)
    else:
        raise InvalidParameter("Name the question that --version or --level is of.")
    with open_store(reports.data, create=False) as store, progress(quiet=json) as display:
        task = display.add_task("archiving", total=None)
        written = write_archive(
            store,
            asked,
            folder,
            columns=columns,
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )
    if json:
        emit_json({**asdict(written), "path": str(folder)})
        return
    out.print(
        f"Wrote {plural(written.epochs, 'epoch')} with {plural(written.reports, 'report')} to "
        f"{folder}; "
        f"{written.there:,} were there, {written.waiting:,} are not closed yet.",
        markup=False,
    )

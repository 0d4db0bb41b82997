"""The output of every command: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from deniable.results.table import Tables

NARROWEST = 80
"""Columns of the narrowest terminal that output is made for."""


class Wrapping(Console):
    """A console that wraps text at words in a terminal; pipes and files get whole lines."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as Rich does, text wrapped first."""
        if self.is_terminal:
            objects = tuple(
                wrapped(one, self.room) if isinstance(one, str) else one for one in objects
            )
        super().print(*objects, **options)

    @property
    def room(self) -> int:
        """The columns that text has."""
        return max(NARROWEST, self.width)


def wrapped(text: str, width: int) -> str:
    """Return text whose long lines are wrapped at words, indented as they begin."""
    return "\n".join(
        _wrapped(line, width) if len(line) > width else line for line in text.split("\n")
    )


def _wrapped(line: str, width: int) -> str:
    start = re.match(r" *(?:[-•] )?", line)
    indent = " " * (start.end() if start else 0)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


out = Wrapping(highlight=False, soft_wrap=True)
err = Wrapping(stderr=True, highlight=False, soft_wrap=True)

_WIDEST = 120

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
SurveyToml = Annotated[
    Path, typer.Argument(help="The survey that people write.", metavar="survey.toml")
]
SurveyJson = Annotated[
    Path, typer.Option("--survey", help="The published survey.", metavar="survey.json")
]
VersionNumber = Annotated[
    int | None,
    typer.Option("--version", min=1, help="Of the question; by default the newest.", metavar="N"),
]
LevelName = Annotated[
    str | None,
    typer.Option("--level", help="Of a question with levels: the one to look at.", metavar="NAME"),
]


def checked_place(place: str) -> str:
    """Refuse the address of a database with a password in it, before anything can show it."""
    if "://" in place:
        from deniable.store.place import check_address, is_database

        if is_database(place):
            check_address(place)
    return place


DataPlace = Annotated[
    str,
    typer.Option(
        "--data",
        callback=checked_place,
        envvar="DENIABLE_DATA",
        help="The collector's data directory, postgresql://USER@HOST/DATABASE, or an archive.",
        metavar="DIR",
    ),
]


OutputFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Also write a file: .csv, .json, .parquet, .png, .svg or .html. May be repeated.",
    ),
]
IntervalsOf = Annotated[
    Literal["population", "reporters"],
    typer.Option("--of", help="The subject of intervals: people like those who report, or these."),
]
IntervalForm = Annotated[
    Literal["mid-p", "exact"],
    typer.Option("--interval", help="Of counts: mid-P, or Clopper and Pearson's (wider)."),
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", min=0.5, max=0.9999, help="The level of the intervals."),
]
Crafted = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="Share of reports that may be crafted: a second interval."),
]


def emit_json(data: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(data, ensure_ascii=False, allow_nan=False))


def emit_tables(tables: Tables, output: Sequence[Path] | None, as_json: bool) -> None:
    """Write tables to files, then print them: as text, or as one JSON object.

    Raises:
        typer.Exit: with 1, if they are of a question without reports, which is said.
    """
    for path in output or ():
        tables.save(path)
    if as_json:
        emit_json(tables.as_json())
    else:
        width = {"width": min(_WIDEST, out.room)} if out.is_terminal else {}
        out.print(tables.text(**width), markup=False)
    if all(table.about.question and table.about.n == 0 for table in tables):
        asked = tables[0].about.question
        err.print(f"There are no reports to {asked!r} to answer from.", markup=False)
        raise typer.Exit(1)


def check_names(output: Sequence[Path] | None) -> None:
    """Refuse a wrong name of a file before the work is done."""
    from deniable.results.table.files import format_of

    for path in output or ():
        format_of(path)


def write_file(path: Path, data: bytes) -> None:
    """Write a file whole: a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(data)
    temporary.replace(path)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Progress]:
    """Yield a progress display on standard error; it vanishes when the work is done."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=quiet) as display:
        yield display


@contextmanager
def stages(quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Yield the function that draws an ask's progress, a bar per stage; see `ask.Options`."""
    with progress(quiet) as display:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = display.add_task(stage, total=None)
            display.update(tasks[stage], completed=done, total=total)

        yield told

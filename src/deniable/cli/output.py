"""How every command speaks: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
SurveyToml = Annotated[
    Path, typer.Argument(help="The survey that people write.", metavar="survey.toml")
]
SurveyJson = Annotated[
    Path, typer.Option("--survey", help="The published survey.", metavar="survey.json")
]
VersionNumber = Annotated[
    int | None,
    typer.Option("--version", min=1, help="Of the question; the newest unless said.", metavar="N"),
]
DataDirectory = Annotated[
    Path, typer.Option("--data", help="The collector's data directory.", metavar="DIR")
]


def emit_json(data: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(data, ensure_ascii=False, allow_nan=False))


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

"""deniable paper: a figure of a paper made again, with the paper's numbers beside ours.

The figures stand in `papers/`, outside the package that is shipped: they are experiments, and no
part of collecting or asking needs them. Where they are installed (a checkout of the repository),
this verb finds them by their package's name, `deniable_papers`.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.output import JsonFlag
from deniable.errors import InvalidParameter

_PACKAGE = "deniable_papers"


def paper(
    figure: Annotated[str, typer.Argument(help="The figure's id, or 'list'.", metavar="ID")],
    runs: Annotated[int | None, typer.Option(min=1, help="Repetitions to average.")] = None,
    people: Annotated[int | None, typer.Option(min=100, help="Simulated people per run.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    data: Annotated[
        Path | None,
        typer.Option(help="A directory of real data; else a made-up population.", metavar="DIR"),
    ] = None,
    directory: Annotated[
        Path, typer.Option("--out", help="Where the files are written.", metavar="DIR")
    ] = Path("figures"),
    full: Annotated[bool, typer.Option("--full", help="The paper's own size.")] = False,
    json: JsonFlag = False,
) -> None:
    """Make a figure or table of a paper again: PNG, SVG and CSV, and the paper against ours."""
    command = _command()
    if figure == "list":
        command.show_all(json)
        return
    command.make(
        figure,
        directory,
        runs=runs,
        people=people,
        seed=seed,
        data=data,
        full=full,
        json=json,
    )


def _command() -> Any:
    """Return the module that makes figures, typed `Any`: this package does not depend on it."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise InvalidParameter(
            "The papers' figures are not part of the installed package.",
            "They are in the folder papers/ of the repository: in a checkout of it, run "
            "./scripts/demo --once and then .venv/bin/deniable paper list.",
        )
    return importlib.import_module(f"{_PACKAGE}.command")

"""deniable init: a survey to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.output import JsonFlag, emit_json, out, write_file
from deniable.errors import InvalidParameter

STARTER = Path(__file__).with_name("starter_survey.toml")


def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("survey.toml"),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write a survey to start from, with every kind of domain in it."""
    if path.exists() and not force:
        raise InvalidParameter(f"{path} exists already. Name another file, or use --force.")
    write_file(path, STARTER.read_bytes())
    if json:
        emit_json({"path": str(path)})
    else:
        out.print(f"Wrote {path}. Next: edit it, then run: deniable check {path}", markup=False)

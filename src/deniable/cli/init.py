"""deniable init: a survey to start from, and the candidate file that it needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from deniable.cli.output import JsonFlag, emit_json, out, write_file
from deniable.errors import InvalidParameter

TEMPLATES = Path(__file__).with_name("templates")
STARTER = TEMPLATES / "web.toml"
"""The template without --template."""


def init(
    path: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("survey.toml"),
    template: Annotated[
        Literal["web", "cli", "research"],
        typer.Option(help="For a web page or app, a command line tool, or a study."),
    ] = "web",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write a survey to start from, and the list of candidate strings that it needs.

    All its questions together cost a person epsilon 4 for ever, if the answers stay the same.
    """
    survey = (TEMPLATES / f"{template}.toml").read_bytes()
    files = {path: survey}
    for name in candidate_files(survey):
        files[path.parent / name] = (TEMPLATES / name).read_bytes()
    for file in files:
        if file.exists() and not force:
            raise InvalidParameter(f"{file} exists already. Name another file, or use --force.")
    for file, data in files.items():
        write_file(file, data)
    if json:
        emit_json({"path": str(path), "files": [str(file) for file in files]})
    else:
        written = " and ".join(str(file) for file in files)
        out.print(f"Wrote {written}. Next: edit, then run: deniable check {path}", markup=False)


def candidate_files(survey: bytes) -> Iterator[str]:
    """Yield the names of the candidate files of a survey of ours."""
    read: Mapping[str, Any] = tomllib.loads(survey.decode())
    for question in read["questions"]:
        domain = question.get("domain")
        if isinstance(domain, Mapping) and "candidates" in domain:
            yield domain["candidates"]

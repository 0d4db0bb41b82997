"""deniable archive: an operator's work on an archive by hand."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import JsonFlag, emit_json, out, progress
from deniable.store.archive import check_archive

archive = typer.Typer(
    help="Check an archive.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@archive.callback()
def _group() -> None:
    """Check an archive."""


@archive.command()
def check(
    place: Annotated[str, typer.Argument(help="The archive's folder, or its address.")],
    json: JsonFlag = False,
) -> None:
    """Look for damage in an archive: read every part, and compare it with its head and its sum.

    Parts of an epoch that are missing, there twice or renamed are named, too. Nothing is changed.
    The exit code is 1 if something is damaged, 4 if there is no archive.
    """
    with progress(quiet=json) as display:
        task = display.add_task("checking", total=None)
        found = check_archive(
            place, lambda done, total: display.update(task, completed=done, total=total)
        )
    if json:
        emit_json({"sound": not found.problems, **asdict(found)})
    else:
        out.print(
            f"{plural(found.reports, 'sound report')} in {plural(found.parts, 'part')}",
            markup=False,
        )
        for problem in found.problems:
            out.print(problem, markup=False)
        out.print(
            "Remove the folder of each epoch that is named, and export it again."
            if found.problems
            else "No damage was found.",
            markup=False,
        )
    if found.problems:
        raise typer.Exit(1)

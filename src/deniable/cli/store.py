"""deniable store: an operator's work on a store by hand: check it, close epochs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import DataPlace, JsonFlag, emit_json, out, progress
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import open_store
from deniable.store.check import Checked, Problem, check_store

store = typer.Typer(
    help="Check a store, or close epochs by hand.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_ADVICE = (
    "Restore the store from a backup, or go on with what is sound: questions and epochs that are "
    "not named here can be read, estimated and exported."
)


@store.command()
def check(data: DataPlace = "data", json: JsonFlag = False) -> None:
    """Look for damage in a store.

    Checks every sum, every batch's bytes and the counters, and runs SQLite's own check. Nothing is
    changed, and the collector may run meanwhile. The exit code is 1 if something is damaged, 4 if
    there is no store or it cannot be opened.
    """
    with progress(quiet=json) as display:
        task = display.add_task("checking", total=None)
        found = check_store(
            data, lambda done, total: display.update(task, completed=done, total=total)
        )
    if json:
        emit_json({"sound": not found.problems, **asdict(found)})
    else:
        _show(found)
    if found.problems:
        raise typer.Exit(1)


@store.command()
def close(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    data: DataPlace = "data",
    version: Annotated[int | None, typer.Option(min=1, help="This version only.")] = None,
    last_epoch: Annotated[
        int | None, typer.Option(min=0, help="Epochs up to this number only.")
    ] = None,
    floor: Annotated[
        int, typer.Option(min=1, help="Combinations of segments with fewer reports lose theirs.")
    ] = DEFAULT_FLOOR,
    json: JsonFlag = False,
) -> None:
    """Close a question's epochs now.

    Their reports are shuffled together, and their ids are forgotten. This is for questions that
    left the survey, whose epochs a collector leaves open. A report of a closed epoch that a device
    sends once more is counted twice, so close none that can still be reported.
    """
    with open_store(data, create=False) as opened:
        closed = opened.close_question(question, version, last_epoch, floor=floor)
    if json:
        emit_json({"question": question, "closed": closed})
        return
    out.print(f"{question}: {plural(closed, 'batch', 'batches')} closed", markup=False)


def _show(found: Checked) -> None:
    out.print(
        f"{plural(found.reports, 'report')} in {plural(found.batches, 'batch', 'batches')}; "
        f"{plural(found.chunks, 'chunk')}, {plural(found.bytes, 'sound byte')}",
        markup=False,
    )
    if found.leftovers:
        out.print(
            f"{plural(found.leftovers, 'chunk')} of an unfinished closing; the next one "
            "removes them"
        )
    for problem in found.problems:
        out.print(f"{_place(problem)}: {problem.words}", markup=False)
    out.print(_ADVICE if found.problems else "No damage was found.", markup=False)


def _place(problem: Problem) -> str:
    parts = [
        f"{name} {value}"
        for name, value in (
            ("question", problem.question),
            ("version", problem.version),
            ("epoch", problem.epoch),
        )
        if value is not None
    ]
    return ", ".join(parts) or "the store"

"""deniable backup: a copy of a store, checked before it is believed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import DataPlace, JsonFlag, emit_json, err, out
from deniable.store.copying import back_up


def backup(
    target: Annotated[Path, typer.Argument(help="A new directory for the copy.")],
    data: DataPlace = "data",
    with_open: Annotated[
        bool,
        typer.Option("--with-open", help="Copy open epochs and the ids of their reports, too."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Copy the closed epochs of a store into a new data directory, and check the copy.

    The collector may go on meanwhile. Every sum is checked on the way, and the copy once more. Of a
    store in PostgreSQL the copy is a directory as well, which any command reads.
    """
    copied = back_up(data, target, with_open=with_open)
    if json:
        told = {"target": str(target), "batches": len(copied), "reports": sum(copied.values())}
        emit_json({**told, "with_open": with_open})
        return
    out.print(
        f"{plural(sum(copied.values()), 'report')} in "
        f"{plural(len(copied), 'batch', 'batches')}: all "
        f"in {target}, and sound.",
        markup=False,
    )
    if with_open:
        err.print(
            "The copy keeps the ids of open epochs and which reports arrived together, for as "
            "long as you keep it.",
            markup=False,
        )

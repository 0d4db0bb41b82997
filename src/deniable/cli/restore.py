"""deniable restore: a backup becomes a store again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import DataPlace, JsonFlag, emit_json, out
from deniable.store.copying import restore as restore_store


def restore(
    source: Annotated[Path, typer.Argument(help="The directory that deniable backup wrote.")],
    data: DataPlace = "data",
    json: JsonFlag = False,
) -> None:
    """Copy a backup into an empty store, in a directory or in PostgreSQL, and check it.

    Reports that came after the backup are lost, except those that devices send again.
    """
    copied = restore_store(source, data)
    if json:
        emit_json({"data": data, "batches": len(copied), "reports": sum(copied.values())})
        return
    out.print(
        f"{plural(sum(copied.values()), 'report')} in "
        f"{plural(len(copied), 'batch', 'batches')}: all "
        f"in {data}, and sound.",
        markup=False,
    )

"""deniable delete: reports leave a store for good."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable._words import plural
from deniable.cli.output import DataPlace, JsonFlag, emit_json, out
from deniable.errors import InvalidParameter
from deniable.store import Scope, open_store

_OUT_OF_REACH = (
    "archives and exports, saved tables and files of counts",
    "backups and copies of the store",
    "snapshots of the disk, and copies that its hardware keeps",
    "logs of a proxy in front of the collector",
)
_OF_POSTGRES = "PostgreSQL's log (WAL), its archive, its replicas and its own backups"


def delete(
    question: Annotated[
        str | None, typer.Argument(help="The question's id; not with --simulated.")
    ] = None,
    data: DataPlace = "data",
    version: Annotated[int | None, typer.Option(min=1, help="This version only.")] = None,
    first_epoch: Annotated[
        int | None, typer.Option(min=0, help="Epochs from this number on.")
    ] = None,
    last_epoch: Annotated[int | None, typer.Option(min=0, help="Epochs up to this number.")] = None,
    simulated: Annotated[
        bool, typer.Option("--simulated", help="Simulated reports only; of all questions if alone.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be deleted, and delete nothing.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Delete a question's reports, a version's, some epochs', or simulated ones, for good.

    They leave the counters too. The collector may go on meanwhile; a deleted report that a device
    sends once more is not taken again as long as its epoch is open. The command also says what it
    cannot reach.
    """
    if question is None and not simulated:
        raise InvalidParameter("Name a question, or say --simulated: deniable delete QUESTION")
    chosen = Scope(question, version, first_epoch, last_epoch, True if simulated else None)
    with open_store(data, create=False) as store:
        found = [tally for tally in store.tallies() if chosen.holds(tally.batch)]
        deleted = 0 if dry_run else store.delete(chosen)
    beyond = [*_OUT_OF_REACH, *([_OF_POSTGRES] if "://" in data else [])]
    if json:
        batches = [
            {
                "question": tally.batch.question,
                "version": tally.batch.version,
                "epoch": tally.batch.epoch,
                "simulated": tally.batch.simulated,
                "reports": tally.reports,
            }
            for tally in found
        ]
        told = {"dry_run": dry_run, "found": batches, "deleted": deleted, "out_of_reach": beyond}
        emit_json(told)
        return
    for tally in found if dry_run else ():
        batch = tally.batch
        made_up = ", simulated" if batch.simulated else ""
        out.print(
            f"  {batch.question}, version {batch.version}, epoch {batch.epoch}{made_up}: "
            f"{plural(tally.reports, 'report')}",
            markup=False,
        )
    would = plural(sum(tally.reports for tally in found), "report")
    were = "was" if deleted == 1 else "were"
    out.print(
        f"{would} would be deleted." if dry_run else f"{plural(deleted, 'report')} {were} deleted."
    )
    out.print(f"Out of reach: {'; '.join(beyond)}.", markup=False)

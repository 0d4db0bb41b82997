"""`deniable paper`, once the figures are found: lists them, or makes one."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from deniable.cli.output import emit_json, out, progress
from deniable.kernels.one_thread import one_thread
from deniable_papers.base import Figure, Outcome
from deniable_papers.registry import FIGURES, figure
from deniable_papers.writing import compared, write


def show_all(json: bool) -> None:
    """Show every figure with what it shows."""
    if json:
        listed = [
            {"id": one.id, "paper": one.paper, "title": one.title, "shows": one.shows}
            for one in FIGURES
        ]
        emit_json({"figures": listed})
        return
    for one in FIGURES:
        out.print(f"{one.id:15}{one.title} ({one.paper}). {one.shows}", markup=False)


def make(
    name: str,
    directory: Path,
    *,
    runs: int | None,
    people: int | None,
    seed: int,
    data: Path | None,
    full: bool,
    json: bool,
) -> None:
    """Make one figure, write its files and show the paper's numbers beside ours."""
    chosen = figure(name)
    with progress(quiet=json) as display:
        task = display.add_task(chosen.id, total=None)
        options = chosen.options(
            runs=runs,
            people=people,
            seed=seed,
            data=data,
            full=full,
            progress=lambda done, total: display.update(task, completed=done, total=total),
        )
        with one_thread:  # runs are many and small
            outcome = chosen.run(options)
    files = [str(path) for path in write(chosen, outcome, directory)]
    if json:
        sizes = {"id": chosen.id, "seed": seed, "runs": options.runs, "people": options.people}
        found = {"paper": outcome.paper, "ours": outcome.ours, "notes": list(outcome.notes)}
        emit_json({**sizes, **found, "files": files})
        return
    _show(chosen, outcome, f"{options.runs:,} runs of {options.people:,} people, seed {seed}")
    out.print(f"Written: {', '.join(files)}", markup=False)


def _show(chosen: Figure, outcome: Outcome, sizes: str) -> None:
    out.print(f"{chosen.title} ({chosen.paper}); {sizes}", markup=False, style="bold")
    table = Table("", "paper", "ours", box=None, pad_edge=False)
    for row in compared(outcome):
        table.add_row(*row)
    out.print(table)
    for note in outcome.notes:
        out.print(f"- {note}", markup=False)

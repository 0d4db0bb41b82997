"""deniable paper: a figure of a paper made again, with the paper's numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from deniable import papers
from deniable.cli.output import JsonFlag, emit_json, out, progress
from deniable.kernels.one_thread import one_thread
from deniable.papers import Figure, Outcome
from deniable.papers.writing import compared


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
    if figure == "list":
        _list(papers.FIGURES, json)
        return
    chosen = papers.figure(figure)
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
    files = [str(path) for path in papers.write(chosen, outcome, directory)]
    if json:
        sizes = {"id": chosen.id, "seed": seed, "runs": options.runs, "people": options.people}
        found = {"paper": outcome.paper, "ours": outcome.ours, "notes": list(outcome.notes)}
        emit_json({**sizes, **found, "files": files})
        return
    _show(chosen, outcome, f"{options.runs:,} runs of {options.people:,} people, seed {seed}")
    out.print(f"Written: {', '.join(files)}", markup=False)


def _list(figures: tuple[Figure, ...], json: bool) -> None:
    if json:
        emit_json(
            {
                "figures": [
                    {"id": one.id, "paper": one.paper, "title": one.title, "shows": one.shows}
                    for one in figures
                ]
            }
        )
        return
    for one in figures:
        out.print(f"{one.id:15}{one.title} ({one.paper}). {one.shows}", markup=False)


def _show(figure: Figure, outcome: Outcome, sizes: str) -> None:
    out.print(f"{figure.title} ({figure.paper}); {sizes}", markup=False, style="bold")
    table = Table("", "paper", "ours", box=None, pad_edge=False)
    for row in compared(outcome):
        table.add_row(*row)
    out.print(table)
    for note in outcome.notes:
        out.print(f"- {note}", markup=False)

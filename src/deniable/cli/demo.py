"""deniable demo: the whole flow on one machine, from values to a dashboard."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress

from deniable.ask import Options, ask, associate, over_time
from deniable.cli.demo_clients import run_clients
from deniable.cli.demo_survey import HOMEPAGES, WORDS, publish_demo
from deniable.cli.output import JsonFlag, emit_json, out, progress
from deniable.cli.process import collector_process
from deniable.crowd.history import Course, History
from deniable.crowd.population import Population, draw_population
from deniable.protocol import Question, Survey
from deniable.protocol.epochs import day_number, epoch_of
from deniable.results.table import Table
from deniable.store import Batch, Store, open_store

_STRINGS = {"homepage": HOMEPAGES, "search": WORDS}
_CHANGING, _EPOCHS, _DEVICES = "browser", 12, 6_000
"""The question with a history: its epochs, and the most devices in each."""
_TOGETHER = 0.2
"""The share of people whose answers to the fields of a question go together."""


@dataclass(frozen=True)
class Size:
    """The size of a demo: its real clients, its invented people, and their seed."""

    clients: int
    people: int
    seed: int


def demo(
    once: Annotated[bool, typer.Option("--once", help="End when the results are shown.")] = False,
    clients: Annotated[
        int, typer.Option(min=1, max=5_000, help="Real clients, over HTTP.")
    ] = 1_000,
    people: Annotated[
        int, typer.Option(min=1, max=10_000_000, help="Simulated people, straight to the store.")
    ] = 300_000,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Fixes the population and its simulated part, not the clients."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Where survey, store and charts go.")] = Path(
        "demo-output"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Loopback port; 0: a free one.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Run the whole flow: real clients, a collector process, a store, estimates, a dashboard.

    All people are invented, so every report is marked as simulated. At the end a page, /try, lets
    you answer yourself and see what becomes of the answer; that report is marked, too.
    """
    size = Size(clients, people, secrets.randbits(32) if seed is None else seed)
    started = time.monotonic()
    survey = _prepare(output)
    data = output / "data"
    with collector_process(output / "survey.json", data, port, simulated=True) as collector:
        with progress(quiet=json) as display:
            populations = _collect(survey, collector.address, data, size, display)
        learned = decode(output, populations)
        seconds = time.monotonic() - started
        if json:
            emit_json(
                {
                    "seed": size.seed,
                    "people": size.clients + size.people,
                    "seconds": round(seconds, 1),
                    "address": collector.address,
                    "try": f"{collector.address}/try",
                    "questions": [result.as_json() for result in learned.results],
                    "trends": [one.as_json() for one in learned.trends],
                    "associations": [one.as_json() for one in learned.associations],
                }
            )
        else:
            _show(learned, output, seconds)
        if not once:
            out.print(f"Dashboard: {collector.address}/ (Ctrl-C ends it)", markup=False)
            out.print(f"Answer yourself, in a browser: {collector.address}/try", markup=False)
            collector.wait()


def _prepare(output: Path) -> Survey:
    """Make the demo's folder and publish its survey; what an earlier demo left is replaced."""
    shutil.rmtree(output / "data", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    return publish_demo(output)


def _collect(
    survey: Survey, address: str, data: Path, size: Size, display: Progress
) -> list[Population]:
    """Send the reports of real clients over HTTP and of simulated people to the store."""
    rng = np.random.default_rng(size.seed)
    number = size.clients + size.people
    populations = [
        draw_population(question, number, rng, {"value": _STRINGS.get(question.id, ())}, _TOGETHER)
        for question in survey.questions
    ]
    task = display.add_task("real clients, over HTTP", total=size.clients)
    run_clients(survey, address, populations, size.clients, lambda: display.advance(task))
    task = display.add_task("simulated people", total=size.people * len(populations))
    with open_store(data) as store:
        for population in populations:
            question = population.question
            epoch = epoch_of(day_number(), question.epoch)
            batch = Batch(question.id, question.version, question.digest, epoch, simulated=True)
            store.begin_simulation(batch, size.seed, size.people)
            if question.id == _CHANGING:
                _write_history(store, question, size.people, epoch, rng)
                display.advance(task, size.people)
                continue
            for done, records in population.after(size.clients).records(rng):
                store.append_records(batch, records, question.record_size)
                display.advance(task, done)
    return populations


def _write_history(
    store: Store, question: Question, people: int, last: int, rng: np.random.Generator
) -> None:
    """Write the reports of devices that come back for 12 epochs, while answers change."""
    course = Course(_EPOCHS, min(people, _DEVICES), churn=0.1, drift=0.8)
    history = History([question], course, rng, {})
    for place, (epoch, active, _) in enumerate(history.epochs(last)):
        for batch, _, records in history.reports(place, epoch, active):
            store.append_records(batch, records, question.record_size)


@dataclass(frozen=True)
class Learned:
    """The tables from the demo's reports.

    Attributes:
        trends: the shares over epochs of the question whose answers change.
        results: a table per question, or per field where it has several.
        associations: the joint tables of questions with several fields.
    """

    results: Sequence[Table]
    associations: Sequence[Table]
    trends: Sequence[Table] = ()


def decode(output: Path, populations: Sequence[Population]) -> Learned:
    """Estimate every question, put the population's shares beside it and write the charts."""
    results, associations, trends = [], [], []
    with open_store(output / "data", create=False) as store:
        for population in populations:
            question = population.question
            if question.id == _CHANGING:
                (trend,) = over_time(store, question, ["epoch"], Options(folder=output))
                trend.save(output / f"{question.id}.png")
                trends.append(trend)
                continue
            for table in ask(store, question, Options(folder=output)):
                # A string that was found and that nobody holds has the true share 0.
                nobody = {row["value"]: 0.0 for row in table.rows}
                known = table.with_truth({**nobody, **population.stated(table.about.field)})
                name = question.id if question.plain else f"{question.id}-{table.about.field}"
                known.save(output / f"{name}.png")
                results.append(known)
            if len(question.fields) > 1:
                association = associate(store, question)
                association.save(output / f"{question.id}.png")
                associations.append(association)
    return Learned(results, associations, trends)


def _show(learned: Learned, output: Path, seconds: float) -> None:
    """Print every table beside the truth, and where the charts are."""
    for table in (*learned.results, *learned.trends, *learned.associations):
        out.print(table.text(), markup=False)
    rows = [row for result in learned.results for row in result.rows]
    hits = sum(row.interval[0] <= (row.truth or 0) <= row.interval[1] for row in rows)
    out.print(f"{hits} of {len(rows)} intervals hold the population's share; 95% should.")
    out.print(f"{seconds:.1f} seconds. Survey, store and charts are in {output}/.", markup=False)

"""deniable simulate: a made-up crowd in the store, to see what could be learned from a real one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from deniable.ask.candidates import candidates_for
from deniable.cli.output import (
    DataDirectory,
    JsonFlag,
    SurveyJson,
    VersionNumber,
    emit_json,
    out,
    progress,
)
from deniable.cli.population import draw_population
from deniable.cli.values import find_question
from deniable.discover.train import fitting
from deniable.protocol import Question, Strings
from deniable.protocol.epochs import day_number, epoch_of
from deniable.store import Batch, open_store


def simulate(
    question: Annotated[str, typer.Argument(help="The question's id.")],
    people: Annotated[int, typer.Option(min=1, max=10**9, help="How many people.")] = 100_000,
    version: VersionNumber = None,
    survey: SurveyJson = Path("survey.json"),
    data: DataDirectory = Path("data"),
    candidates: Annotated[
        Path | None, typer.Option(help="A file of strings people may answer, one per line.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeat the same crowd; by default it is new.")
    ] = None,
    together: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="The share of people whose answers to all fields have the same rank: these fields "
            "go together.",
        ),
    ] = 0.0,
    json: JsonFlag = False,
) -> None:
    """Simulate the reports of a crowd, write them to the store and print the truth behind them."""
    asked = find_question(survey, question, version)
    rng = np.random.default_rng(seed)
    strings = candidates_for(asked, survey.parent, candidates)
    population = draw_population(asked, people, rng, strings, together)
    epoch = epoch_of(day_number(), asked.epoch)
    batch = Batch(asked.id, asked.version, asked.digest, epoch)
    with open_store(data) as store, progress(quiet=json) as display:
        task = display.add_task("simulating", total=people)
        for number, records in population.records(rng):
            store.append_records(batch, records, asked.record_size)
            display.advance(task, number)
    truth = {field.name: population.truth(field.name) for field in asked.fields}
    changed = _changed(asked, strings)
    if json:
        told = {
            "question": asked.id,
            "version": asked.version,
            "people": people,
            "epoch": epoch,
            "truth": truth,
        }
        emit_json({**told, "fitted": changed} if changed else told)
        return
    out.print(f"{people:,} simulated reports to {asked.id} are in {data}.", markup=False)
    for name, count in changed.items():
        out.print(
            f"  {count:,} of {len(strings[name]):,} listed strings of {name} were cut off or "
            "escaped, as its domain says.",
            markup=False,
        )
    for name, shares in truth.items():
        shown = ", ".join(f"{label} {share:.2%}" for label, share in list(shares.items())[:8])
        out.print(f"  truth of {name}: {shown}", markup=False)


def _changed(question: Question, strings: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return how many listed strings are not answers as they stand, by field, where there are."""
    domains = {f.name: f.domain for f in question.fields if isinstance(f.domain, Strings)}
    counted = {
        name: fitting(strings[name], domain)[0]
        for name, domain in domains.items()
        if name in strings and domain.alphabet
    }
    return {name: count for name, count in counted.items() if count}

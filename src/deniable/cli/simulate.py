"""deniable simulate: the reports of a made-up crowd, in a store of their own."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from deniable.ask.candidates import candidates_for
from deniable.cli.cells import draw_cells
from deniable.cli.output import (
    JsonFlag,
    LevelName,
    SurveyJson,
    VersionNumber,
    checked_place,
    emit_json,
    out,
    progress,
)
from deniable.cli.population import draw_population
from deniable.cli.values import known_question, load_survey, question_of
from deniable.discover.train import fitting
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Strings
from deniable.protocol.epochs import day_number, epoch_of
from deniable.store import Batch, open_store

_SIMULATED_FOLDER = "simulated"
"""The data directory of simulated reports, beside the collector's `data`."""
_SEED_BITS = 32
"""The bits of a seed that nobody chose: short enough to be typed again."""


def simulate(
    question: Annotated[
        str | None, typer.Argument(help="The question's id; not with --remove.")
    ] = None,
    people: Annotated[
        int, typer.Option(min=1, max=10**9, help="How many people answer.")
    ] = 100_000,
    version: VersionNumber = None,
    level: LevelName = None,
    survey: SurveyJson = Path("survey.json"),
    data: Annotated[
        str,
        typer.Option(
            "--data",
            callback=checked_place,
            help="The data directory, or database, that the crowd answers to.",
            metavar="DIR",
        ),
    ] = _SIMULATED_FOLDER,
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
    into_real_store: Annotated[
        bool,
        typer.Option(
            "--into-real-store",
            help="Write to a store that holds real reports; they will be counted together.",
        ),
    ] = False,
    remove: Annotated[
        bool,
        typer.Option("--remove", help="Delete all simulated reports of the store, and end."),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Simulate the reports of a crowd, write them to a store and print the truth behind them.

    People of a question with segments or levels are drawn into them by the shares that the survey
    states, whatever their answers. Where the survey asks a share of the devices, these are the
    people who are asked. The store is the folder 'simulated' unless --data names another:
    the collector's is not touched.
    """
    if remove:
        _remove(question, data, json)
        return
    if question is None:
        raise InvalidParameter("Name a question of the survey: deniable simulate QUESTION")
    ready = load_survey(survey)
    asked = known_question(ready, question, version)
    levels = (
        ready.levels(asked) if level is None else (question_of(ready, question, version, level),)
    )
    seed = secrets.randbits(_SEED_BITS) if seed is None else seed
    rng = np.random.default_rng(seed)
    strings = candidates_for(asked, survey.parent, candidates)
    population = draw_population(asked, people, rng, strings, together)
    epoch = epoch_of(day_number(), asked.epoch)
    cells = draw_cells(levels, people, rng)
    with open_store(data) as store, progress(quiet=json) as display:
        for each in levels:
            batch = Batch(each.id, each.version, each.digest, epoch, simulated=True)
            store.begin_simulation(batch, seed, people, among_real=into_real_store)
        task = display.add_task("simulating", total=people)
        for cell in cells:
            batch = cell.batch(epoch)
            for number, records in population.of(cell.question, cell.people).records(rng):
                store.append_records(batch, records, cell.question.record_size)
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
        told |= {"data": data, "seed": seed, "cells": [cell.as_json() for cell in cells]}
        emit_json({**told, "fitted": changed} if changed else told)
        return
    out.print(
        f"{people:,} simulated reports to {asked.id} are in {data} (seed {seed}). "
        f"Ask with --data {data}",
        markup=False,
    )
    for cell in cells if len(cells) > 1 else ():
        out.print(f"  {cell.words()}: {len(cell.people):,} people", markup=False)
    for name, count in changed.items():
        out.print(
            f"  {count:,} of {len(strings[name]):,} listed strings of {name} were cut off or "
            "escaped, as its domain says.",
            markup=False,
        )
    for name, shares in truth.items():
        shown = ", ".join(f"{label} {share:.2%}" for label, share in list(shares.items())[:8])
        out.print(f"  truth of {name}: {shown}", markup=False)


def _remove(question: str | None, data: str, json: bool) -> None:
    """Take the simulated reports out of a store."""
    if question is not None:
        raise InvalidParameter(
            f"--remove deletes the simulated reports to all questions. Leave out {question!r:.80}."
        )
    with open_store(data, create=False) as store:
        removed = store.remove_simulated()
    if json:
        emit_json({"data": data, "removed": removed})
    else:
        out.print(f"Removed {removed:,} simulated reports from {data}.", markup=False)


def _changed(question: Question, strings: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of listed strings that had to be changed, by field that has any."""
    domains = {f.name: f.domain for f in question.fields if isinstance(f.domain, Strings)}
    counted = {
        name: fitting(strings[name], domain)[0]
        for name, domain in domains.items()
        if name in strings and domain.alphabet
    }
    return {name: count for name, count in counted.items() if count}

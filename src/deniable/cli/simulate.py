"""deniable simulate: the reports of a made-up crowd, in a store of their own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from deniable._words import plural
from deniable.ask.candidates import candidates_for
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
from deniable.cli.simulated import Told, Truth, show_simulated
from deniable.cli.values import load_survey
from deniable.crowd import draw_population, given_people, known_truth, read_columns, write_given
from deniable.crowd.cells import Cell, draw_cells
from deniable.crowd.columns import Columns
from deniable.crowd.history import Course, History
from deniable.discover.train import fitting
from deniable.errors import InvalidParameter
from deniable.protocol import Question, Strings
from deniable.protocol.epochs import day_number, epoch_of
from deniable.protocol.naming import known_question, question_of
from deniable.store import Batch, Store, open_store

_SIMULATED_FOLDER = "simulated"
"""The data directory of simulated reports, beside the collector's `data`."""
_PEOPLE = 100_000
_SEED_BITS = 32
"""The bits of a seed that nobody chose: short enough to be typed again."""


def simulate(
    questions: Annotated[
        list[str] | None,
        typer.Argument(
            help="The ids of one or more questions; not with --remove.", metavar="QUESTION..."
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(min=1, max=10**9, help="How many people, in each epoch; by default 100,000."),
    ] = None,
    values: Annotated[
        Path | None,
        typer.Option(
            help="True values of your own, as CSV: a column for each field or attribute.",
            metavar="FILE",
        ),
    ] = None,
    epochs: Annotated[
        int, typer.Option(min=1, max=1_000, help="The epochs of a history, up to today's.")
    ] = 1,
    churn: Annotated[
        float, typer.Option(min=0, max=1, help="Share of devices replaced from epoch to epoch.")
    ] = 0.0,
    drift: Annotated[
        float, typer.Option(min=0, max=1, help="Share of people with another answer at the end.")
    ] = 0.0,
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
    states, whatever their answers. With --epochs, devices come back with their secret; --churn
    replaces some of them, and --drift lets people change their answer once. Where the survey asks a
    share of the devices, these are the people who are asked. The store is the folder 'simulated'
    unless --data names another: the collector's is not touched.

    With --values the true answers are yours: a column for each field or attribute, under its name
    or as 'question.name'; that of a plain question under the question's id. A person with an empty
    cell counts as absent or unknown where the question has that, and else sends no report. No true
    value is written anywhere.
    """
    if remove:
        _remove(questions, data, json)
        return
    if not questions:
        raise InvalidParameter("Name a question of the survey: deniable simulate QUESTION")
    if epochs == 1 and (churn or drift):
        raise InvalidParameter("--churn and --drift need several epochs: --epochs 12")
    if values is not None and (people is not None or epochs > 1 or together):
        raise InvalidParameter(
            "--values says who the people are.", "Leave out --people, --epochs and --together."
        )
    ready = load_survey(survey)
    columns = None if values is None else read_columns(values)
    number = _PEOPLE if people is None else people
    course = Course(epochs, number if columns is None else _rows(columns), churn, drift)
    crowds = []
    for question in questions:
        asked = known_question(ready, question, version)
        chosen = ready.levels(asked)
        if level is not None:
            chosen = (question_of(ready, question, version, level),)
        strings = candidates_for(asked, survey.parent, candidates)
        if columns is None:  # What nobody could answer is said before the seed is noted.
            draw_population(asked, 1, np.random.default_rng(0), strings, together)
        crowds.append((asked, chosen, strings))
    chosen_seed = seed
    seed = secrets.randbits(_SEED_BITS) if seed is None else seed
    told = []
    with open_store(data) as store, progress(quiet=json) as display:
        task = display.add_task("simulating", total=course.people * epochs * len(crowds))
        for asked, levels, strings in crowds:
            last = epoch_of(day_number(), asked.epoch)
            if columns is not None:
                # By default from the operating system: whoever knows the seed can undo the noise.
                rng = np.random.default_rng(chosen_seed)
                given = given_people(asked, columns, rng)
                advance = partial(display.advance, task)
                cells = write_given(
                    store, levels, given, rng, last, advance, among_real=into_real_store
                )
                truth = [(last, known_truth(given, strings))]
                told.append(Told(asked, last, cells, truth, {}, strings, given))
                continue
            for each in levels:
                batch = Batch(each.id, each.version, each.digest, last, simulated=True)
                store.begin_simulation(batch, seed, course.people, among_real=into_real_store)
            rng = np.random.default_rng(seed)
            advance = partial(display.advance, task)
            made = _written(store, levels, course, rng, (strings, together), last, advance)
            told.append(Told(asked, last, *made, _changed(asked, strings), strings))
    show_simulated(told, course, data, chosen_seed if columns is not None else seed, json)


def _rows(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _written(
    store: Store,
    levels: Sequence[Question],
    course: Course,
    rng: np.random.Generator,
    drawing: tuple[Mapping[str, Sequence[str]], float],
    last: int,
    advance: Callable[[int], None],
) -> tuple[Sequence[Cell], list[Truth]]:
    """Write the reports of a crowd; return its cells, and the truth of every epoch."""
    if course.epochs == 1:
        population = draw_population(levels[0], course.people, rng, *drawing)
        cells = draw_cells(levels, course.people, rng)
        for cell in cells:
            batch = cell.batch(last)
            for number, records in population.of(cell.question, cell.people).records(rng):
                store.append_records(batch, records, cell.question.record_size)
                advance(number)
        return cells, [(last, {f.name: population.truth(f.name) for f in levels[0].fields})]
    history, truths = History(levels, course, rng, *drawing), []
    for place, (epoch, active, new) in enumerate(history.epochs(last)):
        # Whoever answers once, ever, has done so in the first epoch.
        reporting = new if levels[0].repeat == "once" else active
        for batch, number, records in history.reports(place, epoch, reporting):
            store.append_records(batch, records, levels[0].record_size)
            advance(number)
        crowd = history.population(place, active)
        truths.append((epoch, {field.name: crowd.truth(field.name) for field in levels[0].fields}))
    return history.cells, truths


def _remove(questions: Sequence[str] | None, data: str, json: bool) -> None:
    """Take the simulated reports out of a store."""
    if questions:
        named = ", ".join(questions)
        raise InvalidParameter(
            f"--remove deletes the simulated reports to all questions. Leave out {named!r:.80}."
        )
    with open_store(data, create=False) as store:
        removed = store.remove_simulated()
    if json:
        emit_json({"data": data, "removed": removed})
    else:
        out.print(f"Removed {plural(removed, 'simulated report')} from {data}.", markup=False)


def _changed(question: Question, strings: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the number of listed strings that had to be changed, by field that has any."""
    domains = {f.name: f.domain for f in question.fields if isinstance(f.domain, Strings)}
    counted = {
        name: fitting(strings[name], domain)[0]
        for name, domain in domains.items()
        if name in strings and domain.alphabet
    }
    return {name: count for name, count in counted.items() if count}

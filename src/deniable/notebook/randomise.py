"""People's own values, randomised as their devices would: from a table to an answer, with truth."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable.ask.candidates import candidates_for, fitted_candidates, is_open
from deniable.authoring import read_authored
from deniable.crowd import given_people, known_truth, read_columns, write_given
from deniable.crowd.columns import Columns
from deniable.crowd.given import wanted_columns
from deniable.errors import InvalidParameter
from deniable.notebook.data import Data
from deniable.notebook.progress import bars
from deniable.protocol import Question, Survey
from deniable.protocol.epochs import day_number, epoch_of
from deniable.protocol.naming import known_question
from deniable.store import open_store


class _Folder:
    """A folder that is there as long as somebody holds this, or until the process ends."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="deniable-")
        weakref.finalize(self, shutil.rmtree, self.path, True)


def randomise(
    people: Any,
    survey: Survey | str | Path,
    *,
    questions: Sequence[str] | None = None,
    data: str | Path | None = None,
    seed: int | None = None,
    progress: bool = True,
) -> Data:
    """Randomise people's values as their devices would; `deniable.randomise` is the same."""
    ready, folder = _read(survey)
    columns = read_columns(people)
    asked = _chosen(ready, columns, questions)
    rng = np.random.default_rng(_checked_seed(seed))
    kept = _Folder() if data is None else None
    place = kept.path if kept is not None else str(data)
    truth: dict[str, dict[str, dict[str, float | None]]] = {}
    notes: list[str] = []
    with open_store(place) as store, bars(progress) as told:
        total, done = len(asked) * len(next(iter(columns.values()))), 0

        def advance(number: int) -> None:
            nonlocal done
            done += number
            if told is not None:
                told("randomising", done, total)

        for question in asked:
            given = given_people(question, columns, rng)
            epoch = epoch_of(day_number(), question.epoch)
            write_given(store, ready.levels(question), given, rng, epoch, advance)
            listed = {
                field.name: fitted_candidates(strings, field)
                for field in question.fields
                if is_open(field)
                and (strings := candidates_for(question, folder).get(field.name)) is not None
            }
            truth[question.id] = {
                field: dict(shares)
                for field, shares in known_truth(given, listed).items()
                if shares
            }
            notes += given.notes
    return Data(place, ready, folder, truth, tuple(notes), kept)


def _read(survey: Survey | str | Path) -> tuple[Survey, Path | None]:
    if isinstance(survey, Survey):
        return survey, None
    path = Path(survey)
    if path.suffix == ".toml":
        return read_authored(path).require(), path.parent
    return Survey.load(path), path.parent


def _checked_seed(seed: int | None) -> int | None:
    if seed is None or (type(seed) is int and seed >= 0):
        return seed
    raise InvalidParameter(
        "The seed must be an integer from 0, or None for the operating system's randomness. "
        f"Got {type(seed).__name__}."
    )


def _chosen(survey: Survey, columns: Columns, names: Sequence[str] | None) -> list[Question]:
    """Return the questions that are named; else those whose columns are all there."""
    if names is not None:
        return [known_question(survey, name) for name in names]
    asked = {question.id: question for question in reversed(survey.asked)}
    found = [
        question
        for question in reversed(asked.values())
        if all(any(n in columns for n in names) for names in wanted_columns(question).values())
    ]
    if found:
        return found
    if len(asked) == 1:  # its own message names what is missing
        return list(asked.values())
    raise InvalidParameter(
        f"No question of the survey has all its columns among {', '.join(columns):.200}.",
        "Name a column for each field or attribute: "
        + "; ".join(
            f"{q.id}: {', '.join(names[-1] for names in wanted_columns(q).values())}"
            for q in asked.values()
        )[:400],
    )

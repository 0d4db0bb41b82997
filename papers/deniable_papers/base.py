"""An experiment of a paper: a name, a function, and its outcome.

    options -> run -> outcome -> files, and the paper's numbers beside ours

One file per figure or table holds one `Figure`; `registry` lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from deniable import _validate

T = TypeVar("T")
Value = str | int | float | bool | None
Numbers = Mapping[str, Any]
"""A JSON object: strings, finite numbers, None, and lists and objects of these."""
Rows = Sequence[Mapping[str, Value]]
"""A table: every row has the same columns in the same order."""

MOST_RUNS = 1_000_000
MOST_PEOPLE = 10**12


def _silent(done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Options:
    """How large an experiment is and where its randomness and data come from.

    Attributes:
        runs: repetitions that are averaged.
        people: simulated people per run.
        seed: of everything random: the same options give the same outcome.
        data: a directory of real data; None for a made-up population of the same shape.
        full: the paper's own size.
        progress: is told how much of the work is done.
    """

    runs: int
    people: int
    seed: int = 0
    data: Path | None = None
    full: bool = False
    progress: Callable[[int, int], None] = field(default=_silent, compare=False)

    def generators(self, count: int | None = None) -> list[np.random.Generator]:
        """Return independent generators, by default one per run; their order does not matter."""
        children = np.random.SeedSequence(self.seed).spawn(self.runs if count is None else count)
        return [np.random.default_rng(child) for child in children]

    def steps(self, items: Sequence[T]) -> Iterator[T]:
        """Yield the items and tell how many are done."""
        for done, item in enumerate(items):
            self.progress(done, len(items))
            yield item
        self.progress(len(items), len(items))


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment.

    Attributes:
        paper: the numbers that the paper prints.
        ours: ours, under the same names where they mean the same.
        tables: the data of the figure, by name; each becomes a CSV file, the first the main one.
        chart: an Altair chart.
        notes: the choices made where the paper is silent; what could not be reproduced, and why.
    """

    paper: Numbers
    ours: Numbers
    tables: Mapping[str, Rows]
    chart: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """One figure or table of a paper.

    Attributes:
        id: its name on the command line.
        paper: the paper's key and the place in it.
        title: what it is called here.
        shows: what one learns from it, in a sentence.
        run: makes it.
        runs, people: of a default run, which takes at most two minutes on two cores.
        full_runs, full_people: of the paper, or what we chose where it does not say.
    """

    id: str
    paper: str
    title: str
    shows: str
    run: Callable[[Options], Outcome]
    runs: int
    full_runs: int
    people: int
    full_people: int

    def options(
        self,
        *,
        runs: int | None = None,
        people: int | None = None,
        seed: int = 0,
        data: Path | None = None,
        full: bool = False,
        progress: Callable[[int, int], None] = _silent,
    ) -> Options:
        """Return options with this figure's own sizes where none are given.

        Raises:
            InvalidParameter: if a number is out of range, or `data` is no directory.
        """
        own_runs, own_people = (
            (self.full_runs, self.full_people) if full else (self.runs, self.people)
        )
        if data is not None and not data.is_dir():
            raise _validate.invalid("data", self.id, "a directory that exists", str(data))
        return Options(
            _validate.integer("runs", self.id, own_runs if runs is None else runs, 1, MOST_RUNS),
            _validate.integer(
                "people", self.id, own_people if people is None else people, 100, MOST_PEOPLE
            ),
            _validate.integer("seed", self.id, seed, 0, 2**64 - 1),
            data,
            full,
            progress,
        )

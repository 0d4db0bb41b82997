"""How good the mechanisms are that "auto" chooses for records, for few people and for many.

Each cell is one population, d yes/no attributes, tables of k of them, an epsilon and a number of
people n. Every mechanism that "auto" compares there is run: reports are drawn as counts from the
population's own distribution, and the mean total variation of smoothed tables (all, or 200 random
ones) from the population's is taken. A cell is *off* where the chosen one's error is more than 2%
above the least, and *clearly off* where by more than 2% and two standard errors of that ratio.
Mechanisms that send the same reports under two names (single attributes, and a view of all of them)
count as one.
"""

from __future__ import annotations

import argparse
import json
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations, product
from multiprocessing import get_context
from pathlib import Path
from typing import cast

import numpy as np

from deniable.authoring.auto_profile import profile_choices
from deniable.marginals.smoothed import smooth
from deniable.mechanisms import Counts, ProfileMechanism, mechanism_for
from deniable.mechanisms.base import Floats
from deniable.mechanisms.coefficients import Coefficients
from deniable.mechanisms.inp_ps import InpPS
from deniable.mechanisms.profile_base import unnamed_profile
from deniable.mechanisms.views import Views
from deniable_papers.cks18.methods import same_as_signs
from deniable_papers.cks18.people import Bits
from marginals_grid import population

POPULATIONS = ("synthetic", "taxi", "movielens")
ATTRIBUTES = (4, 8, 16)
ORDERS = (1, 2, 3)
EPSILONS = (0.5, round(math.log(3), 6), 3.0)
PEOPLE = (2**12, 2**15, 2**18, 2**21)
MOST_TABLES = 200
SEED = 5
NEARLY = 1.02


@dataclass(frozen=True)
class Cell:
    """One setting: what "auto" chose, and the errors of all that it compared, in its order."""

    population: str
    d: int
    k: int
    epsilon: float
    people: int
    chosen: str
    errors: dict[str, float]
    ratio: float
    std_error: float


def table(rows: Bits, attributes: tuple[int, ...]) -> Floats:
    """Return the shares of the cells of some attributes, the last one fastest."""
    place = np.zeros(len(rows), dtype=np.int64)
    for attribute in attributes:
        place = 2 * place + rows[:, attribute]
    return np.bincount(place, minlength=2 ** len(attributes)) / len(rows)


def chances(mechanism: ProfileMechanism, rows: Bits) -> Floats:
    """Return the probability of each report about a random row, in the shape of the counts."""
    if isinstance(mechanism, Views):
        views = mechanism.parameters.views
        found = np.zeros((len(views), mechanism.parameters.most_cells))
        for number, view in enumerate(views):
            cells, gap = 2 ** len(view), mechanism.gap(2 ** len(view))
            found[number, :cells] = (1 - gap) / cells + gap * table(rows, view[::-1])
        return found / len(views)
    if isinstance(mechanism, Coefficients):
        numbers = np.arange(mechanism.parameters.coefficients)
        signs = 1.0 - 2.0 * rows
        theta = [
            np.prod(signs[:, [i for i, _ in mechanism.parameters.chosen(number)]], axis=1).mean()
            for number in numbers.tolist()
        ]
        firsts = np.array(mechanism.coefficients.firsts)
        order = np.searchsorted(firsts, numbers, side="right") - 1
        half = (mechanism.shares / np.diff(firsts))[order] / 2
        lean = mechanism.gap * np.array(theta)
        return np.array([half * (1 + lean), half * (1 - lean)])
    whole = cast(InpPS, mechanism)
    own = table(rows, tuple(range(rows.shape[1]))[::-1])
    return (whole.pure.q + whole.pure.gap * own)[None, :]


def drawn(mechanism: ProfileMechanism, chance: Floats, n: int, rng: np.random.Generator) -> Counts:
    """Return the counts of n reports."""
    found = rng.multinomial(n, chance.ravel() / chance.sum()).reshape(chance.shape)
    per_row = found.sum(axis=1) if isinstance(mechanism, Views) else np.array([n])
    return Counts(per_row, found)


def error(
    mechanism: ProfileMechanism, counts: Counts, k: int, truth: dict[tuple[int, ...], Floats]
) -> float:
    """Return the mean total variation of smoothed tables."""
    found, _ = smooth(mechanism.moments(counts), k, list(truth))
    return float(np.mean([np.abs(found[s].ravel() - true).sum() / 2 for s, true in truth.items()]))


def name_of(mechanism: ProfileMechanism) -> str:
    """Return a mechanism's name, with the size of views; one name for the same reports."""
    if same_as_signs(mechanism) is not None:
        return "coefficients"
    if isinstance(mechanism, Views):
        largest = max(map(len, mechanism.parameters.views))
        return "inp_ps" if largest == len(mechanism.answers) else f"views of {largest}"
    return mechanism.parameters.mechanism


def measured(task: tuple[str, int, int], runs: int, data: Path | None) -> list[Cell]:
    """Return the cells of one population, d and k."""
    name, d, k = task
    rows = population(name, data).widened(d).rows
    subsets = list(combinations(range(d), k))
    rng = np.random.default_rng([SEED, d, k])
    if len(subsets) > MOST_TABLES:
        some = rng.choice(len(subsets), MOST_TABLES, replace=False)
        subsets = [subsets[i] for i in sorted(some.tolist())]
    truth = {subset: table(rows, subset) for subset in subsets}
    found = []
    for epsilon, n in product(EPSILONS, PEOPLE):
        wanted = {"epsilon": epsilon, "order": k, "people": n}
        choices = profile_choices(unnamed_profile((2,) * d), wanted)
        runs_of: dict[str, Floats] = {}
        for choice in choices:
            mechanism = cast(ProfileMechanism, mechanism_for(choice.parameters))
            if name_of(mechanism) in runs_of:
                continue
            chance = chances(mechanism, rows)
            runs_of[name_of(mechanism)] = np.array(
                [error(mechanism, drawn(mechanism, chance, n, rng), k, truth) for _ in range(runs)]
            )
        found.append(summary((name, d, k, epsilon, n), runs_of))
    return found


def summary(cell: tuple[str, int, int, float, int], runs_of: dict[str, Floats]) -> Cell:
    """Return the chosen one's error over the least, with the standard error of that ratio."""
    means = {name: float(errors.mean()) for name, errors in runs_of.items()}
    spread = {
        name: float(errors.std(ddof=1)) / math.sqrt(errors.size) / means[name]
        for name, errors in runs_of.items()
    }
    chosen, best = next(iter(means)), min(means, key=lambda name: means[name])
    std_error = 0.0 if chosen == best else math.hypot(spread[chosen], spread[best])
    return Cell(*cell, chosen, means, means[chosen] / means[best], std_error)


def show(cells: list[Cell]) -> None:
    """Print what is off, what depends on the number of people, and how often."""
    off = [cell for cell in cells if cell.ratio > NEARLY]
    print("people of     d  k  epsilon         n  chosen          best            ratio")
    for c in sorted(off, key=lambda cell: -cell.ratio):
        best = min(c.errors, key=lambda name: c.errors[name])
        print(f"{c.population:10} {c.d:4} {c.k:2} {c.epsilon:8.3f} {c.people:9,}  {c.chosen:15} "
              f"{best:15} {c.ratio:.3f} ± {c.std_error:.3f}")  # fmt: skip
    clearly = sum(cell.ratio > NEARLY + 2 * cell.std_error for cell in off)
    mean = sum(cell.ratio for cell in cells) / len(cells)
    print(f"{len(cells)} cells: off {len(off)}, clearly off {clearly}; mean ratio {mean:.4f}.")
    one = [cell for cell in cells if cell.population == POPULATIONS[0]]
    for d, k, epsilon in product(ATTRIBUTES, ORDERS, EPSILONS):
        names = [c.chosen for c in one if (c.d, c.k, c.epsilon) == (d, k, epsilon)]
        if len(set(names)) > 1:
            print(f"d = {d}, k = {k}, epsilon {epsilon:g}, with more people: {', '.join(names)}")


def main() -> None:
    """Measure every cell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, help="a directory with taxi.csv and movielens.csv")
    parser.add_argument("--runs", type=int, default=20, help="of every cell (20)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    tasks = list(product(POPULATIONS, ATTRIBUTES, ORDERS))
    measure = partial(measured, runs=wanted.runs, data=wanted.data)
    with ProcessPoolExecutor(wanted.workers, mp_context=get_context("spawn")) as pool:
        cells = [cell for found in pool.map(measure, tasks) for cell in found]
    if wanted.json:
        print(json.dumps({"runs": wanted.runs, "cells": [asdict(cell) for cell in cells]}))
        return
    show(cells)


if __name__ == "__main__":
    main()

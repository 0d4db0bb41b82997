"""[CKS18] section 5: the mean total variation of every method in one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable_papers.base import Value
from deniable_papers.cks18.methods import EVERY, Method, method
from deniable_papers.cks18.people import Crowd, People

MOST_TABLES = 600
"""Up to this number of tables all are compared, else a random choice."""
SOME_TABLES = 300
LN3 = float(np.log(3))
PEOPLE = 2**18
Subsets = list[tuple[int, ...]]


@dataclass(frozen=True)
class Setting:
    """One cell of a figure's grid."""

    attributes: int
    order: int
    epsilon: float
    people: int


@dataclass(frozen=True)
class Score:
    """How far a method's tables are from the people's.

    Attributes:
        error: mean total variation over tables and runs; None where the method cannot be run.
        std_error: of `error`, over runs; None for a single run.
        reason: why it cannot be run.
    """

    error: float | None
    std_error: float | None = None
    reason: str = ""


def subsets_of(attributes: int, order: int, rng: np.random.Generator) -> Subsets:
    """Return all subsets of a number of attributes, or a random choice where they are many."""
    if comb(attributes, order) <= MOST_TABLES:
        return list(combinations(range(attributes), order))
    found: set[tuple[int, ...]] = set()
    while len(found) < SOME_TABLES:
        drawn = rng.choice(attributes, order, replace=False)
        found.add(tuple(sorted(int(i) for i in drawn)))
    return sorted(found)


def total_variation(table: Floats, truth: Floats) -> float:
    """Return half the sum of the cells' distances."""
    return float(np.abs(table - truth).sum() / 2)


def scores(
    people: People,
    setting: Setting,
    generators: Sequence[np.random.Generator],
    names: Sequence[str] = EVERY,
) -> dict[str, Score]:
    """Return every method's score: the same people and tables in each run for all of them.

    A method that cannot be run in this setting has no error, and the reason.
    """
    wide = people.widened(setting.attributes)
    found: dict[str, list[float]] = {name: [] for name in names}
    reasons: dict[str, str] = {}
    methods: dict[str, Method] = {}
    for name in names:
        try:
            methods[name] = method(name, wide, setting.order, setting.epsilon, setting.people)
        except InvalidParameter as error:
            reasons[name] = str(error)
    for rng in generators:
        crowd = wide.drawn(setting.people, rng)
        subsets = subsets_of(setting.attributes, setting.order, rng)
        truth = [crowd.marginal(subset) for subset in subsets]
        seed = int(rng.integers(2**63))
        for name, one in methods.items():
            # The same draws for all: where methods do the same, their errors are the same, and
            # differences are not those of luck.
            draws = np.random.default_rng(seed)
            found[name].append(error_of(one, crowd, subsets, truth, draws))
    return {
        name: Score(None, None, reasons[name]) if name in reasons else _summary(found[name])
        for name in names
    }


def error_of(
    one: Method, crowd: Crowd, subsets: Subsets, truth: Sequence[Floats], rng: np.random.Generator
) -> float:
    """Return the mean total variation of one method's tables in one run."""
    tables = one.tables(one.counts(crowd, rng), subsets)
    distances = [total_variation(t, true) for t, true in zip(tables, truth, strict=True)]
    return float(np.mean(distances))


def _summary(errors: list[float]) -> Score:
    runs = len(errors)
    spread = float(np.std(errors, ddof=1) / np.sqrt(runs)) if runs > 1 else None
    return Score(_rounded(float(np.mean(errors))), None if spread is None else _rounded(spread))


def _rounded(number: float) -> float:
    """Return nine significant digits: the last ones depend on the processor."""
    return float(f"{number:.9g}")


def rows_of(setting: Setting, found: Mapping[str, Score]) -> list[dict[str, Value]]:
    """Return a table row per method."""
    return [
        {
            "d": setting.attributes,
            "k": setting.order,
            "epsilon": round(setting.epsilon, 6),
            "people": setting.people,
            "method": name,
            "total_variation": score.error,
            "std_error": score.std_error,
            "reason": score.reason,
        }
        for name, score in found.items()
    ]


def errors_of(found: Mapping[str, Score]) -> dict[str, float | None]:
    """Return the mean total variation by method; None where it cannot be run."""
    return {name: score.error for name, score in found.items()}


def reasons_of(found: Sequence[Mapping[str, Score]]) -> tuple[str, ...]:
    """Return, as notes, why methods could not be run somewhere."""
    reasons = {
        f"{name}: {score.reason}" for scored in found for name, score in scored.items()
        if score.reason
    }  # fmt: skip
    return tuple(sorted(reasons))

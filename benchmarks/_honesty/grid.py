"""The grid: settings of a cell, the populations, and the numbers that a cell has."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

PEOPLE = (1, 20, 200, 2_000, 20_000)
EPSILONS = (0.1, 1.0, 3.0, 8.0)
EPOCHS = (1, 12)
POPULATIONS = ("one", "two", "geometric", "uniform", "zipf")
UNLISTED = 0.4
"""The share of people whose answer nobody listed, in the population "zipf"."""


def shares_of(population: str, answers: int) -> np.ndarray:
    """Return the shares of listed answers; what is left to 1 is that of unlisted ones."""
    rank = np.arange(1, answers + 1)
    zipf, geometric = 1 / rank, 0.7**rank
    return {
        "one": (rank == 1).astype(float),
        "two": np.where(rank <= 2, 0.5, 0.0),
        "geometric": geometric / geometric.sum(),
        "uniform": np.full(answers, 1 / answers),
        "zipf": (1 - UNLISTED) * zipf / zipf.sum(),
    }[population]


def closed_shares(population: str, answers: int) -> np.ndarray:
    """Return the shares of a closed domain, whose last answer is "something else"."""
    listed = shares_of(population, answers - 1)
    rest = 1 - listed.sum()
    return np.append(listed, rest if rest > 1e-9 else 0.0)


@dataclass(frozen=True)
class Cell:
    """One setting of the table.

    Attributes:
        kind, mechanism, people, epsilon, population, epochs: the setting.
        seed: of its runs; another one draws other people, and is no other cell.
    """

    kind: str
    mechanism: str
    people: int
    epsilon: float
    population: str
    epochs: int
    seed: int = field(default=0, compare=False)

    @property
    def rng(self) -> np.random.Generator:
        """A generator of its own, the same whenever the cell is run again."""
        return np.random.default_rng(zlib.crc32(repr(self).encode()))


@dataclass(frozen=True)
class Measured:
    """One number of a cell.

    Attributes:
        measure: its name.
        value: a share, such as of intervals that hold the truth.
        std_error: of the value, over the runs; 0 where it is computed and not simulated.
        runs: that had such a number; 0 where it is computed.
    """

    measure: str
    value: float
    std_error: float
    runs: int


def over_runs(measure: str, values: Iterable[float], each: int = 1) -> list[Measured]:
    """Return the mean over runs; nothing where no run has the number.

    Args:
        measure: its name.
        values: one per run; NaN where a run has none.
        each: how many things a value is the mean of. Where all runs agree the error is that of
            as many coins of 5%.
    """
    known = np.array([value for value in values if math.isfinite(value)])
    if not known.size:
        return []
    spread = float(known.std()) / math.sqrt(known.size)
    least = math.sqrt(0.05 * 0.95 / (known.size * each))
    return [Measured(measure, float(known.mean()), max(spread, least), int(known.size))]


def share(values: np.ndarray) -> float:
    """Return the share of True; NaN of nothing."""
    return float(np.mean(values)) if np.size(values) else math.nan

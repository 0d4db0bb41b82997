"""[FPE16]: the true joint distributions of its experiments, made up or from a file of real data."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable_papers.common.populations import read_text

CATEGORIES = 100
RATIO = 0.81
"""Of neighbouring marginals: what fits table 1, whose marginals are 19.0, 15.6, 12.7, 10.2, 8.4."""

# Row by row, in per cent, as printed: the truth, and the estimate.
TABLE_1 = (
    (3.567, 2.937, 2.468, 1.952, 1.639, 6.436),
    (2.984, 2.432, 1.967, 1.581, 1.289, 5.362),
    (2.473, 1.991, 1.609, 1.223, 1.025, 4.343),
    (1.881, 1.569, 1.293, 1.069, 0.874, 3.499),
    (1.625, 1.292, 1.080, 0.892, 0.662, 2.836),
    (6.380, 5.292, 4.311, 3.495, 2.809, 11.863),
)
TABLE_2 = (
    (3.306, 2.952, 2.413, 2.018, 1.806, 6.691),
    (3.045, 2.292, 2.043, 1.588, 1.286, 5.302),
    (2.336, 2.173, 1.587, 1.115, 0.916, 4.450),
    (1.902, 1.506, 1.354, 1.087, 0.887, 3.510),
    (1.763, 1.233, 1.188, 0.873, 0.615, 2.801),
    (6.531, 5.338, 4.245, 3.513, 2.916, 11.419),
)


def declining(count: int = CATEGORIES, ratio: float = RATIO) -> Floats:
    """Return shares that fall by the same ratio from each category to the next."""
    weights = ratio ** np.arange(count, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def simplex(count: int, rng: np.random.Generator) -> Floats:
    """Return a distribution drawn uniformly from all distributions on a number of categories."""
    return np.asarray(rng.dirichlet(np.ones(count)))


def with_diagonal(table: Floats, mass: float) -> Floats:
    """Return the table with so much added to each entry of its diagonal, scaled to sum to 1.

    This is how appendix A makes two variables depend on each other.
    """
    changed = table.copy()
    np.fill_diagonal(changed, changed.diagonal() + mass)
    return np.asarray(changed / changed.sum())


def collapsed(table: Floats, rows: list[int], columns: list[int]) -> Floats:
    """Return the cells of these rows and columns, with all others added up in a last one each."""
    part = np.empty((len(rows) + 1, len(columns) + 1))
    part[:-1, :-1] = table[np.ix_(rows, columns)]
    part[:-1, -1] = table[rows].sum(axis=1) - part[:-1, :-1].sum(axis=1)
    part[-1, :-1] = table[:, columns].sum(axis=0) - part[:-1, :-1].sum(axis=0)
    part[-1, -1] = max(0.0, 1 - part[:-1].sum() - part[-1, :-1].sum())
    return part


@dataclass(frozen=True)
class PlayStore:
    """Shares of apps by category (rows) and payment (columns: free, paid).

    Attributes:
        categories: their names, most apps first.
        table: shares, summing to 1.
        real: whether they come from a file.
    """

    categories: tuple[str, ...]
    table: Floats
    real: bool


def play_store(data: Path | None) -> PlayStore:
    """Return the table of `play_store.csv` (category, type, apps), or a made-up one of its shape.

    The made-up table has the paper's 30 categories, with sizes by Zipf's law of exponent 1/2 and
    paid rates from 30% down to 4%, the range that the paper states.

    Raises:
        InvalidParameter: if the file holds something else.
    """
    if data is None:
        sizes = np.arange(1, 31, dtype=np.float64) ** -0.5
        # The rates in an order unrelated to the sizes.
        rates = np.linspace(0.30, 0.04, 30)[np.arange(30) * 7 % 30]
        table = np.stack([sizes * (1 - rates), sizes * rates], axis=1)
        names = tuple(f"category {i + 1}" for i in range(30))
        return PlayStore(names, table / table.sum(), False)
    counts: dict[str, list[float]] = {}
    rows = list(csv.reader(read_text(data / "play_store.csv").splitlines()))[1:]
    for row in rows:
        if len(row) != 3 or row[1] not in ("Free", "Paid") or not row[2].isdecimal():
            raise InvalidParameter(
                "Every line of play_store.csv must be a category, Free or Paid, and a count."
            )
        counts.setdefault(row[0], [0.0, 0.0])[row[1] == "Paid"] += float(row[2])
    if len(counts) < 2:
        raise InvalidParameter("play_store.csv must have at least two categories.")
    names = tuple(sorted(counts, key=lambda name: -sum(counts[name])))
    table = np.array([counts[name] for name in names])
    return PlayStore(names, table / table.sum(), True)

"""Reports that are a few small numbers: k-RR over them, and counting them as cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.mechanisms.base import Codes, Counts, Reports
from deniable.mechanisms.coins import coins

CHUNK = 2**20
"""Reports that are counted at once."""


def no_counts(rows: int, columns: int) -> Counts:
    """Return the counts of no reports: a row per cohort, a column per cell."""
    return Counts(np.zeros(rows, dtype=np.int64), np.zeros((rows, columns), dtype=np.int64))


def count_cells(
    profiles: Reports, size: int, cell: Callable[[Reports], NDArray[np.integer]]
) -> NDArray[np.int64]:
    """Return how often each cell of 0..size-1 was reported.

    Cost: linear; a few megabytes beside the counts.

    Args:
        profiles: checked ones.
        size: the number of cells.
        cell: from some profiles to their cells.
    """
    table = np.zeros(size, dtype=np.int64)
    step = max(CHUNK, size)  # so that the table is not added up for a few reports
    for start in range(0, profiles.size, step):
        table += np.bincount(cell(profiles[start : start + step]), minlength=size)
    return table


def one_row(reports: int, table: NDArray[np.int64]) -> Counts:
    """Return counts of one row, where a report may be counted in several cells, or in none."""
    return Counts(np.array([reports], dtype=np.int64), table[None, :])


def by_cohort(cohorts: NDArray[np.uint16]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each cohort that occurs, with the places of its reports."""
    if cohorts.size:
        order = np.argsort(cohorts, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(cohorts[order])) + 1):
            yield int(cohorts[rows[0]]), rows


def moved(cells: Codes, sizes: int | Codes, keep: int, rng: Generator) -> Codes:
    """Return cells after k-RR: kept with a threshold, else one of the others, uniformly.

    Args:
        cells: of some people.
        sizes: the number of cells, of all or of each.
        keep: threshold of keeping the cell.
        rng: the only source of randomness.
    """
    other = rng.integers(0, sizes - 1, size=cells.size)
    other += other >= cells
    return np.where(coins(rng, keep, cells.size), cells, other)


def counted_by_row(table: NDArray[np.int64], rows: int) -> Counts:
    """Return counts whose reports are one cell each, from all cells, row by row."""
    cells = table.reshape(rows, -1)
    return Counts(cells.sum(axis=1), cells)

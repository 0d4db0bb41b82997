"""Reports that are a few small numbers: checking them, and counting them as cells of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.mechanisms.base import Counts, Reports

CHUNK = 2**20
"""Reports that are counted at once."""


def check_below(profiles: Reports, bounds: Mapping[str, int]) -> None:
    """Refuse records with a number that is not below its bound.

    Raises:
        InvalidReport: naming the number and the bound.
    """
    for name, bound in bounds.items():
        if profiles.size and int(profiles[name].max()) >= bound:
            raise InvalidReport("record", f"The {name} must be below {bound}.")


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


def counted_by_row(table: NDArray[np.int64], rows: int) -> Counts:
    """Return counts whose reports are one cell each, from all cells, row by row."""
    cells = table.reshape(rows, -1)
    return Counts(cells.sum(axis=1), cells)

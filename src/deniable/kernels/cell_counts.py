"""Count reports in the cells of a large table, one step each.

Sorting the cells, or a table of its own for each part of the reports, costs more than the counting.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit


@njit
def count_in_cells(
    rows: NDArray[np.int64],
    columns: NDArray[np.integer],
    reports: NDArray[np.int64],
    table: NDArray[np.int64],
) -> None:
    """Add 1 to the count of each report's row, and to its cell of the table.

    Cost: n steps and no memory; large tables wait for the memory of each cell.

    Args:
        rows: of every report, within the table.
        columns: of every report, within the table.
        reports: counts by row; changed.
        table: counts by row and column; changed.
    """
    for i in range(rows.size):
        reports[rows[i]] += 1
        table[rows[i], columns[i]] += 1

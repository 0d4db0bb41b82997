"""For lists of cells: the squared length of the sum of the rows of a table that they name.

Model: candidate i sets the cells c in S_i, and every cell has a row t_c of numbers:

    found_i = | sum of t_c over c in S_i |^2,

which is d'T T'd for the candidate's column d of zeros and ones and the table T of the rows. A
candidate takes an addition per cell and number, and no matrix is made of the columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.kernels._jit import njit

Cells = NDArray[np.int32]
Numbers = NDArray[np.float64]


def squared_sums(cells: Cells, rows: NDArray[np.int32], table: Numbers) -> Numbers:
    """Return the squared length of every candidate's sum.

    Args:
        cells: a row per candidate, the cells that it sets.
        rows: of every cell its row in the table, -1 where it counts for nothing.
        table: numbers, a row each.
    """
    found = np.empty(len(cells))
    _squared(cells, rows, np.ascontiguousarray(table), found)
    return found


@njit
def _squared(cells: Cells, rows: NDArray[np.int32], table: Numbers, found: Numbers) -> None:
    total = np.empty(table.shape[1])
    for i in range(found.size):
        total[:] = 0.0
        for j in range(cells.shape[1]):
            row = rows[cells[i, j]]
            if row >= 0:
                line = table[row]
                for s in range(total.size):
                    total[s] += line[s]
        square = 0.0
        for s in range(total.size):
            square += total[s] * total[s]
        found[i] = square

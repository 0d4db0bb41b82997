from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.summed_rows import squared_sums


@pytest.mark.parametrize(("candidates", "cells", "numbers"), [(0, 4, 3), (50, 6, 1), (300, 40, 37)])
def test_squared_sums_are_those_of_the_columns(candidates, cells, numbers, rng):
    table = rng.normal(size=(cells - 2, numbers))
    rows = rng.permutation(np.append(np.arange(cells - 2), [-1, -1])).astype(np.int32)
    chosen = rng.integers(0, cells, (candidates, 5), dtype=np.int32)
    found = squared_sums(chosen, rows, table)
    # The slow twin: every candidate's column, and the whole product.
    columns = np.zeros((candidates, cells))
    np.add.at(columns, (np.arange(candidates)[:, None], chosen), 1.0)
    whole = np.zeros((cells, numbers))
    whole[rows >= 0] = table[rows[rows >= 0]]
    assert np.allclose(found, np.square(columns @ whole).sum(axis=1))

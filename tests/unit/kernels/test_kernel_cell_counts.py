"""Counts in cells agree with a loop over the reports, and add to what is there."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.cell_counts import count_in_cells


@pytest.mark.parametrize("n", [0, 1, 20, 5_000])
def test_counts_are_those_of_a_loop(n: int, rng: np.random.Generator) -> None:
    rows, columns = rng.integers(0, 3, n), rng.integers(0, 70_000, n).astype(np.uint32)
    reports, table = np.array([1, 0, 0]), np.zeros((3, 70_000), dtype=np.int64)
    expected = table.copy()
    for row, column in zip(rows, columns, strict=True):
        expected[row, column] += 1
    count_in_cells(rows, columns, reports, table)
    assert np.array_equal(table, expected)
    assert reports.tolist() == [1 + np.sum(rows == 0), np.sum(rows == 1), np.sum(rows == 2)]

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms import cells


@pytest.mark.parametrize("chunk", [3, 1_000])
def test_cells_are_counted_whatever_the_chunk(chunk, rng, monkeypatch):
    monkeypatch.setattr(cells, "CHUNK", chunk)
    records = rng.integers(0, 5, 200)
    found = cells.count_cells(records, 6, lambda part: part + 1)
    assert found.tolist() == [0, *(int((records == value).sum()) for value in range(5))]
    assert cells.count_cells(records[:0], 6, lambda part: part).tolist() == [0] * 6


def test_rows_know_how_many_reports_they_have():
    found = cells.counted_by_row(np.array([1, 2, 3, 4, 5, 6]), 2)
    assert found.reports.tolist() == [6, 15]
    assert found.table.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert cells.no_counts(2, 3).table.shape == (2, 3)
    assert not cells.no_counts(2, 3).reports.any()

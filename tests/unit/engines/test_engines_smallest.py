"""The rows with the smallest keys are those of one sort of all, however they come."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.engines import smallest
from deniable.engines.smallest import Smallest


@pytest.mark.parametrize("most", [0, 1, 40, 300, 999, 1_000, 5_000])
@pytest.mark.parametrize("expected", [0, 10, 1_000, 9_000])
@pytest.mark.parametrize("step", [7, 130, 1_000])
def test_the_smallest_are_those_of_one_sort(most, expected, step, rng, monkeypatch):
    monkeypatch.setattr(smallest, "_ROOM", 64)
    keys = rng.integers(0, 2**64, 1_000, np.uint64)
    one, two = (rng.integers(0, 256, (1_000, width), np.uint8) for width in (2, 5))
    found = Smallest(most, (2, 5), expected)
    for start in rng.permutation(np.arange(0, 1_000, step)).tolist():
        some = slice(start, start + step)
        found.add([one[some], two[some]], keys[some])
    tables, rising = found.sorted()
    order = np.argsort(keys)[:most]
    assert np.array_equal(rising, keys[order])
    assert np.array_equal(tables[0], one[order])
    assert np.array_equal(tables[1], two[order])


def test_no_rows_are_none():
    tables, keys = Smallest(5, (2,), 0).sorted()
    assert (tables[0].shape, keys.size) == ((0, 2), 0)

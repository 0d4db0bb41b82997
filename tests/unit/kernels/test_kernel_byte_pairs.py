from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.byte_pairs import paired_bytes


def slow_pairs(numbers, weights):
    count = numbers.shape[1]
    return [
        [float(sum(weights * numbers[:, a] * numbers[:, b])) for b in range(count)]
        for a in range(count)
    ]


@pytest.mark.parametrize("values", [2, 81, 243, 256])
@pytest.mark.parametrize(("rows", "each", "answers"), [(1, 3, 8), (300, 1, 2), (9_001, 4, 6)])
def test_sums_agree_with_loops_over_every_pair(values, rows, each, answers, rng):
    width = -(-answers // each)
    packed = rng.integers(0, values, (rows, width), dtype=np.uint8)
    table, weights = rng.random((values, each)), rng.random(rows)
    numbers = table[packed].reshape(rows, -1)[:, :answers]
    found = paired_bytes(packed, weights, table, answers)
    assert np.allclose(found, slow_pairs(numbers, weights), rtol=1e-11, atol=0)
    assert np.allclose(found, found.T, rtol=1e-15)


@pytest.mark.parametrize("rows", [300, 30_000])
def test_rows_may_lie_apart(rows, rng):
    packed = rng.integers(0, 256, (rows, 3), dtype=np.uint8)
    weights, values = rng.random(rows), rng.random((256, 8))
    apart = paired_bytes(packed[::3], weights[::3], values, 24)
    together = paired_bytes(packed[::3].copy(), weights[::3].copy(), values, 24)
    assert np.allclose(apart, together, rtol=1e-14)


def test_no_reports_add_nothing():
    none = np.zeros((0, 2), dtype=np.uint8)
    assert not paired_bytes(none, np.zeros(0), np.ones((256, 8)), 11).any()

from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.paired_bits import paired_bits


def slow_pairs(ones, weights):
    bits = ones.shape[1]
    return [
        [float(sum(weights[(ones[:, s] & ones[:, t]) == 1])) for t in range(bits)]
        for s in range(bits)
    ]


@pytest.mark.parametrize(("rows", "bits"), [(1, 9), (300, 7), (5_000, 8), (5_001, 21)])
def test_sums_agree_with_loops_over_every_pair(rows, bits, rng):
    ones = rng.integers(0, 2, (rows, bits))
    packed = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    weights = rng.normal(size=rows)
    found = paired_bits(packed, weights, bits)
    assert np.allclose(found, slow_pairs(ones, weights), rtol=1e-12, atol=1e-10)
    assert np.array_equal(found, found.T)


def test_rows_may_lie_apart(rng):
    packed = rng.integers(0, 256, (30_000, 3), dtype=np.uint8)
    weights = rng.random(30_000)
    apart = paired_bits(packed[::3], weights[::3], 24)
    assert np.array_equal(apart, paired_bits(packed[::3].copy(), weights[::3].copy(), 24))


def test_no_reports_add_nothing():
    assert not paired_bits(np.zeros((0, 2), dtype=np.uint8), np.zeros(0), 11).any()

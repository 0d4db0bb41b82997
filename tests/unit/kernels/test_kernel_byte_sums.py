from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.byte_sums import added_bytes, summed_bits, summed_bytes


def test_sums_of_bytes_agree_with_loops(rng):
    packed = rng.integers(0, 256, (40, 3), dtype=np.uint8)
    groups = rng.integers(0, 4, 40).astype(np.uint16)
    table, weights = rng.normal(size=(4, 3, 256)), rng.normal(size=40)
    summed, added = np.zeros(40), np.zeros((4, 3, 256))
    for i, group in enumerate(groups):
        for j, value in enumerate(packed[i]):
            summed[i] += table[group, j, value]
            added[group, j, value] += weights[i]
    assert np.allclose(summed_bytes(packed, groups, table), summed, rtol=1e-12, atol=1e-12)
    assert np.allclose(added_bytes(packed, groups, weights, 4), added, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bits", [7, 8, 130])
def test_sums_of_bits_agree_with_products(bits, rng):
    ones = rng.integers(0, 2, (50, bits))
    groups = rng.integers(0, 3, 50).astype(np.uint16)
    packed = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    values = rng.normal(size=(3, bits))
    expected = [row @ values[group] for row, group in zip(ones, groups, strict=True)]
    assert np.allclose(summed_bits(packed, groups, values), expected, rtol=1e-12, atol=1e-12)


def test_no_reports_sum_to_nothing():
    none, groups = np.zeros((0, 2), dtype=np.uint8), np.zeros(0, dtype=np.uint16)
    assert summed_bits(none, groups, np.ones((1, 16))).shape == (0,)
    assert not added_bytes(none, groups, np.zeros(0), 2).any()

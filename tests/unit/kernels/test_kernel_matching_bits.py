from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.matching_bits import added_bits, matching_bits, summed_bits


def slow_matches(ones, cohorts, places):
    return [
        [sum(int(row[place]) for place in answer if place >= 0) for answer in places[cohort]]
        for row, cohort in zip(ones, cohorts, strict=True)
    ]


@pytest.mark.parametrize(("bits", "answers", "hashes"), [(7, 3, 1), (8, 1, 2), (130, 9, 4)])
def test_all_agree_with_loops_over_every_bit(bits, answers, hashes, rng):
    ones = rng.integers(0, 2, (50, bits))
    cohorts = rng.integers(0, 3, 50).astype(np.uint16)
    packed = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    places = rng.integers(-1, bits, (3, answers, hashes)).astype(np.int32)
    assert matching_bits(packed, cohorts, places).tolist() == slow_matches(ones, cohorts, places)
    values = rng.normal(size=(3, bits))
    expected = [row @ values[cohort] for row, cohort in zip(ones, cohorts, strict=True)]
    assert np.allclose(summed_bits(packed, cohorts, values), expected, rtol=1e-12, atol=1e-12)
    weights = rng.normal(size=50)
    sums = [(weights * (cohorts == cohort)) @ ones for cohort in range(3)]
    found = added_bits(packed, cohorts, weights, (3, bits))
    assert np.allclose(found, sums, rtol=1e-12, atol=1e-12)


def test_records_may_lie_apart(rng):
    records = np.zeros(20, dtype=[("cohort", "<u2"), ("bits", "u1", (2,)), ("rest", "u1", (3,))])
    records["bits"] = rng.integers(0, 256, (20, 2))
    places = np.arange(16, dtype=np.int32)[None, :, None]
    ones = np.unpackbits(records["bits"], axis=1, bitorder="little")
    assert np.array_equal(matching_bits(records["bits"], records["cohort"], places), ones)


def test_no_reports_have_no_rows():
    none = np.zeros((0, 2), dtype=np.uint8)
    cohorts = np.zeros(0, dtype=np.uint16)
    assert matching_bits(none, cohorts, np.zeros((1, 3, 1), np.int32)).shape == (0, 3)
    assert summed_bits(none, cohorts, np.ones((1, 16))).shape == (0,)
    assert not added_bits(none, cohorts, np.zeros(0), (2, 16)).any()

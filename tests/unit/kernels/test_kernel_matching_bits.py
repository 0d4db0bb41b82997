from __future__ import annotations

import numpy as np
import pytest

from deniable.kernels.matching_bits import matching_bits, matching_digits


def slow_matches(ones, cohorts, places):
    return [
        [sum(int(row[place]) for place in answer if place >= 0) for answer in places[cohort]]
        for row, cohort in zip(ones, cohorts, strict=True)
    ]


@pytest.mark.parametrize(
    ("bits", "answers", "hashes", "each"),
    [(7, 3, 1, 8), (8, 1, 2, 5), (130, 9, 4, 3), (9, 4, 20, 1)],
)
def test_both_agree_with_loops_over_every_bit(bits, answers, hashes, each, rng):
    ones = rng.integers(0, 2, (50, bits))
    cohorts = rng.integers(0, 3, 50).astype(np.uint16)
    packed = np.packbits(ones.astype(np.uint8), axis=1, bitorder="little")
    places = rng.integers(-1, bits, (3, answers, hashes)).astype(np.int32)
    expected = slow_matches(ones, cohorts, places)
    assert matching_bits(packed, cohorts, places).tolist() == expected
    found = matching_digits(packed, cohorts, places, each)
    base, width = hashes + 1, -(-answers // each)
    assert found.shape == (50, width)
    for row, numbers in zip(found.tolist(), expected, strict=True):
        padded = numbers + [0] * (width * each - answers)
        parts = [padded[each * j : each * (j + 1)] for j in range(width)]
        assert row == [sum(digit * base**i for i, digit in enumerate(part)) for part in parts]


def test_records_may_lie_apart(rng):
    records = np.zeros(20, dtype=[("cohort", "<u2"), ("bits", "u1", (2,)), ("rest", "u1", (3,))])
    records["bits"] = rng.integers(0, 256, (20, 2))
    places = np.arange(16, dtype=np.int32)[None, :, None]
    ones = np.unpackbits(records["bits"], axis=1, bitorder="little")
    assert np.array_equal(matching_bits(records["bits"], records["cohort"], places), ones)
    digits = matching_digits(records["bits"], records["cohort"], places, 8)
    assert np.array_equal(digits, records["bits"])


def test_no_reports_have_no_rows():
    none = np.zeros((0, 2), dtype=np.uint8)
    cohorts = np.zeros(0, dtype=np.uint16)
    places = np.zeros((1, 3, 1), np.int32)
    assert matching_bits(none, cohorts, places).shape == (0, 3)
    assert matching_digits(none, cohorts, places, 8).shape == (0, 1)

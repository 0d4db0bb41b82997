"""Bit-sliced counters against unpacking every bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from deniable.errors import InvalidReport
from deniable.kernels.bit_counts import count_bits

Reports = NDArray[Any]


def record(bits: int) -> np.dtype[Any]:
    return np.dtype([("cohort", "<u2"), ("bits", "u1", (-(-bits // 8),))])


def random_reports(n: int, cohorts: int, bits: int, seed: int) -> Reports:
    rng = np.random.default_rng(seed)
    ones = rng.random((n, bits)) < rng.random()
    reports = np.zeros(n, dtype=record(bits))
    reports["cohort"] = rng.integers(0, cohorts, n)
    reports["bits"] = np.packbits(ones, axis=1, bitorder="little")
    return reports


def slow_counts(reports: Reports, cohorts: int, bits: int) -> tuple[list[int], list[list[int]]]:
    """The twin: one report, one bit at a time."""
    totals = [0] * cohorts
    table = [[0] * bits for _ in range(cohorts)]
    for cohort, packed in zip(reports["cohort"].tolist(), reports["bits"].tolist(), strict=True):
        totals[cohort] += 1
        for i in range(bits):
            table[cohort][i] += packed[i // 8] >> (i % 8) & 1
    return totals, table


def check(reports: Reports, cohorts: int, bits: int) -> None:
    totals, table = count_bits(reports, cohorts, bits)
    expected_totals, expected_table = slow_counts(reports, cohorts, bits)
    assert totals.tolist() == expected_totals
    assert table.tolist() == expected_table


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(0, 260),
    cohorts=st.integers(1, 9),
    bits=st.integers(1, 700),
    seed=st.integers(0, 2**32),
)
def test_equal_to_the_slow_twin(n: int, cohorts: int, bits: int, seed: int) -> None:
    check(random_reports(n, cohorts, bits, seed), cohorts, bits)


@pytest.mark.parametrize("bits", [1, 7, 8, 63, 64, 65, 127, 128, 129, 256, 511, 512, 513, 1025])
def test_word_boundaries(bits: int) -> None:
    check(random_reports(200, 2, bits, bits), 2, bits)


@pytest.mark.parametrize("bits", [8, 64, 128, 192, 512])
def test_planes_are_emptied_before_they_overflow(bits: int) -> None:
    # 12 planes of up to 8 lanes hold 4,095 reports each: ten times as many, every bit set.
    reports = np.zeros(10 * 8 * 4_095 + 7, dtype=record(bits))
    reports["bits"] = 255
    totals, table = count_bits(reports, 1, bits)
    assert totals.tolist() == [reports.size]
    assert (table == reports.size).all()


def test_a_long_run_against_unpackbits() -> None:
    reports = random_reports(100_003, 3, 128, 5)
    totals, table = count_bits(reports, 3, 128)
    for cohort in range(3):
        own = np.unpackbits(reports["bits"][reports["cohort"] == cohort], axis=1, bitorder="little")
        assert totals[cohort] == len(own)
        assert (table[cohort] == own.sum(axis=0)).all()


def test_many_cohorts() -> None:
    reports = random_reports(3_000, 65_536, 70, 9)
    totals, table = count_bits(reports, 65_536, 70)
    assert (totals == np.bincount(reports["cohort"], minlength=65_536)).all()
    ones = np.unpackbits(reports["bits"], axis=1, bitorder="little", count=70)
    expected = np.zeros((65_536, 70), dtype=np.int64)
    np.add.at(expected, reports["cohort"], ones)
    assert (table == expected).all()


@pytest.mark.parametrize("bits", [5, 64, 100, 128])
def test_a_field_of_a_wider_record_needs_no_copy(bits: int) -> None:
    plain = random_reports(333, 4, bits, 3)
    wide = np.zeros(333, dtype=[("before", "u1", (3,)), ("answer", record(bits)), ("after", "u1")])
    wide["answer"] = plain
    wide["before"] = wide["after"][:, None] = 255
    check(wide["answer"], 4, bits)
    check(plain[::2], 4, bits)
    check(plain[::-1], 4, bits)


def test_read_only_memory_at_an_odd_address() -> None:
    plain = random_reports(100, 4, 128, 4)
    memory = b"x" + plain.tobytes()
    check(np.frombuffer(memory, dtype=plain.dtype, offset=1), 4, 128)


def test_the_reports_stay_as_they_were() -> None:
    reports = random_reports(500, 4, 128, 6)
    before = reports.tobytes()
    count_bits(reports, 4, 128)
    assert reports.tobytes() == before
    assert reports.flags.writeable


def test_a_cohort_outside_is_refused() -> None:
    reports = random_reports(50, 4, 128, 7)
    reports["cohort"][49] = 4
    with pytest.raises(InvalidReport, match="below 4"):
        count_bits(reports, 4, 128)


@pytest.mark.parametrize(("bits", "byte"), [(1, 2), (7, 128), (121, 2), (129, 2), (521, 4)])
def test_a_padding_bit_is_refused(bits: int, byte: int) -> None:
    reports = random_reports(50, 4, bits, 8)
    reports["bits"][17, -1] |= byte
    with pytest.raises(InvalidReport, match="padding"):
        count_bits(reports, 4, bits)

"""The direct draw of counts has the distribution of simulated and accumulated reports."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.design import Shape, design_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import Rappor
from deniable.testing.statistics import accept, homogeneity, mean, reject, spread
from deniable_papers.common.crowd import design_for, drawn, reported, reported_by_cohort

ALPHA = 1e-9
BLOOM = Rappor(bits=16, hashes=3, cohorts=4, f=0.3, p=0.3, q=0.8)
BASIC = Rappor.basic(8, p=0.3, q=0.7)
TOTALS = np.array([5000, 3000, 1500, 500, 0])
STRINGS = ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("mechanism", [BLOOM, BASIC], ids=["bloom", "basic"])
def test_direct_counts_agree_with_simulated_reports(
    mechanism: Rappor, rng: np.random.Generator
) -> None:
    values = np.repeat(np.arange(5), TOTALS)
    design = design_for(mechanism, STRINGS)
    strings = STRINGS if mechanism is BLOOM else None
    slow, fast = mechanism.zero(), mechanism.zero()
    for _ in range(4):
        slow = slow.merge(mechanism.accumulate(mechanism.simulate(values, rng, strings)))
        fast = fast.merge(reported(mechanism, design, TOTALS, rng))
    if mechanism is BLOOM:
        accept(homogeneity(slow.reports, fast.reports), ALPHA)
    wrong = reported(mechanism, design, TOTALS[::-1], rng).table.ravel() * 4
    # Bits of one report are independent given the value, so cells of the two tables differ by
    # independent, nearly normal amounts whose variance is that of two sums of coins.
    share = slow.table / slow.reports[:, None]
    deviations = (slow.table - fast.table * (slow.reports / fast.reports)[:, None]).ravel()
    variance = (2 * slow.reports[:, None] * share * (1 - share)).ravel()
    accept(spread(deviations, variance, tolerance=0.25), ALPHA)
    reject(spread(slow.table.ravel() - wrong, variance, tolerance=0.25), ALPHA, miss=1e-9)


def test_the_mean_and_the_variance_of_a_count_are_those_of_two_binomials(
    rng: np.random.Generator,
) -> None:
    mechanism = Rappor(bits=4, hashes=1, cohorts=1, p=0.25, q=0.5)
    design = design_for(mechanism, ["a"])
    runs = np.array(
        [reported(mechanism, design, np.array([400]), rng).table[0] for _ in range(4000)]
    )
    bit = int(design.cells[0, 0])
    for place in range(4):
        probability = 0.5 if place == bit else 0.25
        expected, variance = 400 * probability, 400 * probability * (1 - probability)
        error = np.sqrt(variance / len(runs))
        accept(mean(float(runs[:, place].mean()), expected, float(error)), ALPHA)
        accept(spread(runs[:, place] - expected, variance), ALPHA)
        reject(spread(runs[:, place] - expected, variance * 1.3), ALPHA, miss=1e-9)


def test_holders_are_kept_and_the_design_is_the_decoders() -> None:
    rng = np.random.default_rng(0)
    counts = reported(BLOOM, design_for(BLOOM, STRINGS), TOTALS, rng)
    assert counts.n == TOTALS.sum()
    expected = design_of(Shape(cohorts=4, bits=16, hashes=3), STRINGS).cells
    assert np.array_equal(design_for(BLOOM, STRINGS).cells, expected)
    assert counts.table.shape == (4, 16)
    assert drawn(np.array([0.5, 0.5, 0.0]), 1000, rng)[2] == 0


def test_a_string_that_everybody_holds_sets_its_bits_in_every_cohort() -> None:
    sure = Rappor(bits=16, hashes=2, cohorts=2, f=2**-40, p=0.0, q=1.0)
    design = design_for(sure, ["a", "b"])
    held = np.array([[100, 50], [0, 0]])
    counts = reported_by_cohort(sure, design, held, np.random.default_rng(1))
    expected = np.zeros(32)
    expected[design.cells[0][design.cells[0] < 32]] = 1
    assert np.array_equal(counts.table.ravel(), expected * np.repeat([100, 50], 16))


def test_a_single_bit_and_a_wrong_number_of_rows_are_refused() -> None:
    rng = np.random.default_rng(0)
    design = design_for(BLOOM, STRINGS)
    with pytest.raises(InvalidParameter, match="one row of holders per string"):
        reported(BLOOM, design, TOTALS[:3], rng)
    yes_no = Rappor.basic(p=0.3, q=0.7)
    with pytest.raises(InvalidParameter, match="more than a single bit"):
        reported(yes_no, design_for(yes_no, ["yes"]), np.array([5]), rng)

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.decode.design import design_of
from deniable.decode.observed import observe
from deniable.decode.regression import Regression
from deniable.decode.unlisted import Other, other_mass
from deniable.mechanisms import Rappor

RAPPOR = Rappor(bits=64, hashes=2, cohorts=16, p=0.25, q=0.75)
STRINGS = [f"s{i}" for i in range(40)]


def mass_beside(listed: int, counts_of, rng) -> Other:
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, [10_000] * 40, rng))
    design = design_of(observed.shape, STRINGS[:listed])
    weights = observed.weights(np.full(design.rows, 2 / 64))
    return other_mass([Regression.of(observed.y, weights, design)], observed.shape)


def test_strings_outside_the_list_are_weighed_and_suspected(counts_of, rng):
    other = mass_beside(30, counts_of, rng)
    assert other.frequency == pytest.approx(0.25, abs=6 * other.std_error)
    assert other.std_error < 0.1
    assert other.suspected
    assert other.excess > 1.1
    low, high = other.interval
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, other.degrees) * other.std_error)


def test_a_complete_list_leaves_nothing_over(counts_of, rng):
    other = mass_beside(40, counts_of, rng)
    assert other.frequency == pytest.approx(0, abs=6 * other.std_error)
    assert other.p_value > 1e-8


def test_the_combination_is_at_least_as_sharp_as_either_sign(counts_of, rng):
    observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, [10_000] * 40, rng))
    design = design_of(observed.shape, STRINGS[:30])
    fit = Regression.of(observed.y, observed.weights(np.full(design.rows, 2 / 64)), design)
    covariance = fit.dispersion * fit.solved.covariance
    scale = observed.shape.bits / observed.shape.distinct
    intercept = scale**2 * covariance[0, 0]
    missing = covariance[1:, 1:].sum()
    combined = other_mass([fit], observed.shape).std_error ** 2
    assert combined <= min(intercept, missing) * (1 + 1e-9)


def test_of_two_parts_it_is_the_mean(counts_of, rng):
    fits = []
    for listed in (20, 30):
        observed = observe(RAPPOR, counts_of(RAPPOR, STRINGS, [10_000] * 40, rng))
        design = design_of(observed.shape, STRINGS[:listed])
        fits.append(Regression.of(observed.y, observed.weights(np.zeros(design.rows)), design))
    alone = [other_mass([fit], observed.shape) for fit in fits]
    both = other_mass(fits, observed.shape)
    assert both.frequency == pytest.approx((alone[0].frequency + alone[1].frequency) / 2)
    assert both.std_error == pytest.approx(np.hypot(alone[0].std_error, alone[1].std_error) / 2)
    assert both.degrees == alone[0].degrees + alone[1].degrees

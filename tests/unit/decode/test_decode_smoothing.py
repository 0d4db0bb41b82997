from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.distribution_estimates import likely_distribution, support_of
from deniable.decode.simplex import project
from deniable.decode.smoothing import smooth
from deniable.errors import InvalidParameter
from deniable.mechanisms import KRR, Counts, Hadamard, Mechanism, Rappor

BINS = 40
BELL = np.exp(-0.5 * ((np.arange(BINS) - 18) / 6) ** 2)
BELL /= BELL.sum()
MECHANISMS = [KRR(BINS, epsilon=2.0), Rappor.basic(BINS, epsilon=1.0)]
NORMAL = Hadamard(BINS, epsilon=2.0)
LABELS = [str(i) for i in range(BINS)]


def counts_from(mechanism: Mechanism, truth: np.ndarray, rng: np.random.Generator) -> Counts:
    return mechanism.accumulate(mechanism.simulate(rng.choice(BINS, 30_000, p=truth), rng))


@pytest.mark.parametrize("mechanism", [*MECHANISMS, NORMAL], ids=repr)
def test_a_smooth_population_is_estimated_better(mechanism, rng):
    found = smooth(mechanism, counts_from(mechanism, BELL, rng), LABELS)
    raw = np.square(project(found.raw) - BELL).sum()
    assert np.square(found.frequency - BELL).sum() < raw / 2
    assert found.strength > 0
    assert found.effective < BINS / 2
    assert found.frequency.sum() == pytest.approx(1)
    assert found.frequency.min() >= 0


def test_a_jagged_population_is_left_alone(rng):
    jagged = np.where(np.arange(BINS) % 2, 1.0, 0.0)
    jagged /= jagged.sum()
    mechanism = KRR(BINS, epsilon=5.0)
    found = smooth(mechanism, counts_from(mechanism, jagged, rng))
    assert np.square(found.frequency - jagged).sum() < 2 * np.square(found.raw - jagged).sum()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_without_strength_it_is_maximum_likelihood(mechanism, rng):
    counts = counts_from(mechanism, BELL, rng)
    likely = likely_distribution(support_of(mechanism, counts))
    assert np.allclose(smooth(mechanism, counts, strength=0.0).frequency, likely, atol=2e-3)


def test_great_strength_leaves_a_straight_line(rng):
    mechanism = MECHANISMS[0]
    slope = np.arange(1.0, BINS + 1)
    counts = counts_from(mechanism, slope / slope.sum(), rng)
    found = smooth(mechanism, counts, strength=1e9)
    assert np.abs(np.diff(found.frequency, n=2)).max() < 1e-6
    assert found.effective < 1.5


def test_the_raw_estimate_stands_beside_it(rng):
    mechanism = MECHANISMS[1]
    counts = counts_from(mechanism, BELL, rng)
    assert np.allclose(smooth(mechanism, counts).raw, mechanism.estimate(counts).frequency)


def test_three_bins_are_too_few_to_smooth(rng):
    mechanism = KRR(3, epsilon=2.0)
    counts = mechanism.accumulate(mechanism.simulate(rng.integers(0, 3, 1_000), rng))
    assert smooth(mechanism, counts).strength == 0


def test_what_cannot_be_smoothed_is_refused():
    mechanism = KRR(4, epsilon=1.0)
    full = Counts(np.array([8]), np.array([[2, 2, 2, 2]]))
    for strength in (-1.0, float("nan")):
        with pytest.raises(InvalidParameter, match="strength"):
            smooth(mechanism, full, strength=strength)
    with pytest.raises(InvalidParameter, match="no reports"):
        smooth(mechanism, mechanism.zero())
    yes_no = Rappor.basic(p=0.25, q=0.75)
    with pytest.raises(InvalidParameter, match="2 to 2,048 bins"):
        smooth(yes_no, Counts(np.array([8]), np.array([[2]])))

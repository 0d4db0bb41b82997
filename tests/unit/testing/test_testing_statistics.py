"""The statistical helpers are tested too: their false-failure rates, their power, their words.

Rates are simulated at large alphas; what is asserted about them is itself a test with a stated
risk. The checks under test use a ledger of their own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.testing import power
from deniable.testing.ledger import Ledger
from deniable.testing.statistics import (
    Check,
    accept,
    goodness_of_fit,
    homogeneity,
    mean,
    proportion,
    reject,
    spread,
)

RUNS = 2_000
P = np.array([0.5, 0.3, 0.15, 0.05])


def sample_proportion(rng: np.random.Generator) -> Check:
    return proportion(int(rng.binomial(500, 0.3)), 500, 0.3)


def sample_goodness(rng: np.random.Generator) -> Check:
    return goodness_of_fit(rng.multinomial(1000, P), P)


def sample_homogeneity(rng: np.random.Generator) -> Check:
    return homogeneity(rng.multinomial(800, P), rng.multinomial(1200, P))


def sample_mean(rng: np.random.Generator) -> Check:
    return mean(float(rng.normal(2.0, 3.0, 25).mean()), 2.0, 0.6)


def sample_spread(rng: np.random.Generator) -> Check:
    return spread(rng.normal(0, 3.0, 40), 9.0)


SAMPLES = [sample_proportion, sample_goodness, sample_homogeneity, sample_mean, sample_spread]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_true_hypothesis_is_rejected_about_alpha_of_the_time(
    sample: Callable[[np.random.Generator], Check], rng: np.random.Generator
) -> None:
    p_values = np.array([sample(rng).p_value for _ in range(RUNS)])
    for alpha in (0.05, 0.2):
        rejected = int((p_values < alpha).sum())
        # Exact tests of counts are conservative, hence the band below alpha.
        accept(proportion(rejected, RUNS, alpha * 0.85, tolerance=alpha * 0.2), 1e-9)


def test_a_rate_of_twice_alpha_would_be_noticed(rng: np.random.Generator) -> None:
    """The negative control of the test above: a standard error that is 25% too small."""
    wrong = [mean(float(rng.normal(0, 1.25)), 0.0, 1.0).p_value < 0.05 for _ in range(RUNS)]
    check = proportion(int(sum(wrong)), RUNS, 0.05 * 0.85, tolerance=0.05 * 0.2)
    # P(|z| > 1.96/1.25) = 0.117; 2,000 runs reject up to 0.0525 with 100 or so to spare.
    reject(check, 1e-9, miss=1e-12)


@pytest.mark.parametrize(
    ("sample", "miss"),
    [
        (
            lambda rng: proportion(int(rng.binomial(500, 0.36)), 500, 0.3),
            power.miss_proportion(0.36, 0.3, 500, 0.05),
        ),
        (
            lambda rng: proportion(int(rng.binomial(500, 0.25)), 500, 0.3),
            power.miss_proportion(0.25, 0.3, 500, 0.05),
        ),
        (
            lambda rng: goodness_of_fit(rng.multinomial(1000, [0.5, 0.5]), [0.46, 0.54]),
            power.miss_chi_square(1000 * (0.04**2 / 0.46 + 0.04**2 / 0.54), 1, 0.05),
        ),
        (lambda rng: mean(float(rng.normal(2.5)), 0.0, 1.0), power.miss_mean(2.5, 0.05)),
        (
            lambda rng: spread(rng.normal(0, 1.3**0.5, 100), 1.0),
            power.miss_spread(1.3, 100, 0.05),
        ),
    ],
)
def test_power_is_as_computed(
    sample: Callable[[np.random.Generator], Check], miss: float, rng: np.random.Generator
) -> None:
    accepted = sum(sample(rng).p_value >= 0.05 for _ in range(RUNS))
    assert 0.05 < miss < 0.95
    accept(proportion(int(accepted), RUNS, miss, tolerance=0.03), 1e-9)


def test_accept_and_reject_say_all_numbers_and_enter_them() -> None:
    ledger = Ledger()
    accept(Check("fine", 1.0, 0.5), 1e-3, ledger)
    with pytest.raises(AssertionError, match=r"alpha = 0\.001: bad: statistic 7, p-value 0\.0001"):
        accept(Check("bad", 7.0, 1e-4), 1e-3, ledger)
    reject(Check("wrong", 9.0, 1e-4), 1e-3, miss=1e-5, ledger=ledger)
    with pytest.raises(AssertionError, match=r"Not rejected at alpha = 0\.001.*1e-05.*0\.5"):
        reject(Check("weak", 1.0, 0.5), 1e-3, miss=1e-5, ledger=ledger)
    assert ledger.total == pytest.approx(2e-3 + 2e-5)


@pytest.mark.parametrize("function", [accept, lambda check, a, ledger: reject(check, a, miss=0)])
def test_a_p_value_that_is_no_number_fails_both(function: Callable[..., None]) -> None:
    with pytest.raises(AssertionError):
        function(Check("broken", 0.0, float("nan")), 1e-3, ledger=Ledger())


def test_tolerance_accepts_the_whole_band_and_no_more() -> None:
    assert proportion(930, 1000, 0.95, tolerance=0.02).p_value > 0.9
    assert proportion(900, 1000, 0.95, tolerance=0.02).p_value < 1e-2
    assert proportion(999, 1000, 0.95, tolerance=0.02).p_value < 1e-5
    wide = np.full(4000, 1.2)
    assert spread(wide, 1.0, tolerance=0.5).p_value == 1.0
    assert spread(wide, 1.0).p_value < 1e-9
    assert spread(wide * 0.5, 1.0, tolerance=0.5).p_value < 1e-9


def test_small_cells_are_pooled() -> None:
    """A thousand cells of 0.1 become about ten: their statistic has ten degrees, not a thousand."""
    tail = np.full(1000, 1e-5)
    probabilities = np.append(1 - tail.sum(), tail)
    observed = np.zeros(1001)
    observed[0], observed[1::10] = 9_900, 1
    check = goodness_of_fit(observed, probabilities)
    assert check.statistic < 1
    assert check.p_value > 0.99
    unpooled = (observed - probabilities * 10_000) ** 2 / (probabilities * 10_000)
    assert unpooled.sum() > 800


def test_an_impossible_outcome_is_rejected_outright() -> None:
    assert goodness_of_fit([50, 49, 1], [0.5, 0.5, 0.0]).p_value == 0.0
    assert goodness_of_fit([50, 50, 0], [0.5, 0.5, 0.0]).p_value == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: goodness_of_fit([1, 1], [0.5, 0.5]),
        lambda: goodness_of_fit([100, 100], [0.5, 0.4]),
        lambda: homogeneity([100, 0], [0, 0]),
        lambda: homogeneity([100, 0], [100, 0]),
        lambda: mean(0.0, 0.0, 0.0),
    ],
)
def test_too_little_to_test_is_refused(call: Callable[[], Check]) -> None:
    with pytest.raises(InvalidParameter):
        call()


def test_no_power_at_all_is_said() -> None:
    assert power.miss_proportion(0.9, 0.5, 5, 1e-9) == 1.0

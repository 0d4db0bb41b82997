"""Groups of reports: closed forms, tails, lines; each against something slow or known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from deniable._distributions import chi2_sf
from deniable.ask.intervals import overlap
from deniable.decode.lasting import EVERYTHING, NOTHING, lasting_of
from deniable.decode.reading import Reading
from deniable.groups import Groups, change_over_epochs, compare_groups, local_level, pool_groups
from deniable.groups.mixture import weighted_chi2_sf
from deniable.mechanisms import KRR, Rappor

RAPPOR = Rappor.basic(f=0.5, p=0.5, q=0.75)


def pooled_error(sizes: list[int], share: float) -> float:
    """Return the standard error of a pooled share of RAPPOR's bit, as a table has it."""
    again, lasting = overlap(sizes), lasting_of(RAPPOR.parameters)
    reading = Reading(noise=1 + (again - 1) * lasting.ends[1], people=again, lasting=lasting)
    n, f = sum(sizes), np.array([share])
    return math.sqrt(float(reading.variance(RAPPOR.variance(n, f), f, n)[0]))


def test_the_pooled_error_is_the_form_of_kept_and_fresh_noise() -> None:
    """Numbers of the derivation: equal epochs .00853, two large and 22 small ones .0276."""
    assert pooled_error([20_000] * 24, 0.1) == pytest.approx(0.00853, abs=5e-6)
    assert pooled_error([10_000] * 2 + [500] * 22, 0.1) == pytest.approx(0.0276, abs=5e-5)
    everything = math.sqrt(24 * float(RAPPOR.variance(480_000, 0.1)) + 0.09 / 20_000)
    assert everything / pooled_error([20_000] * 24, 0.1) == pytest.approx(3.3, abs=0.05)


def test_what_lasts_is_the_part_of_the_variance_that_a_device_keeps() -> None:
    """Against the two stages written out: u, then q or p."""
    u, q, p = 0.75, 0.75, 0.5
    kept = (q - p) ** 2 * u * (1 - u)
    whole = kept + u * q * (1 - q) + (1 - u) * p * (1 - p)
    found = lasting_of(RAPPOR.parameters)
    assert found.holder == pytest.approx((kept, whole))
    assert float(found.share(np.array([1.0]))[0]) == pytest.approx(kept / whole)
    assert lasting_of(KRR(3, epsilon=1.0).parameters) is NOTHING
    chain = lasting_of(KRR(3, epsilon=1.0, epsilon_forever=3.0).parameters)
    assert 0 < chain.ends[0] <= chain.ends[1] < 1
    drawn = lasting_of(KRR(3, epsilon=1.0, epsilon_forever=3.0).parameters, drawn=True)
    assert drawn.ends[1] >= chain.ends[1]
    assert EVERYTHING.ends == (1.0, 1.0)


@pytest.mark.parametrize("weights", [[1, 1, 1], [5, 3, 1, 0.5], [3, *[0.3] * 20], [1, 0.01]])
def test_the_tail_of_a_weighted_sum_of_squares(
    weights: list[float], rng: np.random.Generator
) -> None:
    lam = np.array(weights, dtype=float)
    draws = rng.standard_normal((200_000, lam.size)) ** 2 @ lam
    for share in (0.5, 0.1, 0.02):
        x = float(np.quantile(draws, 1 - share))
        # The quantile of 200,000 draws has its own error: six standard deviations of it.
        error = 6 * math.sqrt(share * (1 - share) / 200_000) + 0.06 * share
        assert weighted_chi2_sf(x, lam) == pytest.approx(share, abs=error)
    assert weighted_chi2_sf(2.5, np.ones(4)) == pytest.approx(float(chi2_sf(2.5, 4)))
    assert weighted_chi2_sf(1.0, np.zeros(3)) == 0.0
    assert weighted_chi2_sf(0.0, lam) == 1.0


def groups(shares: list[list[float]], sizes: list[int], noise: float = 1.0) -> Groups:
    """Return epochs of two or more answers with independent noise of one report."""
    f, n = np.array(shares), np.array(sizes, dtype=float)
    pooled = n @ f / n.sum()
    variance = (noise + f * (1 - f)) / n[:, None]
    labels = tuple("abcdefgh"[: f.shape[1]])
    covariance = noise * np.eye(f.shape[1])
    factors = [(1.0, 1.0)] * len(sizes)
    times = tuple(range(10, 10 + len(sizes)))
    return Groups(labels, times, n, f, variance, (0.0, 0.0), pooled, covariance, factors)


def test_the_largest_step_is_named_with_its_epoch_and_a_simultaneous_interval() -> None:
    found = change_over_epochs(groups([[0.5, 0.2], [0.5, 0.2], [0.1, 0.2]], [900] * 3))
    assert found is not None
    assert found.largest is not None
    step = found.largest
    assert (step.answer, step.epoch) == ("a", 12)
    assert step.difference == pytest.approx(-0.4)
    half = (step.high - step.low) / 2
    error = math.sqrt((1 + 0.25) / 900 + (1 + 0.09) / 900)
    assert half / error == pytest.approx(2.498, abs=0.001)  # Phi^-1(1 - 0.05 / (2 * 4))
    assert found.degrees == 4
    assert set(found.as_json()) == {"statistic", "degrees", "p_value", "largest"}


def test_one_epoch_or_unknown_shares_have_no_change() -> None:
    assert change_over_epochs(groups([[0.5, 0.2]], [900])) is None
    unknown = groups([[math.nan, math.nan], [0.1, 0.2]], [900, 900])
    assert change_over_epochs(unknown) is None


def test_the_same_people_make_a_change_surer_and_new_ones_are_in_between() -> None:
    asked = groups([[0.5, 0.2], [0.45, 0.2], [0.4, 0.2]], [9_000] * 3, noise=0.2)
    found = {name: change_over_epochs(asked, people=name) for name in ("unknown", "new", "same")}
    values = {name: one.p_value for name, one in found.items() if one is not None}
    assert values["same"] < values["new"] <= values["unknown"]
    steps = {name: one.largest for name, one in found.items() if one is not None}
    widths = {name: step.high - step.low for name, step in steps.items() if step is not None}
    assert widths["same"] < widths["new"] == widths["unknown"]


def test_answers_without_a_common_covariance_are_tested_one_by_one() -> None:
    joint = groups([[0.5, 0.2], [0.3, 0.2]], [900] * 2)
    alone = change_over_epochs(replace(joint, noise=None))
    together = change_over_epochs(joint)
    assert alone is not None
    assert together is not None
    assert alone.alone
    assert alone.degrees == 1
    assert alone.p_value == pytest.approx(together.p_value, abs=0.02)


def test_comparing_two_groups_is_the_difference_over_its_error() -> None:
    found = compare_groups(groups([[0.5, 0.2], [0.3, 0.2]], [900, 400]))
    error = math.sqrt((1 + 0.25) / 900 + (1 + 0.21) / 400)
    assert found.std_error[0, 0] == pytest.approx(error)
    assert found.difference.tolist() == [[pytest.approx(-0.2), 0.0]]
    assert found.adjusted[0, 0] == pytest.approx(2 * found.p_value[0, 0])
    assert found.degrees == 2


def test_pooling_weighs_by_information_and_shares_the_sample_of_the_same_people() -> None:
    one, other = np.array([0.4, 0.6]), np.array([0.5, 0.5])
    tangent = np.array([[1.0, -1.0], [-1.0, 1.0]])
    found = pool_groups([one, other], [0.01 * tangent, 0.04 * tangent])
    assert found.shares == pytest.approx([0.42, 0.58])
    assert found.covariance[0, 0] == pytest.approx(0.008)
    assert found.degrees == 1
    # The difference 0.1 has the variance 0.05.
    assert found.statistic == pytest.approx(0.1**2 / 0.05)
    sample = 0.24 * tangent
    common = np.full((2, 2), 0.01)  # all 100 people are in both
    wider = pool_groups([one, other], [0.01 * tangent, 0.04 * tangent], sample, common)
    assert wider.covariance[0, 0] == pytest.approx(0.008 + 2 * 0.8 * 0.2 * 0.24 / 100)


def test_the_line_lies_between_the_shares_and_a_constant() -> None:
    shares = np.array([0.1, 0.12, 0.09, 0.3, 0.31, 0.29])
    line = local_level(shares, np.full(6, 1e-4))
    assert np.abs(line - shares).max() < 0.02
    flat = local_level(shares, np.full(6, 1.0))
    assert np.ptp(flat) < 0.02
    assert local_level(shares[:2], np.ones(2)) == pytest.approx(shares[:2])

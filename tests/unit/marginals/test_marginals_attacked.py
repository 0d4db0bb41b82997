"""Attacks on what follows from raw tables: what the honest say lies within what is possible."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable.crafted.raw_tables import (
    crafted_correlation,
    crafted_share,
    crafted_statistic,
    second_order,
)
from deniable.marginals.correlation import correlation
from deniable.marginals.independence import standardised, wald
from deniable.marginals.pairs import population_covariance
from deniable.marginals.raw import raw_table
from deniable.protocol import PROFILE_MECHANISMS
from deniable.testing.ledger import LEDGER
from material.attacked_profiles import attack

SLACK = 7.0
"""Standard deviations of the honest reports' own noise, of which a share of liars is replaced."""


@pytest.mark.parametrize("pair", [(0, 1), (1, 2)], ids=["yes/no", "three answers"])
@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_what_the_honest_say_lies_within(mechanism, share, pair, rng):
    case = attack(mechanism, share, pair, rng)
    seen, honest = (raw_table(case.mechanism, c, pair) for c in (case.seen, case.honest))
    cells, shift, among = seen.probability, case.shift(pair), case.among(pair)
    cell, condition = (1, -1), np.zeros(cells.shape)
    condition[1] = 1.0
    assert seen.std_error is not None
    LEDGER.add(3e-11)

    moved = cells[cell] / cells[1].sum() - honest.probability[cell] / honest.probability[1].sum()
    noise = SLACK * among * float(seen.std_error[cell]) / float(honest.probability[1].sum())
    assert abs(moved) <= crafted_share(cells, (1, cells.shape[1] - 1), condition, shift) + noise

    ends = crafted_statistic(cells, population_covariance(seen), shift, among)
    root = math.sqrt(wald(honest.probability, population_covariance(honest)).statistic)
    assert math.sqrt(ends.low) - SLACK * among <= root <= math.sqrt(ends.high) + SLACK * among

    if pair == (0, 1):
        value, truth = (correlation(one.probability).value for one in (seen, honest))
        error = correlation(honest.probability, population_covariance(honest)).std_error
        low, high = crafted_correlation(cells, value, shift)
        assert low - SLACK * among * error <= truth <= high + SLACK * among * error


def test_the_bars_are_not_idle(rng):
    """k-RR over the whole profile, whose shift is exact: two fifths of each bar is reached."""
    case = attack("inp_ps", 0.03, (0, 1), rng, answers=(2, 2))
    seen, honest = (raw_table(case.mechanism, c, (0, 1)) for c in (case.seen, case.honest))
    cells, shift = seen.probability, case.shift((0, 1))
    condition = np.array([[0.0, 0.0], [1.0, 1.0]])
    one, two = (table.probability[1, 1] / table.probability[1].sum() for table in (seen, honest))
    assert one - two > 0.45 * crafted_share(cells, (1, 1), condition, shift)
    ends = crafted_statistic(cells, population_covariance(seen), shift, most := case.among((0, 1)))
    before, after = (
        math.sqrt(wald(table.probability, population_covariance(table)).statistic)
        for table in (honest, seen)
    )
    assert most == pytest.approx(0.03)
    assert abs(after - before) > 0.4 * max(
        after - math.sqrt(ends.low), math.sqrt(ends.high) - after
    )
    value, truth = (correlation(table.probability).value for table in (seen, honest))
    low, high = crafted_correlation(cells, value, shift)
    assert value - truth > 0.4 * (value - low)
    assert high > value


def test_every_move_within_the_shifts_stays_within(rng):
    """The slow twin: random moves that no weighted sum sees as too large."""
    cells = np.array([[0.3, 0.1, 0.12], [0.15, 0.2, 0.13]])
    root = rng.normal(size=(6, 6)) / 200
    noise, reach = root @ root.T, 0.01

    def shift(weights):
        return reach * float(np.ptp(weights))  # moves that sum to 0, at most `reach` in all

    ends = crafted_statistic(cells, noise, shift, 0.0)
    _, whitening = standardised(cells, noise)
    seen = wald(cells, noise).statistic
    assert ends.low < seen < ends.high
    tried = []
    for _ in range(500):
        move = rng.dirichlet(np.full(6, 0.3)) - rng.dirichlet(np.full(6, 0.3))
        honest = cells - reach * move.reshape(2, 3) / max(1.0, np.abs(move).sum() / 2)
        c = honest - np.outer(honest.sum(axis=1), honest.sum(axis=0))
        tried.append(float(np.sum((whitening @ c.ravel()) ** 2)))
        ratio = honest[0, 1] / honest[0].sum()
        condition = np.array([[1.0] * 3, [0.0] * 3])
        moved = abs(ratio - cells[0, 1] / cells[0].sum())
        assert moved <= crafted_share(cells, (0, 1), condition, shift) + 1e-12
    assert ends.low <= min(tried)
    assert max(tried) <= ends.high
    assert math.sqrt(seen) - math.sqrt(min(tried)) > 0.5 * (math.sqrt(seen) - math.sqrt(ends.low))


def test_correlations_of_every_move_stay_within(rng):
    cells, reach = np.array([[0.4, 0.1], [0.2, 0.3]]), 0.02

    def shift(weights):
        return reach * float(np.ptp(weights))

    value = correlation(cells).value
    low, high = crafted_correlation(cells, value, shift)
    assert low < value < high
    found = []
    for _ in range(500):
        move = rng.dirichlet(np.full(4, 0.3)) - rng.dirichlet(np.full(4, 0.3))
        honest = cells - reach * move.reshape(2, 2) / max(1.0, np.abs(move).sum() / 2)
        found.append(correlation(honest).value)
    assert low <= min(found)
    assert max(found) <= high


def test_nobody_changes_nothing(rng):
    case = attack("views", 0.03, (0, 1), rng, people=2_000)
    table = raw_table(case.mechanism, case.seen, (0, 1))
    cells, noise = table.probability, population_covariance(table)

    def nobody(_):
        return 0.0

    statistic = wald(cells, noise).statistic
    assert crafted_statistic(cells, noise, nobody, 0.0) == pytest.approx((statistic, statistic))
    value = correlation(cells).value
    assert crafted_correlation(cells, value, nobody) == pytest.approx((value, value))
    assert crafted_share(cells, (0, 0), np.ones((2, 2)), nobody) == 0
    assert not second_order(cells, nobody).any()


def test_what_may_be_all_liars_can_be_anything():
    cells = np.array([[0.01, 0.02], [0.5, 0.47]])

    def shift(weights):
        return 0.1 * float(np.abs(weights).sum())

    condition = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert crafted_share(cells, (0, 0), condition, shift) == math.inf
    assert crafted_correlation(cells, 0.1, shift) == (-1, 1)


def test_what_could_not_be_learned_has_no_ends():
    unknown = np.full((2, 2), np.nan)
    ends = crafted_statistic(unknown, np.full((4, 4), np.nan), lambda _: 0.1, 0.1)
    assert np.isnan(ends).all()
    assert np.isnan(crafted_correlation(unknown, math.nan, lambda _: 0.1)).all()

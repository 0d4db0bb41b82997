"""Attacks on smoothed tables: the honest ones lie within what the search spans."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deniable.crafted.cells import table_shift
from deniable.crafted.smoothed_tables import (
    MOST,
    directions_of,
    displacement,
    groups_of,
    smoothed_without,
    without,
)
from deniable.crafted.weighted_sums import most_among
from deniable.errors import InvalidParameter
from deniable.marginals.raw import raw_table
from deniable.marginals.smoothed import smooth
from deniable.protocol import PROFILE_MECHANISMS
from deniable.testing.ledger import LEDGER
from material.attacked_profiles import ANSWERS, Attack, attack, mechanism_for

PAIRS = list(combinations(range(len(ANSWERS)), 2))
SLACK = 7.0


def spanned(case: Attack, pairs: list[tuple[int, ...]]) -> dict[tuple[int, ...], np.ndarray]:
    """Return all smoothed tables that the search finds, the seen one first."""
    raw = {pair: raw_table(case.mechanism, case.seen, pair).probability for pair in pairs}
    runs = [*smoothed_without(case.mechanism, case.seen, raw, case.share)]
    seen = smooth(case.mechanism.moments(case.seen), 2)[0]
    return {pair: np.array([one[pair] for one in (seen, *runs)]) for pair in pairs}


@pytest.mark.parametrize("share", [0.01, 0.03])
@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_honest_tables_lie_within(mechanism, share, rng):
    """The replaced honest reports are random: seven standard deviations of them are allowed."""
    pair = (0, 1) if share < 0.02 else (1, 2)
    case = attack(mechanism, share, pair, rng)
    every = spanned(case, PAIRS)
    honest = smooth(case.mechanism.moments(case.honest), 2)[0]
    for table in PAIRS:
        error = raw_table(case.mechanism, case.honest, table).std_error
        noise = SLACK * case.among(table) * error
        LEDGER.add(1e-11)
        assert np.all(every[table].min(axis=0) - noise <= honest[table])
        assert np.all(honest[table] <= every[table].max(axis=0) + noise)
    if mechanism in ("inp_ps", "views"):  # not idle: most of the way is taken
        cell = tuple(ANSWERS[i] - 1 for i in pair)
        seen, least = every[pair][0][cell], every[pair].min(axis=0)[cell]
        assert seen - honest[pair][cell] > 0.5 * (seen - least)


@pytest.mark.parametrize("mechanism", ["inp_ps", "coefficients", "views"])
def test_tables_of_three_attributes_lie_within(mechanism, rng):
    three, share = (0, 1, 2), 0.03
    case = attack(mechanism, share, three, rng, answers=(2, 2, 2), order=3)
    raw = {three: raw_table(case.mechanism, case.seen, three).probability}
    runs = [*smoothed_without(case.mechanism, case.seen, raw, share)]
    seen, honest = (
        smooth(case.mechanism.moments(counts), 3)[0][three] for counts in (case.seen, case.honest)
    )
    every = np.array([seen, *(run[three] for run in runs)])
    noise = SLACK * case.among(three) * raw_table(case.mechanism, case.honest, three).std_error
    LEDGER.add(1e-11)
    assert np.all(every.min(axis=0) - noise <= honest)
    assert np.all(honest <= every.max(axis=0) + noise)
    assert seen[1, 1, 1] - honest[1, 1, 1] > 0.3 * (seen - every.min(axis=0))[1, 1, 1]


@pytest.mark.parametrize("mechanism", ["inp_ps", "views"])
def test_no_possible_report_leads_outside(mechanism, rng):
    """Every report that there is, sent by all liars."""
    share, people = 0.02, 10_000
    case = attack(mechanism, 0.0, (0, 1), rng, answers=(2, 2, 2), people=people)
    population, liars = case.mechanism, round(share * people)
    reports = population.simulate(rng.integers(0, 2, (people, 3)), rng)
    honest = population.accumulate(reports[liars:].copy())
    truth = smooth(population.moments(honest), 2)[0]
    symbols = sorted({int(symbol) for symbol in reports["symbol"]})
    assert len(symbols) >= 8
    for symbol in symbols:
        reports["symbol"][:liars] = symbol
        found = spanned(Attack(population, population.accumulate(reports), honest, share), PAIRS)
        for pair in PAIRS:
            error = raw_table(population, honest, pair).std_error
            noise = SLACK * most_among(population.parameters, pair, share) * error
            LEDGER.add(1e-11)
            assert np.all(found[pair].min(axis=0) - noise <= truth[pair])
            assert np.all(truth[pair] <= found[pair].max(axis=0) + noise)


def test_an_attack_moves_the_cell_as_far_as_leverage_allows(rng):
    """Of sums that stay 1, in the proportions of k-RR: the others lose what one cell wins."""
    mechanism = mechanism_for("inp_ps", (2, 2, 2))
    weights = np.array([[0.0, 0.0], [0.0, 1.0]])
    moved = displacement(mechanism, (0, 1), weights, 0.01)
    most = table_shift(mechanism.parameters, (0, 1), 0.01)
    assert moved == pytest.approx(most * np.array([[-1 / 3, -1 / 3], [-1 / 3, 1]]))


def test_moments_lose_what_cells_were_moved_by(rng):
    """The slow twin: the moments of the moved table itself."""
    case = attack("inp_ps", 0.01, (0, 2), rng, people=2_000)
    moments = case.mechanism.moments(case.seen)
    moved = rng.normal(size=(2, 3)) / 100
    moved -= moved.mean()
    found = without(moments, {(0, 2): moved})
    assert found.measured[(1,)] is moments.measured[(1,)]
    assert found.measured[(0, 1)] is moments.measured[(0, 1)]
    # A yes/no attribute has the contrast +1, -1.
    first = moments.measured[(0,)].theta - found.measured[(0,)].theta
    assert first == pytest.approx([moved[0].sum() - moved[1].sum()])
    both = moments.measured[(0, 2)].theta - found.measured[(0, 2)].theta
    second = moments.measured[(2,)].theta - found.measured[(2,)].theta
    assert both.shape == (1, 2)
    assert second.shape == (2,)
    again = without(found, {(0, 2): -moved})
    for subset, moment in moments.measured.items():
        assert again.measured[subset].theta == pytest.approx(moment.theta)


def test_attacks_are_cells_and_the_interaction_both_ways():
    found = directions_of(np.array([[0.4, 0.1], [0.1, 0.4]]))
    assert found.shape == (10, 2, 2)
    assert np.array_equal(found[8], [[1, -1], [-1, 1]])
    assert np.array_equal(found[9], -found[8])
    assert directions_of(np.full((2, 2, 2), 1 / 8)).shape == (16, 2, 2, 2)
    assert directions_of(np.full((2, 2), np.nan)).shape == (8, 2, 2)


def test_nobody_attacks_nothing(rng):
    case = attack("views", 0.0, (0, 1), rng, people=500)
    assert all(len(tables) == 1 for tables in spanned(case, PAIRS).values())


def test_many_pairs_are_attacked_at_once_and_see_their_own_attack(rng):
    """Seven yes/no attributes have 21 pairs, with 20 attacks each."""
    case = attack("views", 0.01, (0, 1), rng, answers=(2,) * 7, people=5_000)
    pairs = list(combinations(range(7), 2))
    every = spanned(case, pairs)
    runs = len(every[0, 1]) - 1
    assert runs < 21 * 20 / 2
    honest = smooth(case.mechanism.moments(case.honest), 2)[0]
    noise = SLACK * case.among((0, 1)) * raw_table(case.mechanism, case.honest, (0, 1)).std_error
    LEDGER.add(1e-11)
    assert np.all(every[0, 1].min(axis=0) - noise <= honest[0, 1])
    assert np.all(honest[0, 1] <= every[0, 1].max(axis=0) + noise)


def test_too_many_tables_are_refused():
    groups_of({(i, j): np.zeros((2, 2)) for i in range(32) for j in range(i + 1, 32)})
    with pytest.raises(InvalidParameter, match=f"at most {MOST:,}"):
        groups_of({(0, 1): np.zeros((20, 20))})


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan")])
def test_wrong_shares_are_refused(share, rng):
    case = attack("views", 0.0, (0, 1), rng, people=500)
    raw = {(0, 1): np.full((2, 2), 0.25)}
    with pytest.raises(InvalidParameter, match="'crafted' parameter of smoothed tables"):
        list(smoothed_without(case.mechanism, case.seen, raw, share))


def test_progress_covers_every_group_of_tables(rng):
    case = attack("views", 0.01, (0, 1), rng, people=500)
    raw = {pair: raw_table(case.mechanism, case.seen, pair).probability for pair in PAIRS}
    seen: list[tuple[int, int]] = []
    said = smoothed_without(
        case.mechanism, case.seen, raw, 0.01, lambda done, total: seen.append((done, total))
    )
    assert len(list(said)) == 20 + 2 * 28
    assert seen == [(0, 3), (1, 3), (2, 3)]

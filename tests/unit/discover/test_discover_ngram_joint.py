"""Joint distributions on a growing set of cells against the solver on all of them at once."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.decode import fit_mixture
from deniable.discover.ngrams.joint import ENOUGH, Joint, Mask, fit_pairs
from deniable.discover.ngrams.marginals import Common, common_grams
from deniable.discover.ngrams.pairs import all_pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from material.ngrams import crowd, mechanism

ALL = np.ones((6, 5), dtype=np.bool_)


def likelihoods(rng: np.random.Generator, rows: int = 400) -> tuple[Floats, Floats]:
    """Return noisy log likelihoods of six and of five values that go together."""
    held = rng.integers(0, 5, size=rows)
    first, second = rng.normal(size=(rows, 6)), rng.normal(size=(rows, 5))
    first[np.arange(rows), held] += 1.5
    second[np.arange(rows), held] += 1.5
    return first, second


def log_likelihood(first: Floats, second: Floats, table: Floats) -> float:
    return float(np.log(np.einsum("ni,nj,ij->n", np.exp(first), np.exp(second), table)).sum())


def fitted(first: Floats, second: Floats, possible: Mask = ALL) -> Joint:
    """Fit log likelihoods with a row per report."""
    return fit_pairs(np.exp(first).T, np.exp(second).T, possible)


def test_all_cells_at_once_give_the_same(rng: np.random.Generator) -> None:
    for _ in range(5):
        first, second = likelihoods(rng)
        joint = fitted(first, second)
        product = np.exp(first)[:, :, None] * np.exp(second)[:, None, :]
        slow = fit_mixture(product.reshape(len(first), -1)).weights.reshape(6, 5)
        assert joint.table.sum() == pytest.approx(1)
        assert joint.gap <= ENOUGH
        difference = log_likelihood(first, second, slow) - log_likelihood(
            first, second, joint.table
        )
        assert -1e-6 <= difference <= joint.gap + 1e-6


def test_single_precision_is_as_near_to_all_cells_at_once(rng: np.random.Generator) -> None:
    first, second = likelihoods(rng, 20_000)
    single = [np.exp(part).T.astype(np.float32) for part in (first, second)]
    joint = fit_pairs(single[0], single[1], ALL)
    product = (np.exp(first)[:, :, None] * np.exp(second)[:, None, :]).reshape(len(first), -1)
    slow = fit_mixture(product).weights.reshape(6, 5)
    behind = log_likelihood(first, second, slow) - log_likelihood(first, second, joint.table)
    assert -0.01 <= behind <= joint.gap + 0.01
    assert joint.gap <= ENOUGH


def test_a_fit_that_is_stopped_early_still_says_how_good_it_is(rng: np.random.Generator) -> None:
    first, second = likelihoods(rng)
    product = (np.exp(first)[:, :, None] * np.exp(second)[:, None, :]).reshape(len(first), -1)
    early, late = fit_mixture(product, most=2), fit_mixture(product)
    assert (early.rounds, early.converged) == (2, False)
    behind = float(np.log(product @ late.weights).sum() - np.log(product @ early.weights).sum())
    assert 0 < behind <= early.gap


def test_many_reports_are_fitted_in_parts_first(rng: np.random.Generator) -> None:
    """The last fit is one of all reports, whatever the parts before it said."""
    first, second = likelihoods(rng, 40_000)
    first[::8] += 3.0 * np.arange(6)  # the part that is fitted first tells another story
    joint = fitted(first, second)
    product = np.exp(first)[:, :, None] * np.exp(second)[:, None, :]
    slow = fit_mixture(product.reshape(len(first), -1)).weights.reshape(6, 5)
    behind = log_likelihood(first, second, slow) - log_likelihood(first, second, joint.table)
    assert joint.gap <= ENOUGH
    assert -1e-6 <= behind <= joint.gap + 1e-6


def test_the_gap_is_one_of_all_reports(rng: np.random.Generator) -> None:
    first, second = likelihoods(rng, 5_000)
    joint = fitted(first, second)
    a, b = np.exp(first), np.exp(second)
    gains = np.einsum("ni,nj,n->ij", a, b, 1 / np.einsum("ni,nj,ij->n", a, b, joint.table)) / len(a)
    assert joint.gap == pytest.approx(len(a) * max(0.0, float(gains.max()) - 1), abs=1e-6)


def test_impossible_pairs_get_nothing(rng: np.random.Generator) -> None:
    first, second = likelihoods(rng)
    possible = ALL.copy()
    possible[0, 0] = possible[2, 3] = False
    table = fitted(first, second, possible).table
    assert table[0, 0] == table[2, 3] == 0
    assert table.sum() == pytest.approx(1)


def test_pairs_of_a_crowd() -> None:
    ngrams = mechanism()
    reports = crowd(ngrams)
    common = common_grams(ngrams, ngrams.accumulate(reports), "abehimrt")
    assert set(common[0].grams) >= {"ra", "he", "ba", "\0\0"}
    pairs = all_pairs(ngrams, reports, common)
    assert set(pairs.joint) == {(0, 1), (0, 2), (1, 2)}
    for (one, other), joint in pairs.joint.items():
        places = [common[one].grams.index("ra" if one == 0 else "bb"), -1]
        places[1] = common[other].grams.index("bb" if other == 1 else "it")
        assert joint.table[places[0], places[1]] == pytest.approx(0.4, abs=0.05)
        assert pairs.people[one, other] == pytest.approx(10_000, abs=500)


def test_every_pair_of_three_reported_places(rng: np.random.Generator) -> None:
    """Where people report three n-grams, each pair of places has the reports of both."""
    ngrams = mechanism(9.0, grams=3, n=1)
    reports = crowd(ngrams, 2_000)
    counts = ngrams.accumulate(reports)
    pairs = all_pairs(ngrams, reports, common_grams(ngrams, counts, "abehimrt"))
    chosen = ngrams.chosen[reports["places"]]
    for one, other in pairs.people:
        slow = sum({one, other} <= set(row) for row in chosen.tolist())
        assert pairs.people[one, other] == slow


def test_thresholds() -> None:
    ngrams = mechanism()
    reports = crowd(ngrams)
    pairs = all_pairs(ngrams, reports, common_grams(ngrams, ngrams.accumulate(reports), "abehimrt"))
    edges = [pairs.graph(times).edges for times in (0.0, 0.25, 1.0, 10.0, 1e5)]
    assert edges == sorted(edges, reverse=True)
    assert edges[-1] == 0
    with pytest.raises(InvalidParameter, match="threshold"):
        pairs.graph(float("nan"))
    with pytest.raises(InvalidParameter, match="threshold"):
        pairs.graph(-1.0)


def test_a_place_without_common_n_grams_leaves_no_edges_at_all() -> None:
    ngrams = mechanism()
    reports = crowd(ngrams, 3_000)
    common = common_grams(ngrams, ngrams.accumulate(reports), "abehimrt")
    common[1] = Common((), (), common[1].n, common[1].error)
    pairs = all_pairs(ngrams, reports, common)
    assert pairs.joint == {}
    assert len(pairs.people) == len(pairs.errors) == 3
    assert pairs.graph().edges == 0
    assert pairs.graph().joined[0, 1].shape == (len(common[0].grams), 0)

"""Cohorts drawn as a whole against the shipped O-RR; least squares with and without a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.mechanisms import ORR
from deniable.mechanisms.base import Floats
from deniable.testing.statistics import accept, homogeneity, mean, reject
from deniable_papers.kbr16 import cohorts as kbr16_cohorts
from deniable_papers.kbr16.cohorts import (
    Cohorts,
    hashed,
    linear,
    linear_count,
    orappor_shares,
    orr_shares,
    permuted,
)
from deniable_papers.kbr16.decoders import krr_counts
from deniable_papers.kbr16.grid_search import (
    Choice,
    Setting,
    by_closed_form,
    everything,
    near_the_best,
    orr_variance,
)
from deniable_papers.kbr16.least_squares import (
    against,
    largest_eigenvalue,
    normal,
    on_simplex,
    solved,
)
from deniable_papers.kbr16.shapes import geometric


def matrix(cohorts: Cohorts) -> Floats:
    """H, cell by cell."""
    found = np.zeros((cohorts.count * cohorts.size + 1, cohorts.answers))
    for s, places in enumerate(cohorts.cells):
        found[places, s] = 1.0
    return found[:-1]


@pytest.fixture(params=["hashed", "permuted", "bloom"])
def cohorts(request: pytest.FixtureRequest) -> Cohorts:
    rng = np.random.default_rng(7)
    if request.param == "permuted":
        return permuted(12, 20, 4, rng)
    return hashed(12, 20, 4, rng, hashes=3 if request.param == "bloom" else 1)


def test_products_are_those_of_the_matrix(cohorts: Cohorts) -> None:
    h, rng = matrix(cohorts), np.random.default_rng(8)
    f, y = rng.random(12), rng.random((20, 4))
    assert against(cohorts, y) == pytest.approx(h.T @ y.ravel())
    assert normal(cohorts, f) == pytest.approx(h.T @ (h @ f))


def test_least_squares_is_numpys(cohorts: Cohorts) -> None:
    y = np.random.default_rng(9).random((20, 4))
    expected = np.linalg.lstsq(matrix(cohorts), y.ravel(), rcond=None)[0]
    assert solved(cohorts, against(cohorts, y)) == pytest.approx(expected, abs=1e-5)


def test_dependent_columns_get_the_smallest_solution() -> None:
    cohorts = hashed(12, 2, 3, np.random.default_rng(10))
    y = np.random.default_rng(9).random((2, 3))
    expected = np.linalg.lstsq(matrix(cohorts), y.ravel(), rcond=None)[0]
    assert solved(cohorts, against(cohorts, y)) == pytest.approx(expected, abs=1e-5)


def test_nothing_on_the_simplex_fits_better(cohorts: Cohorts) -> None:
    h, rng = matrix(cohorts), np.random.default_rng(11)
    y = h @ geometric(12) + rng.normal(0, 0.1, h.shape[0])
    wanted = against(cohorts, y)
    found = on_simplex(cohorts, wanted, np.full(12, 1 / 12), largest_eigenvalue(cohorts))
    assert found.sum() == pytest.approx(1)
    assert np.all(found >= 0)
    # At the minimum no answer has a smaller slope than the ones that are used.
    slope = normal(cohorts, found) - wanted
    used = slope[found > 1e-6]
    assert np.ptp(used) < 1e-2
    assert slope.min() >= used.min() - 1e-2


def test_the_eigenvalue_is_large_enough(cohorts: Cohorts) -> None:
    h = matrix(cohorts)
    centre = np.eye(12) - 1 / 12
    true = np.linalg.eigvalsh(centre @ h.T @ h @ centre)[-1]
    assert true <= largest_eigenvalue(cohorts) <= 1.4 * true


def test_permutations_fill_the_cells_evenly() -> None:
    filled = np.bincount(permuted(12, 5, 4, np.random.default_rng(1)).cells.ravel())
    assert filled.tolist() == [3] * 20


@pytest.mark.parametrize(("answers", "size", "count"), [(16, 2, 15), (20, 3, 13), (7, 7, 1)])
def test_in_linear_cohorts_all_pairs_meet_equally_often(
    answers: int, size: int, count: int
) -> None:
    cohorts = linear(answers, size, np.random.default_rng(6))
    assert (cohorts.count, linear_count(answers, size)) == (count, count)
    product = matrix(cohorts).T @ matrix(cohorts)
    assert set(np.diag(product)) == {count}
    met = (count - 1) // size  # (k^(t-1) - 1) / (k - 1) of (k^t - 1) / (k - 1)
    assert set(product[~np.eye(answers, dtype=bool)]) == {met}
    if answers == size ** round(np.log(answers) / np.log(size)):  # permutations of all points
        assert set(np.bincount(cohorts.cells.ravel())) == {answers // size}


def test_a_cell_that_two_hash_functions_share_counts_once() -> None:
    found = hashed(50, 3, 2, np.random.default_rng(2), hashes=4)
    for row in found.cells.reshape(50, 3, 4).reshape(150, 4):
        inside = row[row < 6]
        assert len(set(inside)) == len(inside) >= 1


@pytest.mark.parametrize("crowded", [0, 10**9])
def test_people_are_placed_where_their_answers_are(
    crowded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kbr16_cohorts, "_CROWDED", crowded)
    rng = np.random.default_rng(3)
    cohorts, totals = hashed(6, 4, 3, rng), np.array([100, 0, 50, 25, 0, 7])
    held, people = cohorts.held(totals, rng)
    assert held.sum() == people.sum() == 182
    assert held.sum(axis=1).tolist() == people.tolist()
    empty = np.setdiff1d(np.arange(12), cohorts.cells[totals > 0])
    assert not held.ravel()[empty].any()


def test_counts_are_those_of_the_shipped_mechanism() -> None:
    rng, mechanism = np.random.default_rng(4), ORR(6, epsilon=1.0, symbols=3, cohorts=4)
    totals = np.array([60_000, 30_000, 10_000, 5_000, 3_000, 2_000])
    values = np.repeat(np.arange(6), totals)
    real = mechanism.accumulate(mechanism.simulate(values, rng)).table
    codes = np.array([mechanism._row(cohort, None) for cohort in range(4)], dtype=np.int32)
    cohorts = Cohorts((codes + 3 * np.arange(4, dtype=np.int32)[:, None]).T.copy(), 4, 3)
    drawn = krr_counts(cohorts.held(totals, rng)[0], 1.0, rng)
    accept(homogeneity(real.ravel(), drawn.ravel()), alpha=1e-9)
    other = krr_counts(cohorts.held(totals, rng)[0], 1.3, rng)
    reject(homogeneity(real.ravel(), other.ravel()), alpha=1e-9, miss=1e-9)


@pytest.mark.parametrize("mechanism", ["orr", "orappor"])
def test_shares_are_unbiased(mechanism: str) -> None:
    rng = np.random.default_rng(5)
    cohorts = permuted(6, 4, 3, rng)
    totals = np.array([600, 300, 100, 50, 30, 20])
    expected = (matrix(cohorts) @ (totals / totals.sum()))[0]
    found = []
    for _ in range(4_000):
        held, people = cohorts.held(totals, rng)
        if mechanism == "orr":
            found.append(orr_shares(held, 1.0, rng)[0, 0])
        else:
            found.append(orappor_shares(held, people, 1.0, rng)[0, 0])
    error = np.std(found) / np.sqrt(len(found))
    accept(mean(float(np.mean(found)), float(expected), float(error)), alpha=1e-9)
    reject(mean(float(np.mean(found)), expected + 20 * error, float(error)), alpha=1e-9, miss=1e-12)


def test_the_grid_has_the_small_k_and_the_many_cohorts() -> None:
    setting = Setting(256, 1_000_000, closed=False)
    assert Choice(3, 8192) in everything(setting, "orr")
    assert Choice(3, 8192) in near_the_best(setting, "orr", 0.5)
    assert {one.hashes for one in everything(setting, "orappor")} == {1, 2, 4, 8, 16}
    closed = Setting(256, 1_000_000, closed=True)
    assert all(one.size <= 256 for one in everything(closed, "orappor"))


def test_closed_forms_choose_krr_at_large_epsilon_and_many_cohorts_at_small() -> None:
    setting = Setting(256, 1_000_000, closed=True)
    assert by_closed_form(setting, "orr", 6.0) == Choice(256, 1)
    assert by_closed_form(setting, "orr", 0.5).size in (3, 4)
    # k-RR: (E + k - 2) / (E - 1)^2 at E = e.
    assert orr_variance(setting, Choice(256, 1), 1.0) == pytest.approx(86.95, abs=0.01)


def test_linear_cohorts_are_chosen_for_many_known_answers() -> None:
    closed, strings = (Setting(4_096, 10**8, closed) for closed in (True, False))
    assert by_closed_form(closed, "orr", 0.5) == Choice(3, 3_280, linear=True)
    chosen = by_closed_form(strings, "orr", 0.5)
    assert not chosen.linear
    assert chosen.count <= 8_192


def test_a_small_crowd_has_few_cohorts() -> None:
    assert Setting(256, 1_000, closed=False).most_cohorts == 10
    assert all(one.count <= 10 for one in everything(Setting(256, 1_000, False), "orr"))

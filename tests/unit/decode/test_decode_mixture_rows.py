from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.mixture import fit_mixture, fit_rows, sampling
from deniable.decode.mixture.em import run_em, run_squarem
from deniable.decode.mixture.rows import Product, Table
from deniable.errors import InvalidParameter


def cells(factors: list[np.ndarray]) -> np.ndarray:
    """The slow twin: the whole matrix of rows x cells."""
    whole = factors[0]
    for factor in factors[1:]:
        whole = np.einsum("ia,ib->iab", whole, factor).reshape(len(whole), -1)
    return whole


@pytest.mark.parametrize("sizes", [(4,), (2, 5), (5, 2), (1, 3), (4, 6), (2, 3, 4), (4, 4, 2, 2)])
def test_products_agree_with_the_whole_matrix(sizes, rng):
    factors = [rng.random((700, size)) + 0.01 for size in sizes]
    weights = rng.integers(1, 9, 700).astype(float)
    product = Product.of(factors, weights)
    table = Table.of(cells([factor / factor.max(axis=1)[:, None] for factor in factors]), weights)
    scale = cells([f / f.max(axis=1)[:, None] for f in factors]).max(axis=1)
    x, r = rng.dirichlet(np.ones(product.cells)), rng.random(700)
    assert product.cells == table.cells
    assert product.n == table.n == weights.sum()
    assert np.allclose(product.mixed(x), table.mixed(x) * scale)
    assert np.allclose(product.pulled(r), table.pulled(r * scale))
    assert np.allclose(product.curvature(r), table.curvature(r * scale**2))


@pytest.mark.parametrize("sizes", [(3, 2), (4, 5)])
def test_a_part_of_the_rows_stands_for_all_of_them(sizes, rng):
    factors = tuple(np.ascontiguousarray(rng.random((40_000, size)).T) for size in sizes)
    product = Product(factors, np.broadcast_to(np.float64(1 / 40_000), 40_000), 40_000.0)
    whole, part = (product.curvature(product.shares, every) for every in (1, 2))
    assert np.allclose(part, whole, rtol=0.05)
    assert not np.array_equal(part, whole)


def test_only_rows_of_one_observation_each_are_sampled():
    even = np.broadcast_to(np.float64(1e-7), 10_000_000)
    factors = (np.ones((40, 10_000_000), dtype=bool), np.ones((2, 1)))
    assert sampling(Product(factors, even, 1e7)) > 1
    assert sampling(Product(factors, np.full(10, 0.1), 10.0)) == 1


@pytest.mark.parametrize("sizes", [(3, 3), (2, 2, 3)])
def test_three_solvers_find_one_maximum(sizes, rng):
    truth = rng.dirichlet(np.ones(int(np.prod(sizes)))).reshape(sizes)
    codes = np.unravel_index(rng.choice(truth.size, 3_000, p=truth.ravel()), sizes)
    factors = []
    for code, size in zip(codes, sizes, strict=True):
        shown = np.where(rng.random(3_000) < 0.6, code, rng.integers(0, size, 3_000))
        factors.append(0.4 / size + 0.6 * (shown[:, None] == np.arange(size)))
    rows = Product.of(factors)
    best = fit_rows(rows)
    assert best.converged
    assert best.gap < 1e-6 * rows.n

    def log_likelihood(x: np.ndarray) -> float:
        return float(rows.n * (rows.shares @ np.log(rows.mixed(x))))

    for run in (run_em, run_squarem):
        found = run(rows, gap=1e-3)
        assert found.converged
        assert log_likelihood(best.weights) - log_likelihood(found.weights) <= 1e-3
        assert log_likelihood(found.weights) - log_likelihood(best.weights) <= best.gap + 1e-8
        assert np.abs(found.weights - best.weights).max() < 0.01
    assert np.allclose(best.weights, fit_mixture(cells(factors)).weights, atol=1e-6)
    assert run_squarem(rows, gap=1e-3).rounds < run_em(rows, gap=1e-3).rounds


def test_a_start_at_the_maximum_is_recognised(rng):
    rows = Product.of([rng.random((200, 2)), rng.random((200, 3))])
    best = fit_rows(rows)
    again = fit_rows(rows, start=best.weights)
    assert again.rounds <= 2
    assert np.allclose(again.weights, best.weights, atol=1e-8)


def test_solvers_that_run_out_of_rounds_say_so(rng):
    rows = Product.of([rng.random((500, 3)), rng.random((500, 3))])
    assert not run_squarem(rows, gap=1e-9, rounds=3).converged
    assert run_squarem(rows, gap=1e-9, rounds=3).gap > 1e-9


def test_factors_of_different_people_are_refused(rng):
    with pytest.raises(InvalidParameter, match="Got 3, 4 rows"):
        Product.of([rng.random((3, 2)), rng.random((4, 2))])

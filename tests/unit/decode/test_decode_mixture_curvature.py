from __future__ import annotations

import numpy as np
import pytest

from deniable.decode import mixture
from deniable.decode.mixture import fit_rows, sampling
from deniable.decode.mixture.curvature import Curvature, corrected
from deniable.decode.mixture.rows import Product


def people(rng: np.random.Generator, rows: int) -> Product:
    """Reports of two fields of 4 and 5 answers that go together."""
    truth = rng.dirichlet(np.ones(20)).reshape(4, 5)
    codes = np.unravel_index(rng.choice(20, rows, p=truth.ravel()), (4, 5))
    factors = []
    for code, size in zip(codes, (4, 5), strict=True):
        shown = np.where(rng.random(rows) < 0.6, code, rng.integers(0, size, rows))
        # A number per report, so that no two are alike, as those of Bloom filters are not.
        heard = 0.3 + 0.2 * rng.random(rows)
        factors.append(heard / size + 0.6 * (shown == np.arange(size)[:, None]))
    return Product(tuple(factors), np.broadcast_to(np.float64(1 / rows), rows), float(rows))


def test_a_corrected_curvature_is_that_of_the_step_and_stays_one_of_a_convex_function(rng):
    root = rng.normal(size=(6, 6))
    hessian, step = root @ root.T + np.eye(6), rng.normal(size=6)
    change = (hessian + 0.5 * np.diag(rng.random(6))) @ step
    found = corrected(hessian, step, change)
    assert found @ step == pytest.approx(change)
    assert np.allclose(found, found.T)
    assert np.linalg.eigvalsh(found).min() > 0


def test_a_step_that_shows_no_positive_curvature_corrects_nothing(rng):
    hessian, step = np.eye(4), rng.normal(size=4)
    assert np.array_equal(corrected(hessian, step, -step), hessian)
    assert np.array_equal(corrected(hessian, 0 * step, 0 * step), hessian)


def test_steps_correct_a_sampled_curvature_and_not_an_exact_one(rng):
    rows = people(rng, 8_000)
    x, y = np.full(20, 0.05), rng.dirichlet(np.full(20, 50.0))
    slopes = [1 - rows.pulled(rows.shares / rows.mixed(each)) for each in (x, y)]
    for every in (1, 4):
        model = Curvature(rows, every)
        model.learn(x, slopes[0])
        before = model.at(rows.mixed(x))
        model.learn(y, slopes[1])
        after = model.at(rows.mixed(y))
        assert (after is before) == (every == 1)
        if every > 1:
            assert after @ (y - x) == pytest.approx(slopes[1] - slopes[0])


def test_a_fit_by_a_sampled_curvature_is_that_of_all_rows(rng, monkeypatch):
    rows = people(rng, 60_000)
    assert sampling(rows) == 1
    exact = fit_rows(rows)
    monkeypatch.setattr(mixture, "_SAMPLED", 2**20)
    monkeypatch.setattr(mixture, "_PER_CELL", 25)
    assert sampling(rows) > 20
    rough = fit_rows(rows)
    # Rounding may end it a little above the tolerance of 1e-9 per row.
    assert rough.gap < 1e-8 * rows.n
    assert np.allclose(rough.weights, exact.weights, rtol=0, atol=1e-8)


def few_that_tell(rng: np.random.Generator, rows: int) -> Product:
    """Of every 60 reports of two fields of 12 answers one says which it is, for certain."""
    truth = rng.dirichlet(np.full(144, 0.3)).reshape(12, 12)
    codes = np.unravel_index(rng.choice(144, rows, p=truth.ravel()), (12, 12))
    factors = []
    for code in codes:
        told = rng.random(rows) < 1 / 60
        clear = code == np.arange(12)[:, None]
        heard = 0.3 + 0.2 * rng.random((12, rows))
        factors.append(np.where(told, 1e-4 + clear, heard))
    return Product(tuple(factors), np.broadcast_to(np.float64(1 / rows), rows), float(rows))


def test_a_part_of_the_rows_that_does_not_show_the_way_becomes_larger(rng, monkeypatch):
    rows = few_that_tell(rng, 40_000)
    monkeypatch.setattr(mixture, "_SAMPLED", 2**20)
    monkeypatch.setattr(mixture, "_PER_CELL", 2)
    monkeypatch.setattr(mixture, "_BLOCK", 2**10)
    assert sampling(rows) > 40
    found = fit_rows(rows)
    assert found.gap < 1e-8 * rows.n
    with monkeypatch.context() as before:
        before.setattr("deniable.decode.mixture.curvature._FINER", 1)
        before.setattr("deniable.decode.mixture.curvature._TRIED", 1)
        old = fit_rows(rows)
    assert found.rounds < old.rounds / 1.5

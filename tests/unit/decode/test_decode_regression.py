from __future__ import annotations

import numpy as np
import pytest

from deniable.decode.design import Design, Shape
from deniable.decode.regression import Evidence, Regression

SHAPE = Shape(cohorts=6, bits=16, hashes=2)


def columns(design: Design) -> np.ndarray:
    return np.hstack([np.ones((design.rows, 1)), design.matrix().toarray().T])


def by_hand(y: np.ndarray, weights: np.ndarray, design: Design) -> tuple[np.ndarray, np.ndarray]:
    x = columns(design)
    inverse = np.linalg.inv(x.T @ (weights[:, None] * x))
    return inverse @ x.T @ (weights * y), inverse


def noisy(design: Design, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    weights = rng.uniform(1, 3, design.rows)
    return rng.normal(size=design.rows), weights


def test_the_fit_is_weighted_least_squares_with_an_intercept(rng):
    design = SHAPE.random(10, rng)
    y, weights = noisy(design, rng)
    fit = Regression.of(y, weights, design)
    solution, inverse = by_hand(y, weights, design)
    assert np.allclose(fit.solved.solution, solution)
    residual = y - columns(design) @ solution
    dispersion = max(1.0, float(weights @ residual**2) / (design.rows - 11))
    assert fit.dispersion == pytest.approx(dispersion)
    assert np.allclose(fit.fitted_evidence.estimate, solution[1:])
    assert np.allclose(fit.fitted_evidence.std_error**2, dispersion * inverse.diagonal()[1:])


def test_one_more_column_gets_what_the_larger_fit_would_give(rng):
    design, more = SHAPE.random(10, rng), SHAPE.random(7, rng)
    y, weights = noisy(design, rng)
    fit = Regression.of(y, weights, design)
    evidence = fit.evidence(more)
    for place in range(len(more)):
        larger = Design(np.vstack([design.cells, more.cells[place : place + 1]]), design.rows)
        solution, inverse = by_hand(y, weights, larger)
        assert evidence.estimate[place] == pytest.approx(solution[-1])
        assert evidence.std_error[place] ** 2 == pytest.approx(fit.dispersion * inverse[-1, -1])


def test_columns_that_are_in_the_model_already_have_no_information(rng):
    design = SHAPE.random(5, rng)
    y, weights = noisy(design, rng)
    evidence = Regression.of(y, weights, design).evidence(design)
    assert np.array_equal(evidence.information, np.zeros(5))
    assert np.isnan(evidence.estimate).all()
    assert np.isnan(evidence.std_error).all()
    assert np.isnan(evidence.z).all()


def test_cells_without_weight_change_nothing(rng):
    design = SHAPE.random(8, rng)
    y, weights = noisy(design, rng)
    weights[: 2 * SHAPE.bits] = 0
    other = y.copy()
    other[: 2 * SHAPE.bits] = 1e6
    first, second = (Regression.of(values, weights, design) for values in (y, other))
    assert np.allclose(first.fitted_evidence.estimate, second.fitted_evidence.estimate)
    assert first.solved.degrees == 4 * SHAPE.bits - 9


def test_a_model_without_columns_is_the_weighted_mean(rng):
    design = SHAPE.random(0, rng)
    y, weights = noisy(design, rng)
    fit = Regression.of(y, weights, design)
    assert fit.solved.solution == pytest.approx([np.average(y, weights=weights)])


def test_errors_are_never_narrower_than_the_noise(rng):
    design = SHAPE.random(3, rng)
    y = np.zeros(design.rows)
    fit = Regression.of(y, np.ones(design.rows), design)
    assert fit.dispersion == 1.0


def test_evidence_of_independent_data_adds_up_by_inverse_variance():
    first = Evidence(np.array([4.0 * 2, 0]), np.array([4.0, 0]))
    second = Evidence(np.array([1.0 * 7, 3.0]), np.array([1.0, 1.0]))
    both = first + second
    assert np.allclose(both.estimate, [(4 * 2 + 7) / 5, 3])
    assert np.allclose(both.std_error, [1 / np.sqrt(5), 1])
    assert np.allclose(both.z, [15 / np.sqrt(5), 3])

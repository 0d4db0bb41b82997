"""The noise-aware test of independence: level, power, slow twins, and what cannot be tested."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from deniable.errors import InvalidParameter
from deniable.marginals.correlation import correlation
from deniable.marginals.independence import (
    Wald,
    corrected,
    interaction,
    plain_chi_square,
    wald,
)
from deniable.testing.statistics import accept, proportion, reject

SHARES = {
    "2x2": (np.array([0.3, 0.7]), np.array([0.55, 0.45])),
    "3x4": (np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.2, 0.3, 0.4])),
}


def noisy(table: np.ndarray, people: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return the shares of people drawn from a table, with normal noise on every cell."""
    drawn = rng.multinomial(people, table.ravel()) / people
    return drawn.reshape(table.shape) + noise * rng.standard_normal(table.shape)


def covariance_of(table: np.ndarray, people: int, noise: float) -> np.ndarray:
    f = table.ravel()
    return (np.diag(f) - np.outer(f, f)) / people + noise**2 * np.eye(f.size)


def rejected(table: np.ndarray, rng: np.random.Generator, runs: int = 2_000) -> tuple[int, int]:
    """Return how often the two tests reject at 5%: the noise-aware one and the plain one."""
    people, noise = 50_000, 0.01
    covariance = covariance_of(table, people, noise)
    aware = plain = 0
    for _ in range(runs):
        cells = noisy(table, people, noise, rng)
        aware += wald(cells, covariance).p_value < 0.05
        plain += plain_chi_square(cells, people).p_value < 0.05
    return aware, plain


@pytest.mark.parametrize("name", SHARES)
def test_independent_attributes_are_rejected_as_often_as_the_level_says(name: str) -> None:
    table = np.outer(*SHARES[name])
    aware, plain = rejected(table, np.random.default_rng(5))
    # A chi-square limit is not exact at finite noise: 1.5 points are allowed around 5%.
    accept(proportion(aware, 2_000, 0.05, tolerance=0.015))
    # Taking the cells for counts of people rejects most independent pairs.
    reject(proportion(plain, 2_000, 0.05, tolerance=0.015), miss=1e-12)


def test_dependent_attributes_are_found() -> None:
    table = np.outer(*SHARES["2x2"]) + 0.04 * np.array([[1, -1], [-1, 1]])
    aware, _ = rejected(table, np.random.default_rng(6), 300)
    assert aware > 290


def test_yes_no_attributes_have_the_closed_form_of_the_coefficients() -> None:
    # theta_ij - theta_i theta_j over its variance, with independent coefficients.
    theta = np.array([1.0, 0.2, -0.4, 0.05])  # of {}, {i}, {j}, {ij}
    variance = np.array([0.0, 0.011, 0.007, 0.013])
    basis = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]]) / 4
    signs = basis.T
    cells = (signs @ theta).reshape(2, 2)
    covariance = signs @ np.diag(variance) @ signs.T
    first, second = theta[1], theta[2]
    c = theta[3] - first * second
    expected = c**2 / (variance[3] + second**2 * variance[1] + first**2 * variance[2])
    found = wald(cells, covariance)
    assert found.statistic == pytest.approx(expected)
    assert found.degrees == 1
    assert found.p_value == pytest.approx(stats.chi2.sf(expected, 1))


def test_the_slope_is_the_derivative() -> None:
    rng = np.random.default_rng(1)
    cells = rng.dirichlet(np.ones(6)).reshape(2, 3) * 1.1
    zero = np.zeros((6, 6))
    columns = []
    for k in range(6):
        step = np.zeros(6)
        step[k] = 1e-6
        up, _ = interaction(cells + step.reshape(2, 3), zero)
        down, _ = interaction(cells - step.reshape(2, 3), zero)
        columns.append(((up - down) / 2e-6).ravel())
    slope = np.array(columns).T
    spread = np.diag(rng.random(6))
    _, found = interaction(cells, spread)
    np.testing.assert_allclose(found, slope @ spread @ slope.T, atol=1e-7)


def test_a_scaled_product_is_independent() -> None:
    c, _ = interaction(0.9 * np.outer(*SHARES["3x4"]), np.eye(12))
    np.testing.assert_allclose(c, 0, atol=1e-15)


def test_without_an_error_statement_nothing_is_tested() -> None:
    cells = np.outer(*SHARES["2x2"])
    found = wald(cells, np.full((4, 4), np.nan))
    assert np.isnan(found.statistic)
    assert np.isnan(found.p_value)
    assert wald(cells, np.zeros((4, 4))).degrees == 0
    assert np.isnan(wald(cells, np.zeros((4, 4))).p_value)


def test_many_pairs_are_corrected() -> None:
    tests = [Wald(9.0, 1, p) for p in (0.001, 0.03, 0.02, 0.8, float("nan"))]
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    found = corrected(pairs, tests)
    assert [one.holm for one in found] == [True, False, False, False, False]
    assert [one.bh for one in found] == [True, True, True, False, False]
    assert [(one.first, one.second) for one in found] == pairs


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="a table of two attributes"):
        wald(np.ones((2, 2, 2)) / 8, np.eye(8))
    with pytest.raises(InvalidParameter, match="covariance of 4 cells must be 4 x 4"):
        wald(np.ones((2, 2)) / 4, np.eye(3))
    with pytest.raises(InvalidParameter, match="A correlation is of two attributes"):
        correlation(np.ones(4) / 4)


def test_plain_chi_square_is_pearsons_on_counts() -> None:
    counts = np.array([[30, 20], [10, 40]])
    expected = stats.chi2_contingency(counts, correction=False)
    found = plain_chi_square(counts / 100, 100)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)


def test_correlation_is_pearsons_with_its_error() -> None:
    rng = np.random.default_rng(2)
    table = np.array([[0.5, 0.1], [0.15, 0.25]])
    people = rng.multinomial(20_000, table.ravel()).reshape(2, 2)
    rows = np.repeat([(0, 0), (0, 1), (1, 0), (1, 1)], people.ravel(), axis=0)
    assert correlation(people / 20_000).value == pytest.approx(np.corrcoef(rows.T)[0, 1])
    covariance = covariance_of(table, 5_000, 0.003)
    drawn = [correlation(noisy(table, 5_000, 0.003, rng)).value for _ in range(2_000)]
    # 2,000 values: a standard error of 1.6%; noisy cells do not sum to 1 exactly.
    assert correlation(table, covariance).std_error == pytest.approx(np.std(drawn), rel=0.15)


def test_correlation_of_more_levels_is_cramers() -> None:
    exact = np.diag([0.2, 0.3, 0.5])
    assert correlation(exact).value == pytest.approx(1)
    assert not correlation(exact).signed
    assert correlation(np.outer(*SHARES["3x4"])).value == pytest.approx(0, abs=1e-7)


def test_a_constant_attribute_has_no_correlation() -> None:
    assert np.isnan(correlation(np.array([[0.4, 0.6], [0.0, 0.0]])).value)
    assert np.isnan(correlation(np.array([[0.2, 0.3, 0.5], [0.0, 0.0, 0.0]])).value)

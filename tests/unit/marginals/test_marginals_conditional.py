"""Conditional shares: against slow division, with errors by the delta method."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.marginals.conditional import TOO_RARE, conditional
from deniable.marginals.table import Table

NAMES = ("a", "b", "c")
LABELS = (("no", "yes"), ("x", "y", "z"), ("0", "1"))


def smoothed(cells: np.ndarray) -> Table:
    return Table.smoothed(NAMES, LABELS, cells, 100)


def raw(cells: np.ndarray, covariance: np.ndarray) -> Table:
    return Table.raw(NAMES, LABELS, cells, covariance, 100)


@pytest.fixture
def cells() -> np.ndarray:
    return np.random.default_rng(1).dirichlet(np.full(12, 4.0)).reshape(2, 3, 2)


def test_smoothed_shares_are_divided_by_their_condition(cells: np.ndarray) -> None:
    found = conditional(smoothed(cells), ["a"])
    assert found.attributes == ("b", "c", "a")
    assert found.labels == (LABELS[1], LABELS[2], LABELS[0])
    assert found.kind == "smoothed"
    for i in range(2):
        expected = cells[i] / cells[i].sum()
        np.testing.assert_allclose(found.probability[:, :, i], expected)


def test_two_conditions_in_the_order_given(cells: np.ndarray) -> None:
    found = conditional(smoothed(cells), ["c", "a"])
    assert found.attributes == ("b", "c", "a")
    for i in range(2):
        for j in range(2):
            expected = cells[i, :, j] / cells[i, :, j].sum()
            np.testing.assert_allclose(found.probability[:, j, i], expected)


def test_raw_shares_have_the_error_of_a_ratio(cells: np.ndarray) -> None:
    rng = np.random.default_rng(2)
    root = 0.002 * rng.standard_normal((12, 12))
    covariance = root @ root.T
    found = conditional(raw(cells, covariance), ["a"])
    drawn = cells.ravel() + rng.standard_normal((4_000, 12)) @ root.T
    tables = drawn.reshape(-1, 2, 3, 2).transpose(0, 2, 3, 1)
    ratios = tables / tables.sum(axis=(1, 2), keepdims=True)
    assert found.std_error is not None
    # 4,000 draws: a standard error of 1.1%; the delta method is exact to the first order only.
    np.testing.assert_allclose(found.std_error, ratios.std(axis=0), rtol=0.08)
    assert found.kind == "raw"
    assert found.covariance is not None
    np.testing.assert_allclose(found.covariance.sum(axis=0), 0, atol=1e-12)  # sums are fixed


def test_a_raw_condition_that_could_be_nothing_is_left_out(cells: np.ndarray) -> None:
    rare = cells.copy()
    rare[1] = 0.0001
    found = conditional(raw(rare, 1e-4 * np.eye(12)), ["a"])
    assert np.isnan(found.probability[:, :, 1]).all()
    assert np.isfinite(found.probability[:, :, 0]).all()
    assert found.std_error is not None
    assert np.isfinite(found.std_error[:, :, 0]).all()
    assert TOO_RARE in found.notes


def test_a_smoothed_condition_of_nobody_has_equal_shares(cells: np.ndarray) -> None:
    empty = cells.copy()
    empty[1] = 0
    found = conditional(smoothed(empty), ["a"])
    np.testing.assert_allclose(found.probability[:, :, 1], 1 / 6)


@pytest.mark.parametrize("given", [["d"], ["a", "a"], ["a", "b", "c"]])
def test_wrong_conditions_are_refused(cells: np.ndarray, given: list[str]) -> None:
    with pytest.raises(InvalidParameter, match="some, not all, of a, b, c"):
        conditional(smoothed(cells), given)

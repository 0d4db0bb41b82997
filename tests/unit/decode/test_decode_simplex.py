from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from deniable.decode.simplex import base_cut, normalise, project
from deniable.errors import InvalidParameter

VALUES = st.lists(st.floats(-2, 2), min_size=1, max_size=6).map(np.array)


def nearest_by_enumeration(values: np.ndarray) -> np.ndarray:
    """The obvious twin: the nearest point of every face of the simplex, and of these the best."""
    best, distance = values, np.inf
    for size in range(1, values.size + 1):
        for support in itertools.combinations(range(values.size), size):
            places = list(support)
            point = np.zeros(values.size)
            point[places] = values[places] - (values[places].sum() - 1) / size
            if point.min() >= -1e-12 and np.square(point - values).sum() < distance - 1e-12:
                best, distance = point, float(np.square(point - values).sum())
    return best


@given(VALUES)
def test_the_projection_is_the_nearest_distribution(values):
    assert np.allclose(project(values), nearest_by_enumeration(values), atol=1e-6)


@given(VALUES)
def test_projecting_twice_changes_nothing(values):
    once = project(values)
    assert once.sum() == pytest.approx(1)
    assert once.min() >= 0
    assert np.allclose(project(once), once)


def test_a_distribution_of_another_total():
    assert np.allclose(project(np.array([3.0, 1.0]), total=2.0), [2, 0])


def test_normalising_clips_and_divides():
    assert np.allclose(normalise(np.array([0.6, -0.2, 0.2])), [0.75, 0, 0.25])
    assert np.allclose(normalise(np.array([-0.1, -0.3])), [0.5, 0.5])


def test_base_cut_keeps_what_is_significant_as_it_is():
    cut = stats.norm.isf(0.05 / 4)
    values = np.array([0.3, cut * 0.1 + 1e-9, cut * 0.1 - 1e-9, -0.3])
    kept = base_cut(values, np.full(4, 0.1))
    assert np.array_equal(kept, [values[0], values[1], 0, 0])


@pytest.mark.parametrize("wrong", [np.array([]), np.array([np.nan, 1.0]), np.array([[1.0]])])
def test_what_cannot_be_a_distribution_is_refused(wrong):
    for way in (project, normalise, lambda values: base_cut(values, np.ones(2))):
        with pytest.raises(InvalidParameter, match="finite numbers"):
            way(wrong)


def test_wrong_totals_and_levels_are_refused():
    with pytest.raises(InvalidParameter, match="total"):
        project(np.ones(2), total=0.0)
    with pytest.raises(InvalidParameter, match="alpha"):
        base_cut(np.ones(2), np.ones(2), alpha=1.0)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deniable.decode.significance import (
    absent_share,
    benjamini_hochberg,
    bonferroni,
    half_width,
    holm,
    selected_level,
    storey,
)
from deniable.errors import InvalidParameter

P_VALUES = st.lists(
    st.one_of(
        st.sampled_from([0.0, 0.001, 0.0125, 0.05 / 3, 0.025, 0.05, 0.5, 1.0, float("nan")]),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=12,
)
ALPHAS = st.sampled_from([0.01, 0.05, 0.2])


def slow_holm(p: list[float], alpha: float) -> list[bool]:
    left = {i: x for i, x in enumerate(p) if not np.isnan(x)}
    found = [False] * len(p)
    while left:
        place = min(left, key=lambda i: left[i])
        if left[place] > alpha / len(left):
            break
        found[place] = True
        del left[place]
    return found


def slow_step_up(p: list[float], alpha: float) -> list[bool]:
    tested = [x for x in p if not np.isnan(x)]
    cut = -1.0
    for x in tested:
        rank = sum(other <= x for other in tested)
        if x <= alpha * rank / len(tested):
            cut = max(cut, x)
    return [bool(x <= cut) for x in p]


@settings(max_examples=200)
@given(P_VALUES, ALPHAS)
def test_holm_is_its_definition_step_by_step(p, alpha):
    assert holm(np.array(p), alpha).tolist() == slow_holm(p, alpha)


@settings(max_examples=200)
@given(P_VALUES, ALPHAS)
def test_benjamini_hochberg_is_its_definition(p, alpha):
    assert benjamini_hochberg(np.array(p), alpha).tolist() == slow_step_up(p, alpha)


@settings(max_examples=200)
@given(P_VALUES, ALPHAS)
def test_storey_is_benjamini_hochberg_at_a_level_raised_by_the_absent_share(p, alpha):
    found = storey(np.array(p), alpha)
    tested = [x for x in p if not np.isnan(x)]
    absent = min(1.0, (1 + sum(x > 0.5 for x in tested)) / (0.5 * len(tested))) if tested else 1.0
    slow = [x and y <= alpha for x, y in zip(slow_step_up(p, alpha / absent), p, strict=True)]
    assert found.decisions.tolist() == slow
    cut = max((x for x, y in zip(p, slow, strict=True) if y), default=0.0)
    assert found.expected_false == pytest.approx(absent * len(tested) * cut)
    assert found.absent == absent == absent_share(np.array(p))


@settings(max_examples=100)
@given(P_VALUES, ALPHAS)
def test_corrections_are_ordered_from_strict_to_lenient(p, alpha):
    values = np.array(p)
    assert (bonferroni(values, alpha) <= holm(values, alpha)).all()
    assert (holm(values, alpha) <= benjamini_hochberg(values, alpha)).all()


def test_bonferroni_divides_by_the_number_tested():
    p = np.array([0.0249, 0.026, np.nan])
    assert bonferroni(p, 0.05).tolist() == [True, False, False]


def test_what_was_not_tested_is_never_detected():
    p = np.full(3, np.nan)
    for decisions in (holm(p), bonferroni(p), benjamini_hochberg(p), storey(p).decisions):
        assert not decisions.any()
    assert storey(p).absent == 1.0


def test_the_level_after_selection():
    assert selected_level(47, 200) == pytest.approx(1 - 0.05 * 47 / 200)
    assert selected_level(0, 200) == pytest.approx(1 - 0.05 / 200)
    assert selected_level(200, 200) == pytest.approx(0.95)


def test_half_widths_are_students():
    assert half_width(0.95, np.inf) == pytest.approx(1.959964, abs=1e-6)
    assert half_width(0.95, 5) == pytest.approx(stats.t.ppf(0.975, 5))


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, float("nan"), "x"])
def test_levels_outside_0_to_1_are_refused(alpha):
    for procedure in (holm, bonferroni, benjamini_hochberg, storey):
        with pytest.raises(InvalidParameter, match="alpha"):
            procedure(np.array([0.5]), alpha)


def test_numbers_that_are_no_p_values_are_refused():
    for wrong in (np.array([1.5]), np.array([-0.1]), np.array([[0.5]])):
        with pytest.raises(InvalidParameter, match="from 0 to 1"):
            holm(wrong)
    with pytest.raises(InvalidParameter, match="discoveries"):
        selected_level(3, 2)

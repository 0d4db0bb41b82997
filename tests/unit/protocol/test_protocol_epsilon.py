"""Epsilon from exact ratios, rounded against us: proven with rational bounds."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.protocol.epsilon import (
    LARGEST,
    as_float,
    compose,
    epsilon_of,
    exp_micros,
    wanted,
    within,
)
from material.exact_exponential import exp_bounds

micros = st.integers(0, LARGEST * 10**6)
probabilities = st.integers(1, 2**64 - 1).map(lambda threshold: Fraction(threshold, 2**64))


def _ratio(a: Fraction, b: Fraction) -> Fraction:
    return max(a / b, (1 - b) / (1 - a), Fraction(1))


def test_the_bounds_of_this_test_are_bounds() -> None:
    low, high = exp_bounds(10**6)
    digits = "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759"
    below = Fraction(digits)  # e, cut after 80 digits
    assert low < below + Fraction(1, 10**80)
    assert high > below
    assert high - low < Fraction(1, 10**80)
    assert exp_bounds(0)[0] == 1


@given(probabilities, probabilities)
def test_the_ratio_is_covered_and_one_micro_less_would_not_cover_it(
    a: Fraction, b: Fraction
) -> None:
    ratio = min(_ratio(a, b), Fraction(10**13))
    shown = epsilon_of(ratio)
    assert ratio <= exp_bounds(shown)[0]
    if shown:
        assert ratio > exp_bounds(shown - 1)[1]


@given(st.integers(1, 32 * 10**6))
def test_a_ratio_just_around_an_epsilon_is_rounded_to_the_right_side(wanted_micros: int) -> None:
    low, high = exp_bounds(wanted_micros)
    hair = low / 10**50
    assert epsilon_of(low - hair) == wanted_micros
    assert epsilon_of(high + hair) == wanted_micros + 1
    assert within(low - hair, wanted_micros)
    assert not within(high + hair, wanted_micros)


@given(probabilities, probabilities, micros)
def test_within_says_yes_only_if_it_is_true(a: Fraction, b: Fraction, limit: int) -> None:
    ratio = min(_ratio(a, b), Fraction(10**13))
    assert within(ratio, limit) == (epsilon_of(ratio) <= limit)
    if within(ratio, limit):
        assert ratio <= exp_bounds(limit)[1]


@given(st.fractions(max_value=1))
def test_no_ratio_costs_less_than_nothing(ratio: Fraction) -> None:
    assert epsilon_of(ratio) == 0
    assert within(ratio, 0)


def test_the_smallest_ratio_above_one_costs_a_micro() -> None:
    assert epsilon_of(1 + Fraction(1, 2**64)) == 1
    assert not within(1 + Fraction(1, 2**64), 0)


def test_enormous_ratios_are_still_covered() -> None:
    ratio = Fraction(2**64 - 1) ** 64
    assert epsilon_of(ratio) == math.ceil(64 * 64 * math.log(2) * 10**6)


@given(micros)
def test_the_exponential_is_good_to_fifty_digits(value: int) -> None:
    low, high = exp_bounds(value)
    assert abs(exp_micros(value) / low - 1) < Fraction(1, 10**50)
    assert abs(exp_micros(value) / high - 1) < Fraction(1, 10**50)


@given(st.floats(1e-6, 32))
def test_what_a_person_wants_is_rounded_down(value: float) -> None:
    asked = wanted("epsilon", "krr", value)
    exact = Fraction(repr(value)) * 10**6
    assert asked <= exact < asked + 1


@pytest.mark.parametrize("value", [math.nan, math.inf, 0, -1, 9e-7, 32.1, "1", None, True])
def test_what_cannot_be_wanted(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"'epsilon' parameter of krr .* 0\.000001 to 32"):
        wanted("epsilon", "krr", value)


def test_the_decimal_settings_of_the_app_do_not_matter() -> None:
    with decimal.localcontext() as context:
        context.prec = 2
        context.traps[decimal.Inexact] = True
        assert epsilon_of(Fraction(3)) == 1_098_613
        assert wanted("epsilon", "krr", 1.0743) == 1_074_300
        assert within(Fraction(3), 1_098_613)
        assert not within(Fraction(3), 1_098_612)
        assert exp_micros(0) == 1


def test_composition_adds_and_unbounded_stays_unbounded() -> None:
    assert compose([]) == 0
    assert compose([1, 2, 3]) == 6
    assert compose([1, None, 3]) is None
    assert as_float(1_074_286) == 1.074286

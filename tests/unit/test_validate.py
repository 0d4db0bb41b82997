"""One message form, and NaN is refused everywhere."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import _validate
from deniable.errors import InvalidParameter

WRONG = [math.nan, math.inf, -math.inf, None, "1", True, False, [1], {}, 1j, Decimal(1), b"1"]


def test_the_message_names_parameter_owner_rule_and_finding() -> None:
    with pytest.raises(InvalidParameter) as caught:
        _validate.positive("epsilon", "KRR", math.nan)
    message = "The 'epsilon' parameter of KRR must be a number greater than 0. Got nan."
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [*WRONG, -1, 11, 1.0, Fraction(1)], ids=repr)
def test_integers_refuse(value: object) -> None:
    with pytest.raises(InvalidParameter, match=r"an integer from 0 to 10\. Got"):
        _validate.integer("k", "krr", value, 0, 10)


@given(st.integers(), st.integers(), st.integers())
def test_integers_accept_exactly_their_range(value: int, low: int, high: int) -> None:
    if low <= value <= high:
        assert _validate.integer("k", "krr", value, low, high) == value
    else:
        with pytest.raises(InvalidParameter):
            _validate.integer("k", "krr", value, low, high)


@pytest.mark.parametrize("value", [*WRONG, 0, -0.0, -1, 10**400], ids=lambda v: repr(v)[:20])
def test_positive_refuses(value: object) -> None:
    with pytest.raises(InvalidParameter, match="a number greater than 0"):
        _validate.positive("epsilon", "krr", value)


@pytest.mark.parametrize("value", [5e-324, 1, 1.5, Fraction(1, 3), 1e308])
def test_positive_accepts(value: float) -> None:
    assert _validate.positive("epsilon", "krr", value) == float(value)


@pytest.mark.parametrize("value", [*WRONG, -5e-324, 1.0000000000000002, 2, 10**400])
def test_probability_refuses(value: object) -> None:
    with pytest.raises(InvalidParameter, match="a number from 0 to 1"):
        _validate.probability("p", "rappor", value)


@pytest.mark.parametrize("value", [0, 1, 0.5, -0.0, Fraction(1, 3)])
def test_probability_accepts(value: float) -> None:
    assert _validate.probability("p", "rappor", value) == float(value)


def test_between_shows_its_bounds_as_they_were_written() -> None:
    assert _validate.between("epsilon", "krr", 1e-6, "0.000001", "32") == 1e-6
    for value in (9.99e-7, 32.00001, math.nan):
        with pytest.raises(InvalidParameter, match=r"a number from 0\.000001 to 32\. Got"):
            _validate.between("epsilon", "krr", value, "0.000001", "32")


def test_what_is_shown_is_short_and_never_fails() -> None:
    assert _validate.shown("x") == "'x'"
    assert len(_validate.shown("x" * 10**6)) == 80
    assert len(_validate.shown(list(range(1000)), 40)) == 40
    assert _validate.shown(16**5000) == "a very large int"
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert _validate.shown(nested) == "a very large list"

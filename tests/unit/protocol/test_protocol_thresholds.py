"""Probabilities as 64-bit integers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.protocol.thresholds import (
    ONE,
    as_fraction,
    ceil_threshold,
    floor_threshold,
    from_text,
    to_text,
)


@given(st.fractions(0, 1) | st.floats(0, 1))
def test_rounding_has_the_direction_in_its_name(probability: Fraction | float) -> None:
    below, above = floor_threshold(probability), ceil_threshold(probability)
    assert as_fraction(below) <= Fraction(probability) <= as_fraction(above)
    assert 0 <= above - below <= 1
    assert (above == below) == ((Fraction(probability) * ONE).denominator == 1)


@given(st.integers(0, ONE))
def test_texts_are_exact(threshold: int) -> None:
    assert from_text("report_one", to_text(threshold)) == threshold
    assert as_fraction(threshold) * 2**64 == threshold


def test_zero_and_one_are_thresholds() -> None:
    assert (floor_threshold(0), ceil_threshold(1)) == (0, ONE) == (0, 2**64)
    assert to_text(ONE) == "18446744073709551616"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "+1",
        "01",
        "1.0",
        "1e3",
        " 1",
        "1\n",
        "١",
        "18446744073709551617",
        5,
        None,
        "9" * 99,
    ],
    ids=repr,
)
def test_other_spellings_are_refused(text: object) -> None:
    with pytest.raises(InvalidParameter, match=r"'report_one' threshold must be a decimal string"):
        from_text("report_one", text)

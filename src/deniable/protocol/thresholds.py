"""Probabilities as 64-bit integer thresholds: a coin shows 1 when a random u64 is below it."""

from __future__ import annotations

import re
from fractions import Fraction

from deniable._validate import shown
from deniable.errors import InvalidParameter

BITS = 64
ONE: int = 2**BITS
"""The threshold of probability 1; 0 is the threshold of probability 0."""


def floor_threshold(probability: Fraction | float) -> int:
    """Return the largest threshold whose probability is at most `probability`."""
    return int(Fraction(probability) * ONE // 1)


def ceil_threshold(probability: Fraction | float) -> int:
    """Return the smallest threshold whose probability is at least `probability`."""
    return -int(-Fraction(probability) * ONE // 1)


def as_fraction(threshold: int) -> Fraction:
    """Return the exact probability of a threshold."""
    return Fraction(threshold, ONE)


def to_text(threshold: int) -> str:
    """Return a threshold as it is published: a decimal string, exact in every JSON reader."""
    return str(threshold)


def from_text(name: str, text: object) -> int:
    """Return the threshold published as `text` under `name`, else raise InvalidParameter."""
    if isinstance(text, str) and re.fullmatch(r"0|[1-9][0-9]{0,19}", text) and int(text) <= ONE:
        return int(text)
    allowed = f'a decimal string from "0" to "{ONE}"'
    raise InvalidParameter(f"The '{name}' threshold must be {allowed}. Got {shown(text, 40)}.")

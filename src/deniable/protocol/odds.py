"""Odds instead of epsilon: an observer's belief before and after, in numbers that people say.

Model: an observer who gives a guess the probability b before seeing reports of total epsilon has
afterwards at most

    b E / (b E + 1 - b),        E = e^epsilon,

whatever the reports are and whatever else is known. All numbers here are rounded upwards.
(Epsilons are rounded up to millionths before. A millionth is taken back, lest 3 in 4 become
13 in 17.)
"""

from __future__ import annotations

import math
from fractions import Fraction

from deniable.protocol.epsilon import exp_micros

EXAMPLES = (Fraction(1, 2), Fraction(1, 100))
"""An observer who thinks that it could be either way, and one who thinks it unlikely."""
_MOST_PARTS = 20
_NEARLY = 0.01
_SURE = 10**6
_SLACK = Fraction(1, 10**6)


def believed(micros: int, before: Fraction) -> Fraction:
    """Return the largest probability that a guess of probability `before` can get."""
    grown = exp_micros(min(micros, 40_000_000)) * before
    return grown / (grown + 1 - before)


def parts_of(probability: Fraction) -> tuple[int, int] | None:
    """Return a probability as (3, 4) for "3 in 4", never below the true one (but for a millionth).

    Edge cases: (0, 1) for no chance at all; None, almost certain, beyond 999,999 in a million.
    """
    if probability <= 0:
        return 0, 1
    rest = (1 - probability) * (1 + _SLACK)
    probability = 1 - rest
    if rest <= 0 or 1 / rest > _SURE:
        return None
    if probability < Fraction(1, 20):
        return 1, math.floor(1 / probability)
    if rest < Fraction(1, 20):
        parts = math.ceil(1 / rest)
        return parts - 1, parts
    for parts in range(2, _MOST_PARTS + 1):
        share = math.ceil(probability * parts)
        if share < parts and share - probability * parts <= _NEARLY * parts:
            return share, parts
    return math.ceil(probability * 100), 100


def in_parts(probability: Fraction) -> str:
    """Return a probability as "3 in 4", or as "almost certain".

    >>> in_parts(Fraction(3, 4)), in_parts(Fraction(1, 200)), in_parts(1 - Fraction(1, 10**7))
    ('3 in 4', '1 in 200', 'almost certain')
    """
    parts = parts_of(probability)
    return "almost certain" if parts is None else f"{parts[0]:,} in {parts[1]:,}"

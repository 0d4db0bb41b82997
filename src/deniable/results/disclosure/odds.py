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


def in_parts(probability: Fraction) -> str:
    """Return a probability as "3 in 4", never below the true one (but for a millionth).

    Edge cases: "almost certain" beyond 999,999 in a million.
    """
    if probability <= 0:
        return "0 in 1"
    rest = (1 - probability) * (1 + _SLACK)
    probability = 1 - rest
    if rest <= 0 or 1 / rest > _SURE:
        return "almost certain"
    if probability < Fraction(1, 20):
        return f"1 in {math.floor(1 / probability):,}"
    if rest < Fraction(1, 20):
        parts = math.ceil(1 / rest)
        return f"{parts - 1:,} in {parts:,}"
    for parts in range(2, _MOST_PARTS + 1):
        share = math.ceil(probability * parts)
        if share < parts and share - probability * parts <= _NEARLY * parts:
            return f"{share} in {parts}"
    return f"{math.ceil(probability * 100)} in 100"


def sentence(micros: int, before: Fraction) -> str:
    """Return an observer's belief before and after the reports, as a part of a sentence."""
    after = in_parts(believed(micros, before))
    if " in " not in after:
        return f"somebody who thought {in_parts(before)} could become {after}"
    return f"somebody who thought {in_parts(before)} could at most come to believe {after}"

"""Closed-form variance of a frequency, per report of a mechanism, without NumPy.

Model: a report supports its sender's answer with probability p, any other with probability q. The
unbiased frequency f of an answer has, given the people's values,

    n Var = q (1 - q) / (p - q)^2 + f (1 - p - q) / (p - q).

It is linear in f, so that its mean over the k answers of a closed domain, whose frequencies sum
to 1, is the same for every distribution: f = 1/k.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

Number = TypeVar("Number", Fraction, float)


def mean_variance(p: Number, q: Number, answers: int = 0) -> float:
    """Return the mean n Var over `answers` answers; that of a rare answer if it is 0 (strings)."""
    # docs/mathematics.md, section 2, at f = 0; the mean over k answers adds the term at f = 1/k.
    rare = q * (1 - q) / (p - q) ** 2
    return float(rare + (1 - p - q) / ((p - q) * answers)) if answers else float(rare)

"""Orthogonal contrasts of a few ordered answers, as exact fractions in -1..1.

Model: on r answers x = 0..r-1 the discrete Chebyshev (Gram) polynomial of degree m,

    c_m(x) = sum_{i=0..m} (-1)^i C(r-1-i, m-i) C(m+i, m) C(x, i),        m = 1..r-1,

is an integer, sums to zero over the answers, and is orthogonal to those of other degrees [NIST
Digital Library of Mathematical Functions, section 18.22]. Divided by its largest absolute value s_m
it lies in -1..1. Two answers have one contrast, +1 for code 0 and -1 for code 1.

Products of contrasts of different attributes are the Efron-Stein basis: functions of a set of
attributes that average to zero over each of them.
"""

from __future__ import annotations

import math
from functools import cache

from deniable.protocol.frozen import frozen

MAX_ANSWERS = 64


@frozen
class Contrast:
    """One contrast: the integer of each level, and the scale that divides them into -1..1."""

    values: tuple[int, ...]
    scale: int

    @property
    def mean_square(self) -> float:
        """The mean over the answers of (value / scale)^2: 1 for signs, less for all others."""
        return sum(value**2 for value in self.values) / (self.scale**2 * len(self.values))


@cache
def contrasts_of(answers: int) -> tuple[Contrast, ...]:
    """Return the answers - 1 contrasts, by rising degree."""
    return tuple(_contrast(answers, degree) for degree in range(1, answers))


def _contrast(answers: int, degree: int) -> Contrast:
    values = tuple(_gram(answers, degree, x) for x in range(answers))
    shared = math.gcd(*values)
    values = tuple(value // shared for value in values)
    return Contrast(values, max(map(abs, values)))


def _gram(answers: int, degree: int, x: int) -> int:
    return sum(
        (-1) ** i
        * math.comb(answers - 1 - i, degree - i)
        * math.comb(degree + i, degree)
        * math.comb(x, i)
        for i in range(degree + 1)
    )

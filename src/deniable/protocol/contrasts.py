"""Orthogonal contrasts of a few ordered answers, as exact fractions in -1..1.

Model: on r answers x = 0..r-1 the discrete Chebyshev (Gram) polynomial of degree m,

    c_m(x) = sum_{i=0..m} (-1)^i C(r-1-i, m-i) C(m+i, m) C(x, i),        m = 1..r-1,

is an integer, sums to zero over the answers, and is orthogonal to those of other degrees [NIST
Digital Library of Mathematical Functions, section 18.22]. The same integers follow from their
recurrence over the degrees, in r^2 steps instead of r^3 / 2,

    (m+1) c_{m+1}(x) = (2m+1) (r-1-2x) c_m(x) - m (r^2-m^2) c_{m-1}(x),   c_0 = 1, c_1 = r-1-2x.

Divided by its largest absolute value s_m a contrast lies in -1..1. Two answers have one contrast,
+1 for code 0 and -1 for code 1.

Products of contrasts of different attributes are the Efron-Stein basis: functions of a set of
attributes that average to zero over each of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from deniable.protocol.frozen import frozen

MAX_ANSWERS = 64


@frozen
class Contrast:
    """One contrast: the integer of each answer, and the scale that divides them into -1..1."""

    values: tuple[int, ...]
    scale: int

    @property
    def mean_square(self) -> float:
        """The mean over the answers of (value / scale)^2: 1 for signs, less for all others."""
        return sum(value**2 for value in self.values) / (self.scale**2 * len(self.values))


@cache
def contrasts_of(answers: int) -> tuple[Contrast, ...]:
    """Return the answers - 1 contrasts, by rising degree.

    Cost: O(r^2) operations on integers of O(r) digits: 0.1 s for 300 answers, 10 s for 1,000.
    """
    return tuple(_contrast(values) for values in _polynomials(answers))


def _polynomials(answers: int) -> Iterator[list[int]]:
    """Yield the values of the polynomials of degree 1 to r - 1."""
    slopes = [answers - 1 - 2 * x for x in range(answers)]
    before, values = [1] * answers, slopes
    for degree in range(1, answers):
        yield values
        along, back = 2 * degree + 1, degree * (answers**2 - degree**2)
        # The division leaves nothing: both sides are integers.
        after = [
            (along * slope * value - back * earlier) // (degree + 1)
            for slope, value, earlier in zip(slopes, values, before, strict=True)
        ]
        before, values = values, after


def _contrast(polynomial: list[int]) -> Contrast:
    shared = math.gcd(*polynomial)
    values = tuple(value // shared for value in polynomial)
    return Contrast(values, max(map(abs, values)))

"""Rational bounds of the exponential function, for exact statements about epsilon."""

from __future__ import annotations

from fractions import Fraction

UNIT = 10**90


def exp_bounds(micros: int) -> tuple[Fraction, Fraction]:
    """Return fractions below and above e^(micros / 10^6), about 80 digits apart.

    The Taylor series at x = micros / 10^6 / 64 <= 1/2 with every rounding on its own side; the
    terms from the 60th on sum to less than twice the 60th; then six squarings.
    """
    assert 0 <= micros <= 32 * 10**6
    low = high = low_term = high_term = UNIT
    for n in range(1, 61):
        low_term = low_term * micros // (64 * 10**6 * n)
        high_term = -(-high_term * micros // (64 * 10**6 * n))
        low, high = low + low_term, high + high_term
    high += high_term
    for _ in range(6):
        low, high = low * low // UNIT, -(-high * high // UNIT)
    return Fraction(low, UNIT), Fraction(high, UNIT)

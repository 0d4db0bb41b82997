"""From exact probability ratios to the epsilon that is shown, always rounded against us.

Every epsilon in this system is an integer number of *micros* (millionths), computed from exact
fractions and rounded up; sums of them are exact, on every platform.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from deniable import _validate

MICRO = 1_000_000
LARGEST = 32
"""The largest epsilon a survey may ask for: a ratio of 10^14 is no privacy at all."""
_PRECISE = Context(prec=60)


def _log_above(ratio: Fraction) -> Decimal:
    """Return a number just above ln(ratio), less than 1e-50 away for every ratio in use."""
    # Rounding numerator and denominator to 60 digits moves each logarithm by at most 1e-59. ln is
    # correctly rounded: numbers below 2^8192 have logarithms below 10^4, so that each of the two
    # and their difference is within 1e-56. All of it is less than the 1e-55 added.
    numerator = _PRECISE.ln(_PRECISE.create_decimal(ratio.numerator))
    denominator = _PRECISE.ln(_PRECISE.create_decimal(ratio.denominator))
    return _PRECISE.add(_PRECISE.subtract(numerator, denominator), Decimal("1e-55"))


def epsilon_of(ratio: Fraction) -> int:
    """Return the smallest number of micros whose epsilon is at least ln(ratio).

    Guarantees: `ratio <= exp(epsilon_of(ratio) / 1e6)` as real numbers.
    """
    if ratio <= 1:
        return 0
    scaled = _PRECISE.multiply(_log_above(ratio), Decimal(MICRO))
    return int(scaled.to_integral_value(ROUND_CEILING, _PRECISE))


def within(ratio: Fraction, micros: int) -> bool:
    """Tell whether ratio <= exp(micros / 1e6), on the safe side of 1e-50."""
    return ratio <= 1 or _log_above(ratio) <= _PRECISE.divide(Decimal(micros), Decimal(MICRO))


def wanted(name: str, owner: str, value: object) -> int:
    """Return an epsilon that a person asked for as micros, rounded down.

    What runs never exceeds what was asked.

    Raises:
        InvalidParameter: unless `value` is a number from 0.000001 to 32.
    """
    number = _validate.between(name, owner, value, "0.000001", str(LARGEST))
    return int(_PRECISE.multiply(Decimal(repr(number)), Decimal(MICRO)))


def as_float(micros: int) -> float:
    """Return micros as the floating-point number people read."""
    return micros / MICRO


def exp_micros(micros: int) -> Fraction:
    """Return exp(micros / 1e6) as a fraction, good to about 55 digits."""
    return Fraction(_PRECISE.exp(_PRECISE.divide(Decimal(micros), Decimal(MICRO))))


def compose(parts: Iterable[int | None]) -> int | None:
    """Add up epsilons of one answer's parts; None (unbounded) if any part is None."""
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total

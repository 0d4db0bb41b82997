"""Ratios of probabilities, and epsilon by comparing integers: privacy.md alone, no logarithm."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

T = 2**64
DIGITS = 10**100

RATIOS: dict[str, Callable[..., tuple[Fraction, Fraction | None]]] = {}
"""The largest ratios of the mechanisms in the other files, from parameters and probabilities."""


def ratios(mechanism: str, parameters: dict[str, Any]) -> tuple[Fraction, Fraction | None]:
    """Return the largest ratio of one report, and of all reports (None if unbounded)."""
    part = {
        n: Fraction(int(t), T)
        for n, t in parameters.items()
        if isinstance(t, str) and n not in ("form", "basis", "model")
    }
    if mechanism in RATIOS:
        return RATIOS[mechanism](parameters, part)
    if mechanism == "krr":
        k, a, b = parameters["answers"], part["permanent_keep"], part["report_keep"]
        keep = a * b + (1 - a) * (1 - b) / (k - 1)
        return keep * (k - 1) / (1 - keep), None if a == 1 else a * (k - 1) / (1 - a)
    return unary_ratios(parameters, part)


def unary_ratios(
    parameters: dict[str, Any], part: dict[str, Fraction]
) -> tuple[Fraction, Fraction | None]:
    """Return the largest ratios of a mechanism of two stages per bit."""
    u, v, q, p = (
        part[name] for name in ("permanent_one", "permanent_zero", "report_one", "report_zero")
    )
    once = _pair(u * q + (1 - u) * p, v * q + (1 - v) * p, parameters)
    return once, _pair(u, v, parameters) if v > 0 and u < 1 else None


def _pair(one: Fraction, zero: Fraction, parameters: dict[str, Any]) -> Fraction:
    up, down = one / zero, (1 - zero) / (1 - one)
    if "members" in parameters:
        most, bits = parameters["members"], parameters["bits"]
        pairs = [(a, b) for a in range(most + 1) for b in range(most + 1) if a + b <= bits]
        return max(up**a * down**b for a, b in pairs)
    return max(up, down) if parameters["bits"] == 1 else (up * down) ** parameters["hashes"]


def exp_bounds(micros: int) -> tuple[int, int]:
    """Return integers below and above 10^100 e^(micros / 10^6).

    The series of e^x with x = micros / 10^6 / 2^s <= 1/2, each term rounded down for the lower
    and up for the upper bound, and the rest bounded by the last term; then s squarings.
    """
    squarings = 0
    while micros * 2 > 10**6 * 2**squarings:
        squarings += 1
    denominator = 10**6 * 2**squarings
    low = high = DIGITS
    low_term = high_term = DIGITS
    for n in range(1, 100):
        low_term = low_term * micros // (denominator * n)
        high_term = -(-high_term * micros // (denominator * n))
        low, high = low + low_term, high + high_term
    high += high_term
    for _ in range(squarings):
        low, high = low * low // DIGITS, -(-high * high // DIGITS)
    return low, high


def micros_of(ratio: Fraction) -> int:
    """Return the smallest number of micros with ratio <= e^(micros / 10^6), by bisection."""
    low, high = -1, 4 * 10**9
    while high - low > 1:
        middle = (low + high) // 2
        lower, upper = exp_bounds(middle)
        if ratio * DIGITS <= lower:
            high = middle
        elif ratio * DIGITS > upper:
            low = middle
        else:
            raise ArithmeticError("More digits are needed to tell.")
    return high

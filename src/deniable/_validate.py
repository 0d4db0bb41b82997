"""Checks of parameters, all with one form of message.

    The 'epsilon' parameter of KRR must be a number greater than 0. Got nan.

Every comparison is written so that NaN fails it (`if not x > 0`).
"""

from __future__ import annotations

import math
from numbers import Integral, Real

from deniable.errors import InvalidParameter


def invalid(name: str, owner: str, must: str, got: object) -> InvalidParameter:
    """Return the error for parameter `name` of `owner`, ready to be raised."""
    return InvalidParameter(f"The '{name}' parameter of {owner} must be {must}. Got {got!r:.80}.")


def integer(name: str, owner: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is an integer in low..high (a bool is not), else raise."""
    if type(value) is not bool and isinstance(value, Integral) and low <= int(value) <= high:
        return int(value)
    raise invalid(name, owner, f"an integer from {low} to {high}", value)


def positive(name: str, owner: str, value: object) -> float:
    """Return `value` as a finite float greater than 0, else raise."""
    number = _real(value)
    if not 0 < number < math.inf:
        raise invalid(name, owner, "a number greater than 0", value)
    return number


def probability(name: str, owner: str, value: object) -> float:
    """Return `value` as a float in 0..1, else raise."""
    number = _real(value)
    if not 0 <= number <= 1:
        raise invalid(name, owner, "a number from 0 to 1", value)
    return number


def _real(value: object) -> float:
    """Return a number as a float; NaN for anything else, which fails every comparison."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan

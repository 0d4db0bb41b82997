"""Checks of parameters, all with one form of message.

    The 'epsilon' parameter of KRR must be a number greater than 0. Got nan.

Every comparison is written so that NaN fails it (`if not x > 0`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real

from deniable.errors import InvalidParameter


def shown(value: object, limit: int = 80) -> str:
    """Return the beginning of a value's repr, for a message.

    Edge cases: an integer of thousands of digits has no repr, and neither has a value nested
    deeper than the stack; both are shown by their type.
    """
    try:
        return f"{value!r:.{limit}}"
    except (ValueError, RecursionError):
        return f"a very large {type(value).__name__}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the known name that is most like another; else "".

    Example:
        >>> nearest("dark-mod", ["dark-mode", "homepage"])
        " Did you mean 'dark-mode'?"
    """
    from difflib import get_close_matches  # only an error needs it, never a client's start

    alike = {one.lower(): one for one in known}
    for found in get_close_matches(name.lower()[:200], alike, 1, 0.6):
        return f" Did you mean {alike[found]!r}?"
    return ""


def near(fraction: Fraction) -> str:
    """Return a fraction in about six digits, for a message."""
    return f"{float(fraction):.6g}"


def invalid(name: str, owner: str, must: str, got: object) -> InvalidParameter:
    """Return the error for parameter `name` of `owner`, ready to be raised."""
    return InvalidParameter(f"The '{name}' parameter of {owner} must be {must}. Got {shown(got)}.")


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


def between(name: str, owner: str, value: object, low: str, high: str) -> float:
    """Return `value` as a float in low..high, else raise; the message shows the bounds as given."""
    number = _real(value)
    if not float(low) <= number <= float(high):
        raise invalid(name, owner, f"a number from {low} to {high}", value)
    return number


def probability(name: str, owner: str, value: object) -> float:
    """Return `value` as a float in 0..1, else raise."""
    return between(name, owner, value, "0", "1")


def _real(value: object) -> float:
    """Return a number as a float; NaN for anything else, which fails every comparison."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan

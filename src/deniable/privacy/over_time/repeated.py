"""The epsilon of several reports of one value, sent by one device."""

from __future__ import annotations

from deniable import _validate
from deniable.privacy.over_time import bits, symbols
from deniable.protocol import Parameters
from deniable.protocol.channel import Bits, Symbol, unknown_kind
from deniable.protocol.epsilon import epsilon_of

EXACT_UP_TO = 2_000
"""The largest number of reports with an exact epsilon; fractions grow too long, a bound follows."""


def epsilon_after(parameters: Parameters, n: int) -> int:
    """Return the epsilon of n reports of one value by one device, in micros, rounded up.

    Guarantees: at least the exact value, and at most the smaller of `epsilon_forever` and n times
    `epsilon_once`. Exact up to 2,000 reports, but for the rounding; that smaller bound beyond.

    Cost: grows with n^2, in long integers, up to 2,000 reports; constant beyond.

    Raises:
        InvalidParameter: unless n is an integer from 1 to 10^12 and the mechanism is known.

    Example:
        >>> from deniable.protocol import RapporParameters, Strings
        >>> wanted = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
        >>> from deniable.authoring import resolve
        >>> parameters = resolve(RapporParameters, wanted, Strings(), False)
        >>> [epsilon_after(parameters, n) for n in (1, 2, 10_000)]
        [1074286, 2017008, 4394450]
    """
    n = _validate.integer("n", "epsilon_after", n, 1, 10**12)
    bound = n * parameters.epsilon_once
    if parameters.epsilon_forever is not None:
        bound = min(bound, parameters.epsilon_forever)
    if n > EXACT_UP_TO:
        return bound
    rest = parameters.channel.typical
    match rest, rest.stages:
        case Bits(), (Bits() as first, Bits() as then):
            ratio = bits.ratio_after(first, then, n)
        case Symbol(), (Symbol() as first, Symbol() as then):
            ratio = symbols.ratio_after(first, then, n)
        case _, None:
            return bound  # independent reports: the ratios multiply
        case _:
            raise unknown_kind("epsilon of several reports", rest)
    return min(bound, epsilon_of(ratio))

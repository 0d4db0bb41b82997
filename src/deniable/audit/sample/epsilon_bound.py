"""A lower bound on epsilon from the scores of reports of two answers.

An event is chosen on one half of the reports, by likelihood ratio. On the other half it happens k1
times in n under one answer and k0 times under the other. With Clopper-Pearson bounds

    L = BetaInv(a/2; k1, n - k1 + 1),    U = BetaInv(1 - a/2; k0 + 1, n - k0)

epsilon is at least ln(L / U), with probability 1 - a (docs/mathematics.md, section 7).
"""

from __future__ import annotations

import math

import numpy as np

from deniable._distributions import beta_ppf
from deniable.mechanisms.base import Floats


def lower_bound(one: Floats, other: Floats, level: float) -> float:
    """Return the lower bound on epsilon from the scores of two answers; see above.

    The first halves choose the event, the second halves count it.
    """
    half = len(one) // 2
    events = _events(one[:half], other[:half])
    rates = [
        clopper_pearson(*_counts(event, one[:half], other[:half]), half, level) for event in events
    ]
    best = events[int(np.argmax(rates))]
    rest = len(one) - half
    return clopper_pearson(*_counts(best, one[half:], other[half:]), rest, level)


Event = tuple[float, int]
"""A threshold of the score, and the side of it: 1 for scores from it up, -1 for scores down."""


def _events(one: Floats, other: Floats) -> list[Event]:
    values = np.unique(np.concatenate([one, other]))
    if len(values) > 100:
        values = np.unique(np.quantile(values, np.linspace(0, 1, 100), method="nearest"))
    return [(float(value), way) for value in values for way in (1, -1)]


def _counts(event: Event, one: Floats, other: Floats) -> tuple[int, int]:
    """Return the counts of an event: under the answer that it speaks for, and under the other."""
    value, way = event
    if way == 1:
        return int((one >= value).sum()), int((other >= value).sum())
    return int((other <= value).sum()), int((one <= value).sum())


def clopper_pearson(k1: int, k0: int, n: int, level: float) -> float:
    """Return ln(L / U), at least 0: see above."""
    if k1 == 0 or k0 == n:
        return 0.0
    # Each side at level / 2, so that both bounds hold together with probability 1 - level.
    low = float(beta_ppf(level / 2, k1, n - k1 + 1))
    high = float(beta_ppf(1 - level / 2, k0 + 1, n - k0))
    return max(0.0, math.log(low / high))

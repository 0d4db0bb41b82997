"""From delta as a function of epsilon to the epsilon of a delta, in micros, on the safe side."""

from __future__ import annotations

import math
from collections.abc import Callable

from deniable.protocol.epsilon import MICRO

_STEPS = 30
"""Halvings of an epsilon of at most 32: to 3e-8, far below the micro that is shown."""


def smallest(failing: Callable[[float], float], local: float, delta: float) -> float:
    """Return the smallest epsilon whose delta is kept, rounded up to micros; at most the local."""
    _, high = _bracket(failing, local, delta)
    return min(math.ceil(high * MICRO) / MICRO, local)


def reached(failing: Callable[[float], float], local: float, delta: float) -> float:
    """Return the largest epsilon whose delta is not kept, rounded down to micros."""
    low, _ = _bracket(failing, local, delta)
    return math.floor(low * MICRO) / MICRO


def _bracket(failing: Callable[[float], float], local: float, delta: float) -> tuple[float, float]:
    low, high = 0.0, local
    for _ in range(_STEPS):
        half = (low + high) / 2
        if failing(half) <= delta:
            high = half
        else:
            low = half
    return low, high

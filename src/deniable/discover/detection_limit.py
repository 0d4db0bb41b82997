"""The share of which half is found, from imagined crowds: a search by chances, not by one number.

Each crowd says which of its strings were found. The chance rises with the share s about as
Phi(a + b ln s); the line is fitted to crowds on both sides of one half.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable._distributions import normal_ppf
from deniable.mechanisms.base import Floats

FIRST_STEP = 0.25
"""Of ln s, while one half is not yet between two shares."""
SIDES = (-0.18, -0.09, 0.0, 0.09, 0.18)
"""Of ln s around the first guess: where the line is fitted."""
_LEAST = 1e-9
_INNER = 0.02
"""Chances nearer to 0 or 1 say little of the line."""

Chance = Callable[[float], float]
"""From a share to the part of the strings of that share that a few crowds find."""


def half_found(chance: Chance, guess: float, most: float = 1.0) -> float:
    """Return the share at which one half is found; the largest where it is not even then.

    Guarantees: the same chances give the same share.

    Cost: about ten times that of `chance`.

    Args:
        chance: rising, with noise.
        guess: where to begin.
        most: the largest share that there can be.
    """
    if chance(most) < 0.5:
        return most
    top = math.log(most)
    x = min(top, math.log(max(_LEAST, guess)))
    above = chance(math.exp(x)) >= 0.5
    direction = -FIRST_STEP if above else FIRST_STEP
    while math.log(_LEAST) < x:
        x = min(top, x + direction)
        if x == top or (chance(math.exp(x)) >= 0.5) != above:
            break
    middle = min(top, x - direction / 2)
    shares = np.array([min(top, middle + side) for side in SIDES])
    chances = np.array([chance(math.exp(one)) for one in shares])
    return math.exp(min(top, _crossing(shares, chances, middle)))


def _crossing(x: Floats, chances: Floats, middle: float) -> float:
    """Return where a line through the probits of the chances is 0."""
    probits = normal_ppf(np.clip(chances, _INNER, 1 - _INNER))
    slope, at = np.polyfit(x - middle, probits, 1)
    if not slope > 0:
        return middle
    return float(middle + np.clip(-at / slope, 2 * SIDES[0], 2 * SIDES[-1]))

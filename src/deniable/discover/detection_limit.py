"""Detection limit: the share that half of the runs find, by simulation.

Each simulated crowd tells which of its strings were found. The chance of finding a string rises
with its share s about as Phi(a + b ln s). The line a + b ln s is fitted to chances on both sides
of one half.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable._distributions import normal_ppf
from deniable.mechanisms.base import Floats

_FIRST_STEP = 0.25
"""The step of ln s of the search, until one half lies between two shares."""
_SIDES = (-0.18, -0.09, 0.0, 0.09, 0.18)
"""Distances of ln s from the first guess at which the line is fitted."""
_LEAST = 1e-9
_INNER = 0.02
"""Chances nearer to 0 or 1 say little of the line."""

Chance = Callable[[float], float]
"""From a share to the chance of finding it: the part of such strings that a few crowds find."""


def half_found(chance: Chance, guess: float, most: float = 1.0) -> float:
    """Return the detection limit: the share with a chance of 1/2, at most `most`.

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
    direction = -_FIRST_STEP if above else _FIRST_STEP
    while math.log(_LEAST) < x:
        x = min(top, x + direction)
        if x == top or (chance(math.exp(x)) >= 0.5) != above:
            break
    middle = min(top, x - direction / 2)
    shares = np.array([min(top, middle + side) for side in _SIDES])
    chances = np.array([chance(math.exp(one)) for one in shares])
    return math.exp(min(top, _crossing(shares, chances, middle)))


def _crossing(x: Floats, chances: Floats, middle: float) -> float:
    """Return where a line through the probits of the chances is 0."""
    probits = normal_ppf(np.clip(chances, _INNER, 1 - _INNER))
    # The chance is 1/2 where its probit a + b (x - middle) is 0.
    slope, at = np.polyfit(x - middle, probits, 1)
    if not slope > 0:
        return middle
    return float(middle + np.clip(-at / slope, 2 * _SIDES[0], 2 * _SIDES[-1]))

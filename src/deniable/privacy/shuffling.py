"""What a shuffled crowd adds: the central (epsilon, delta) of reports whose order is lost.

Model, the clones bound [Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021; theorem
3.1]: each of the n - 1 other reports of an eps0-private mechanism is, with probability e^-eps0, as
good as one of the two candidates' own. With E = e^eps0, alpha = E/(E + 1),

    C ~ Bin(n - 1, e^-eps0),   A ~ Bin(C, 1/2),   D ~ Bernoulli(alpha),

no shuffled set of reports tells two neighbours apart better than (A + D, C - A + 1 - D) and its
mirror. Given C = c the first count a has P/Q > e^eps iff a > (c + 1) B / (A' + B), where
A' = alpha - e^eps (1 - alpha) and B = e^eps alpha - (1 - alpha); whence with a0 the first such a

    delta(eps) = sum over c of P(C = c) [ A' P(Bin(c, 1/2) >= a0 - 1) - B P(Bin(c, 1/2) >= a0) ].

Two-level mechanisms (`two_level.py`) have a form of their own, `blanket.py`; the better one counts.

Numerically: every c between two quantiles, the probability outside added to delta; where there are
very many c, several share the smallest of them, which is safe because one more clone can only hide
more; each binomial tail is taken 1e-9 of itself against us.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable.privacy.blanket import Blanket
from deniable.privacy.tails import GUARD, Numbers, at_least, middle, weights
from deniable.privacy.two_level import levels
from deniable.protocol import Parameters
from deniable.protocol.epsilon import LARGEST, MICRO, as_float

CONDITIONS = (
    "Each person sends one report (or, for all reports of a value, they are shuffled as one).",
    "Nothing in or around a report links it to its sender: no address, time, order or identifier.",
    "Whoever shuffles is trusted to do so, and to have seen nothing else.",
    "All n people report honestly; liars among them hide nobody.",
)
"""Without all of these only the local epsilon holds."""

_OUTSIDE = 1e-4
"""The share of delta that is given away to the c outside of the sum."""
_PLACES = 4_096
"""So many different c are evaluated at most."""
_STEPS = 40


@dataclass(frozen=True)
class Shuffled:
    """The promise of a shuffled crowd, beside the local one that holds without it.

    Attributes:
        epsilon: central, rounded up to micros; at most the local one.
        delta: with this probability the promise may fail.
        people: n, who report.
        local: the epsilon of one report, eps0.
        bound: "clones", or "blanket" for mechanisms of two levels.
    """

    epsilon: float
    delta: float
    people: int
    local: float
    bound: str

    def as_json(self) -> dict[str, object]:
        """Return the promise with its conditions."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "people": self.people,
            "local_epsilon": self.local,
            "bound": self.bound,
            "conditions": list(CONDITIONS),
        }


def clones(local: float, people: int, delta: float) -> Shuffled:
    """Return the central epsilon of any mechanism of a local epsilon, after shuffling n reports.

    Guarantees: an upper bound, numerical errors included.

    Cost: some 300,000 incomplete beta functions, whatever n.

    Args:
        local: eps0, above 0 and at most 32.
        people: n, 1 to 10^12.
        delta: above 0 and below 1.

    Raises:
        InvalidParameter: if one is out of range.
    """
    local = _validate.between("local", "clones", local, "0.000001", str(LARGEST))
    people, delta = _checked(people, delta)
    grown = math.exp(local)
    alpha = grown / (grown + 1)
    first, last = middle(people - 1, math.exp(-local), delta * _OUTSIDE / 2)
    steps = min(_PLACES, last + 1 - first) + 1
    ends = np.unique(np.linspace(first, last + 1, steps).astype(np.int64))
    chances, outside = weights(people - 1, math.exp(-local), ends)
    places = ends[:-1].astype(np.float64)
    epsilon = _smallest(lambda e: _divergence(e, alpha, places, chances) + outside, local, delta)
    return Shuffled(epsilon, delta, people, local, "clones")


def shuffled(parameters: Parameters, people: int, delta: float) -> Shuffled:
    """Return the central epsilon of one report of a mechanism: the better of the two bounds.

    Raises:
        InvalidParameter: as `clones`.
    """
    local = as_float(parameters.epsilon_once)
    general = clones(local, people, delta)
    found = levels(parameters)
    if found is None:
        return general
    blanket = Blanket(found, people, delta)
    if not blanket.computable:
        return general
    own = _smallest(blanket.delta, local, delta)
    if own >= general.epsilon:
        return general
    return Shuffled(own, delta, people, local, "blanket")


def _checked(people: int, delta: float) -> tuple[int, float]:
    return (
        _validate.integer("people", "shuffling", people, 1, 10**12),
        _validate.between("delta", "shuffling", delta, "1e-300", "0.999999"),
    )


def _smallest(failing: Callable[[float], float], local: float, delta: float) -> float:
    """Return the smallest epsilon whose delta is kept, rounded up to micros; at most the local."""
    low, high = 0.0, local
    for _ in range(_STEPS):
        half = (low + high) / 2
        if failing(half) <= delta:
            high = half
        else:
            low = half
    return min(math.ceil(high * MICRO) / MICRO, local)


def _divergence(epsilon: float, alpha: float, places: Numbers, chances: Numbers) -> float:
    """Return sum over c of P(c) sum over a of max(0, P(a | c) - e^eps Q(a | c))."""
    grown = math.exp(epsilon)
    up, down = alpha - grown * (1 - alpha), grown * alpha - (1 - alpha)
    if up <= 0:
        return 0.0
    first = np.floor((places + 1) * (down / (up + down))) + 1
    near = up * at_least(first - 1, places) * (1 + GUARD)
    far = down * at_least(first, places) * (1 - GUARD)
    return float(chances @ np.maximum(0.0, near - far))

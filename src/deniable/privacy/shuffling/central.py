"""Amplification by shuffling: the central (epsilon, delta) of reports whose order is lost.

Model, the clones bound [FMT21, theorem 3.1]: each of the n - 1 other reports of an
eps0-private mechanism is, with probability e^-eps0, as good as one of the two candidates' own.
With E = e^eps0, alpha = E/(E + 1),

    C ~ Bin(n - 1, e^-eps0),   A ~ Bin(C, 1/2),   D ~ Bernoulli(alpha),

no shuffled set of reports tells two neighbours apart better than (A + D, C - A + 1 - D) and its
mirror. Given C = c the first count a has P/Q > e^eps iff a > (c + 1) B / (A' + B), where
A' = alpha - e^eps (1 - alpha) and B = e^eps alpha - (1 - alpha); whence with a0 the first such a

    delta(eps) = sum over c of P(C = c) [ A' P(Bin(c, 1/2) >= a0 - 1) - B P(Bin(c, 1/2) >= a0) ].

Two-level mechanisms (`two_level.py`) have a tighter bound, `blanket.py`. A yes or no has the exact
value, `yes_no_crowds.py`, and so has k-RR of few people, `krr_crowds.py`. The smallest bound
counts. For k-RR a real crowd gives a lower bound beside it.

Numerically: every c between two places is summed, and the probability outside is added to delta.
Where there are very many c, several share the smallest of them, which is safe because one more
clone can only hide more. Each binomial tail is taken 1e-9 of itself against us.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable.privacy.shuffling import krr_crowds
from deniable.privacy.shuffling.binomial_tails import GUARD, Numbers, at_least, one_middle, weights
from deniable.privacy.shuffling.blanket import Blanket
from deniable.privacy.shuffling.epsilon_of_delta import reached, smallest
from deniable.privacy.shuffling.two_level import Levels, levels
from deniable.privacy.shuffling.yes_no_crowds import MOST_PEOPLE, SMALLEST_DELTA, YesNo
from deniable.protocol import Parameters
from deniable.protocol.channel import Symbol
from deniable.protocol.epsilon import LARGEST, as_float

CONDITIONS = (
    "Each person sends one report (or, for all reports of a value, they are shuffled as one).",
    "Nothing in or around a report links it to its sender: no address, time, order or identifier.",
    "Whoever shuffles is trusted to do so, and to have seen nothing else.",
    "All n people report honestly; crafted reports among theirs hide nobody.",
)
"""Without all of these only the local epsilon holds."""

_OUTSIDE = 1e-4
"""The share of delta that is given away to the c outside of the sum."""
_PLACES = 4_096
"""The largest number of different c that are evaluated."""


@dataclass(frozen=True)
class Shuffled:
    """The promise of a shuffled crowd, beside the local one that holds without it.

    Attributes:
        epsilon: central, rounded up to micros; at most the local one.
        delta: with this probability the promise may fail.
        people: n, who report.
        local: the epsilon of one report, eps0.
        bound: "clones", "blanket" for mechanisms of two levels, "yes or no", "every crowd".
        at_least: an epsilon that some crowd of n people really has, rounded down to micros: nobody
            can promise less. None where no such crowd is known.
        crowds: the number of crowds compared, where all were.
        worst: the answers of the others, in words, in the worst crowd or in that of `at_least`.
    """

    epsilon: float
    delta: float
    people: int
    local: float
    bound: str
    at_least: float | None = None
    crowds: int | None = None
    worst: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the promise with its conditions."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "people": self.people,
            "local_epsilon": self.local,
            "bound": self.bound,
            "at_least": self.at_least,
            "crowds": self.crowds,
            "worst_crowd": self.worst,
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
    # The number of clones is binomial(n - 1, e^-eps0); what lies outside of its middle is added.
    first, last = one_middle(people - 1, math.exp(-local), delta * _OUTSIDE / 2)
    steps = min(_PLACES, last + 1 - first) + 1
    ends = np.unique(np.linspace(first, last + 1, steps).astype(np.int64))
    chances, outside = weights(people - 1, math.exp(-local), ends)
    places = ends[:-1].astype(np.float64)
    epsilon = smallest(lambda e: _divergence(e, alpha, places, chances) + outside, local, delta)
    return Shuffled(epsilon, delta, people, local, "clones")


def shuffled(parameters: Parameters, people: int, delta: float) -> Shuffled:
    """Return the central epsilon of one report of a mechanism: the best of the bounds.

    Guarantees: as `clones`. For a yes or no, and for k-RR, `at_least` says how near it is.

    Cost: as `clones`, and up to some million incomplete beta functions more; for k-RR of dozens of
    people up to 10^9 numbers, which takes some five seconds.

    Raises:
        InvalidParameter: as `clones`.

    Example:
        >>> from deniable.protocol import Boolean, KRRParameters
        >>> from deniable.authoring import resolve
        >>> krr = resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)
        >>> shuffled(krr, people=10_000, delta=1e-6).epsilon < 0.1
        True
    """
    local = as_float(parameters.epsilon_once)
    general = clones(local, people, delta)
    found = levels(parameters)
    if found is None:
        return general
    blanket = Blanket(found, people, delta)
    bounds = {"clones": general.epsilon, "blanket": smallest(blanket.delta, local, delta)}
    least = worst = None
    rest = parameters.channel.typical
    if isinstance(rest, Symbol) and rest.size > 2:
        least = reached(blanket.attained, local, delta)
        worst = _worst(found, rest.size, people, local, delta)
    if worst is not None:
        least = max(least or 0.0, worst.at_least)
        if worst.crowds:
            bounds["every crowd"] = worst.epsilon
    if not found.both + found.neither and people <= MOST_PEOPLE and delta >= SMALLEST_DELTA:
        exact = YesNo(found, people, delta)
        bounds["yes or no"] = smallest(exact.delta, local, delta)
        least = reached(exact.attained, local, delta)
    best = min(reversed(bounds), key=lambda name: bounds[name])
    held = None if worst is None or worst.at_least < (least or 0.0) else worst.crowd.words
    count = worst.crowds if worst is not None and best == "every crowd" else None
    return Shuffled(bounds[best], delta, people, local, best, least, count, held)


def _worst(
    found: Levels, answers: int, people: int, local: float, delta: float
) -> krr_crowds.Worst | None:
    """Return the worst of all crowds, or of some if all are too many; None if even those are."""
    if delta < krr_crowds.SMALLEST_DELTA:
        return None
    shape = (float(found.ratio), answers, people, local, delta)
    return krr_crowds.Search(*shape).every() or krr_crowds.Search(*shape).attained(looks=32)


def _checked(people: int, delta: float) -> tuple[int, float]:
    return (
        _validate.integer("people", "shuffling", people, 1, 10**12),
        _validate.between("delta", "shuffling", delta, "1e-300", "0.999999"),
    )


def _divergence(epsilon: float, alpha: float, places: Numbers, chances: Numbers) -> float:
    """Return sum over c of P(c) sum over a of max(0, P(a | c) - e^eps Q(a | c))."""
    # A' and B of the module docstring, with a0 = `first` [FMT21, theorem 3.1].
    grown = math.exp(epsilon)
    up, down = alpha - grown * (1 - alpha), grown * alpha - (1 - alpha)
    if up <= 0:
        return 0.0
    first = np.floor((places + 1) * (down / (up + down))) + 1
    near = up * at_least(first - 1, places) * (1 + GUARD)
    far = down * at_least(first, places) * (1 - GUARD)
    return float(chances @ np.maximum(0.0, near - far))

"""What a shuffled crowd adds: the central (epsilon, delta) of reports whose order is lost.

Model, the clones bound [Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021; theorem
3.1]: each of the n - 1 other reports of an eps0-private mechanism is, with probability e^-eps0, as
good as one of the two candidates' own. With E = e^eps0, alpha = E/(E + 1),

    C ~ Bin(n - 1, e^-eps0),   A ~ Bin(C, 1/2),   D ~ Bernoulli(alpha),

no shuffled set of reports tells two neighbours apart better than (A + D, C - A + 1 - D) and its
mirror. Given C = c the first count a has P/Q > e^eps iff a > (c + 1) B / (A' + B), where
A' = alpha - e^eps (1 - alpha) and B = e^eps alpha - (1 - alpha); whence with a0 the first such a

    delta(eps) = sum over c of P(C = c) [ A' P(Bin(c, 1/2) >= a0 - 1) - B P(Bin(c, 1/2) >= a0) ].

Two-level mechanisms (`two_level.py`) have the same form with C ~ Bin(n - 1, 2 low), and only a
report that falls into one of the two sets, with probability high + low, tells anything: delta is
multiplied by it. (Revealing to the attacker who fell there can only help them.)

Numerically: every c between two quantiles, the probability outside added to delta; where there are
very many c, several share the smallest of them, which is safe because one more clone can only hide
more; each binomial tail is taken 1e-9 of itself against us.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from deniable import _validate
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

_GUARD = 1e-9
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
        bound: "clones", or "two levels" for mechanisms of that form.
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
    grown = math.exp(local)
    hidden = _Hidden(grown / (grown + 1), math.exp(-local), 1.0)
    return _shuffled(hidden, local, people, delta, "clones")


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
    high, low = found
    hidden = _Hidden(float(high / (high + low)), float(2 * low), float(high + low))
    own = _shuffled(hidden, local, people, delta, "two levels")
    return own if own.epsilon < general.epsilon else general


@dataclass(frozen=True)
class _Hidden:
    """The pair of distributions that is compared.

    Attributes:
        alpha: P(the report that counts lies on its own side | it lies on either).
        clone: P(another report lies on either side).
        counts: P(the report that counts lies on either side).
    """

    alpha: float
    clone: float
    counts: float


def _shuffled(hidden: _Hidden, local: float, people: int, delta: float, bound: str) -> Shuffled:
    people = _validate.integer("people", "shuffling", people, 1, 10**12)
    delta = _validate.between("delta", "shuffling", delta, "1e-300", "0.999999")
    places, weights, outside = _clones_spread(people - 1, hidden.clone, delta)
    low, high = 0.0, local
    for _ in range(_STEPS):
        middle = (low + high) / 2
        failing = hidden.counts * _divergence(middle, hidden.alpha, places, weights)
        if failing + outside <= delta:
            high = middle
        else:
            low = middle
    up = min(math.ceil(high * MICRO) / MICRO, local)
    return Shuffled(up, delta, people, local, bound)


def _clones_spread(
    others: int, probability: float, delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return numbers of clones, their probabilities, and the probability outside of them."""
    law = stats.binom(others, min(1.0, probability))
    tail = delta * _OUTSIDE / 2
    first, last = int(law.ppf(tail)), int(law.isf(tail))
    ends = np.unique(np.linspace(first, last + 1, min(_PLACES, last + 1 - first) + 1).astype(int))
    below = law.cdf(ends - 1)
    above = law.sf(ends - 1)
    # The difference of the smaller tails, so that neither end loses its digits.
    weights = np.where(below[1:] < 0.5, below[1:] - below[:-1], above[:-1] - above[1:])
    outside = float(below[0] + above[-1])
    return ends[:-1].astype(np.float64), weights * (1 + _GUARD), outside * (1 + _GUARD)


def _divergence(
    epsilon: float, alpha: float, places: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    """Return sum over c of P(c) sum over a of max(0, P(a | c) - e^eps Q(a | c))."""
    grown = math.exp(epsilon)
    up, down = alpha - grown * (1 - alpha), grown * alpha - (1 - alpha)
    if up <= 0:
        return 0.0
    first = np.floor((places + 1) * (down / (up + down))) + 1
    near = up * _at_least(first - 1, places) * (1 + _GUARD)
    far = down * _at_least(first, places) * (1 - _GUARD)
    return float(weights @ np.maximum(0.0, near - far))


def _at_least(successes: NDArray[np.float64], trials: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(Bin(trials, 1/2) >= successes)."""
    inside = (successes >= 1) & (successes <= trials)
    a = np.where(inside, successes, 1.0)
    b = np.where(inside, trials - successes + 1, 1.0)
    tails: NDArray[np.float64] = special.betainc(a, b, 0.5)
    return np.where(inside, tails, np.where(successes < 1, 1.0, 0.0))

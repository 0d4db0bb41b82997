"""The worth that the points of a string nobody holds would show: that of random points.

Model: hash functions put a string on a random point of the K in each of C cohorts, whatever is
reported and wherever other strings are. So the estimate of one that nobody holds is, given all
reports, distributed as the sum over the cohorts of the worth of a uniform point: exactly, and
with all collisions, however few the cohorts are.

Frequent strings are taken out first, so that others are not compared with them: a point of one is
worth nothing to any other string. Subtracting its share would leave the noise of all its reports
there, which is more than a rare string shows. For a string v the others are taken out as if v were
not there, because what is compared must not depend on the points of v; so a frequent v keeps the
points that no other frequent string has. Two that share their point in every cohort keep nothing:
they cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import fft, special

from deniable.discover.group_estimates import Table
from deniable.mechanisms.base import Floats

_FREQUENT = 3.0
"""Strings this many standard errors above 0 are taken out: fewer than a test asks for."""
_MOST_FREQUENT = 1_000
_STEPS = 100.0
"""Steps of the grid per standard deviation of the sum."""
_MOST_STEPS = 2**17
_BISECTIONS = 40

Points = NDArray[np.int32]
Tail = Callable[[Floats], Floats]
"""From values to the probability that a sum of random points is at least as large."""


@dataclass(frozen=True)
class RandomPoints:
    """The distribution of the sum of one random point's worth per cohort.

    Attributes:
        values: rising.
        chances: P(sum >= value) of each.
    """

    values: Floats
    chances: Floats

    @classmethod
    def of(cls, worth: Floats) -> Self:
        """Return the distribution; of one cohort exactly, else on a grid.

        Cost: a Fourier transform of at most 262,144 numbers per cohort.

        Args:
            worth: cohorts x points; at least one cohort.
        """
        if len(worth) == 1:
            size = worth.shape[1]
            return cls(
                np.sort(worth[0]), np.asarray(np.arange(size, 0, -1) / size, dtype=np.float64)
            )
        low, width = worth.min(axis=1), np.ptp(worth, axis=1)
        deviation = float(np.sqrt(worth.var(axis=1).sum()))
        step = max(deviation / _STEPS, float(width.sum()) / _MOST_STEPS, 1e-300)
        places = np.rint((worth - low[:, None]) / step).astype(np.int64)
        size = int(places.max(axis=1).sum()) + 1
        length = fft.next_fast_len(size, real=True)
        product = np.ones(length // 2 + 1, dtype=np.complex128)
        for row in places:
            product *= fft.rfft(np.bincount(row, minlength=length) / row.size)
        density = np.maximum(0.0, fft.irfft(product, length)[:size])
        chances = np.minimum(1.0, np.cumsum(density[::-1])[::-1])
        # Rounding to the grid moves a sum up or down by less than a step, nearly always.
        return cls(np.asarray(float(low.sum()) + step * (np.arange(size) + 1.0)), chances)

    def tail(self, least: Floats) -> Floats:
        """Return P(sum >= least)."""
        slack = 1e-9 * float(self.values[-1] - self.values[0])
        places = np.searchsorted(self.values, np.asarray(least) - slack)
        return np.append(self.chances, 0.0)[places]


def p_values(points: Points, table: Table) -> tuple[Floats, Floats]:
    """Return what is left of strings without the frequent ones, and the chance of as much.

    Guarantees: where nobody holds a string, P(its chance <= x) <= x over the hash functions.

    Args:
        points: of distinct strings, strings x cohorts.
        table: nothing of it is peeled but what was known before; it is left as it is.

    Returns:
        t, and P(random points would show at least t), of each string.
    """
    used = np.flatnonzero(table.weights)
    points, worth = points[:, used], table.worth[used].astype(np.float64)
    rows = np.arange(len(used))
    shown = worth[rows, points]
    frequent = _frequent(shown, table)
    owners = np.zeros(worth.shape, dtype=np.int64)
    np.add.at(owners, (rows, points[frequent]), 1)
    worth[owners > 0] = 0.0
    left = worth[rows, points].sum(axis=1)
    null = RandomPoints.of(worth)
    chances = null.tail(left)
    # Without v alone, its own points hold what it shows.
    held = np.where(owners[rows, points[frequent]] == 1, shown[frequent], 0.0)
    left[frequent] = held.sum(axis=1)
    chances[frequent] = with_own(null.tail, left[frequent], held, worth.shape[1])
    return left, chances


def _frequent(shown: Floats, table: Table) -> NDArray[np.intp]:
    """Return the places of the frequent strings, by what their points show and nothing else.

    The largest cohort does not count where there are others: one collision makes nobody frequent.
    """
    cohorts, total = shown.shape[1], shown.sum(axis=1)
    if cohorts > 1:
        total = (total - shown.max(axis=1)) * cohorts / (cohorts - 1)
    floor = _FREQUENT * float(np.sqrt(table.pure.variance(table.n, 0.0)))
    order = np.argsort(-total, kind="stable")[:_MOST_FREQUENT]
    return np.asarray(order[total[order] > floor])


def with_own(tail: Tail, shown: Floats, held: Floats, points: int) -> Floats:
    """Return at most P(random points show as much), own points among them.

    A random string has j of its C points at v's own with probability C(C, j) / K^j at most. These
    hold at most the j largest of what v's points hold, the others what `tail` says.

    Args:
        tail: of points from which what v shows is taken out.
        shown: by each string v.
        held: by the points of each v, strings x cohorts.
        points: K.
    """
    cohorts = held.shape[1]
    chances = tail(shown)
    largest = np.cumsum(-np.sort(-held, axis=1), axis=1)
    for shared in range(1, cohorts + 1):
        log = float(np.log(special.comb(cohorts, shared))) - shared * float(np.log(points))
        more = tail(shown - largest[:, shared - 1]) if shared < cohorts else 1.0
        chances = chances + np.exp(log) * more
    return np.minimum(1.0, chances)


def share_needed(tail: Tail, cohorts: int, points: int, level: float) -> float:
    """Return the share that a string must show for a p-value of at most `level`; at most 1."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        shown = np.array([middle])
        held = np.full((1, cohorts), middle / cohorts)
        if float(with_own(tail, shown, held, points)[0]) <= level:
            high = middle
        else:
            low = middle
    return high


def most_tested(cohorts: int, points: int, alpha: float, most: int) -> int:
    """Return how many strings can be tested together.

    With one cohort no chance is below 1/K, so that of more than alpha K strings none could ever be
    found. With half as many, one may be found although one point of K shows as much.
    """
    return most if cohorts > 1 else max(1, min(most, int(alpha * points / 2)))

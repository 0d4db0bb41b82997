"""The shuffled crowd of a yes or no: its exact delta, the worst over all answers of the others.

Model: E = keep/move, keep + move = 1. If m of the n - 1 others hold x and l hold z, the number of
their reports that say x is N = Bin(m, keep) + Bin(l, move), and the attacker sees N + 1 or N. With
g = e^eps, u = keep - g move and d = g keep - move,

    delta_m(eps) = sum over s of max(0, u P(N = s - 1) - d P(N = s))
                 = max over s of u P(N >= s - 1) - d P(N >= s),

because P(N = s - 1)/P(N = s) rises with s: N is a sum of independent coins, whose law is
log-concave, so that the positive terms are all s from some place on. The promise is the largest
delta_m over m = 0..n - 1; exchanging x and z gives the same numbers in another order.

The worst m depends on epsilon and on n without a reliable pattern, so all m are looked at. Where
they are very many, neighbouring m share the fewest holders of x and the fewest holders of z of any
of them, which is safe because one more report can only hide more.

Numerically: both binomial laws between two places, the probability outside added to delta; the
sums of products by Fourier transforms, whose error is far below the 1e-13 taken against us.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from deniable._distributions import binomial_pmf, binomial_sf
from deniable.privacy.shuffling.binomial_tails import Numbers, middle
from deniable.privacy.shuffling.two_level import Levels

Counts = NDArray[np.int64]

SMALLEST_DELTA = 1e-10
"""Below this the error of Fourier transforms would count."""
MOST_PEOPLE = 10**8
_OUTSIDE = 1e-4
"""The share of delta that is given away to the terms outside of the sums."""
_ERROR = 1e-13
_CROWDS = 400
"""The largest number of crowds looked at; neighbouring m share one, which loses some people."""
_TAILS = 1_000_000
"""The largest number of tail probabilities kept, about."""


class YesNo:
    """delta as a function of epsilon, for one yes or no and crowd.

    Guarantees: exact but for `outside` where every m is looked at, up to 400 people; an upper bound
    beyond, at most 0.4% above up to a million people and 2% up to 10^8.

    Cost: Fourier transforms of about a million numbers, whatever n, and a pass over them for
    each epsilon.

    Args:
        levels: of the mechanism; only cells X and Z.
        people: n, at most 10^8.
        delta: the target, at least 1e-10; it sets the probability that the sums may leave out.
    """

    def __init__(self, levels: Levels, people: int, delta: float) -> None:
        self._move = float(levels.low)
        self._keep = 1 - self._move
        both = 1 + float(levels.ratio)
        self._tail = delta * _OUTSIDE / (4 * both)
        others = people - 1
        wide = 1 + min(others, 16 * math.isqrt(1 + int(others * self._keep * self._move)))
        count = min(others + 1, _CROWDS, max(2, _TAILS // wide))
        ends = np.unique(np.linspace(0, others + 1, count + 1).astype(np.int64))
        self.looked_at_all = len(ends) == others + 2
        self._crowds = self._tails(ends[:-1], others + 1 - ends[1:])
        everybody = np.array([0, others])
        self._real = self._tails(everybody, everybody[::-1])
        # A tail is off by at most two masses outside of one law and one of the other, and
        # u + d = (1 + g)(keep - move) is below 1 + E.
        self.outside = both * (3 * self._tail + _ERROR)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of delta at an epsilon, which no crowd of n exceeds."""
        return max(self._largest(epsilon, self._crowds)) + self.outside

    def attained(self, epsilon: float) -> float:
        """Return a delta that some crowd of n really has.

        Where not every crowd is looked at, only those in which all others agree are compared.
        """
        crowds = self._crowds if self.looked_at_all else self._real
        return max(self._largest(epsilon, crowds)) - self.outside

    def _largest(self, epsilon: float, crowds: list[Numbers]) -> Iterator[float]:
        # delta_m is the maximum over s: the positive terms are all s from some place on, since N is
        # log-concave (module docstring).
        g = math.exp(epsilon)
        up, down = self._keep - g * self._move, g * self._keep - self._move
        for tails in crowds:
            yield float((up * tails[:-1] - down * tails[1:]).max())

    def _tails(self, yes: Counts, no: Counts) -> list[Numbers]:
        """Return P(N >= s) of each crowd, for every s where it is neither 1 nor 0."""
        some = zip(*_ends(yes, self._keep, self._tail), strict=True)
        more = zip(*_ends(no, self._move, self._tail), strict=True)
        rows = zip(yes, no, some, more, strict=True)
        return [self._tails_of(int(m), int(k), *one, *other) for m, k, one, other in rows]

    def _tails_of(self, yes: int, no: int, first: int, last: int, low: int, high: int) -> Numbers:
        width = last - first
        inside = binomial_sf(np.arange(low, high), no, self._move)  # P(>= low + 1 .. high)
        # Outside of these places P is taken as 1 or 0.
        reached = np.concatenate([np.ones(width + 1), inside, np.zeros(width + 1)])
        chances = binomial_pmf(np.arange(first, last + 1), yes, self._keep)
        found = _convolved(reached, chances)
        return np.concatenate([[1.0], np.clip(found, 0.0, 1.0), [0.0]])


def _ends(trials: Counts, probability: float, tail: float) -> tuple[list[int], list[int]]:
    first, last = middle(trials.astype(np.float64), probability, tail)
    return first.astype(np.int64).tolist(), last.astype(np.int64).tolist()


def _convolved(long: Numbers, short: Numbers) -> Numbers:
    """Return their convolution where they overlap wholly, by the fast Fourier transform.

    (As scipy.signal's fftconvolve, whose import takes half a second.)
    """
    size = fft.next_fast_len(len(long) + len(short) - 1, real=True)
    whole = fft.irfft(fft.rfft(long, size) * fft.rfft(short, size), size)
    return np.asarray(whole[len(short) - 1 : len(long)])

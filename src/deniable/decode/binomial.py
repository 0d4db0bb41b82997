"""Exact limits of a binomial probability, and exact tails: no normal approximation at any n.

Model: K ~ Binomial(n, r). The 1 - alpha interval of r holds every r under which neither tail

    P(K >= k; r)   and   P(K <= k; r)

is as small as alpha / 2. Clopper and Pearson's form ("exact") counts the whole probability of k
itself in both tails, and covers at least 1 - alpha at every r. The mid-P form ("mid-p") counts half
of it: its coverage is about 1 - alpha on average over r, and at 95% never below 91.5%.

Numbers need not be whole: a count of n reports that varies phi times as much as a binomial one is
read as k / phi of n / phi reports [KG98].
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from deniable.mechanisms.base import Floats

Form = Literal["mid-p", "exact"]
"""How much of the observed count's own probability the tails of an interval hold."""
FORMS: tuple[Form, ...] = ("mid-p", "exact")
_STEPS = 40
_CLOSE = 1e-7
"""Newton's steps square their error: after a relative step of this size nothing is left to do."""
_NOTHING = 1e-200
_NORMAL = 10_000.0
"""Grains beyond which their sum is normal: its ends are off by less than a hundredth."""
_TRIALS = 1e6
"""Of this number of trials a binomial count of up to 10,000 is as good as a Poisson one."""
_MANY = 100
"""Successes and failures from which a normal quantile is a good start."""


def tail(k: ArrayLike, n: ArrayLike, r: ArrayLike) -> Floats:
    """Return P(K >= k), with all its digits however small it is; 1 at k = 0."""
    count, trials, chance = np.broadcast_arrays(*(np.asarray(x, float) for x in (k, n, r)))
    inside = (count > 0) & (count <= trials)
    # P(K >= k; r) = I_r(k, n - k + 1), the incomplete beta function.
    law = special.betainc(
        np.where(inside, count, 1.0), np.where(inside, trials - count + 1, 1.0), chance
    )
    return np.asarray(np.where(inside, law, np.where(count > trials, 0.0, 1.0)))


def limits(
    k: ArrayLike, n: ArrayLike, alpha: float = 0.05, form: Form = "mid-p"
) -> tuple[Floats, Floats]:
    """Return the two ends of the 1 - alpha interval of r.

    Guarantees: "exact" covers at least 1 - alpha at every r; see the module for "mid-p".

    Cost: each distinct pair (k, n) once, about 20 microseconds.

    Edge cases: the lower end is 0 at k = 0, the upper end 1 at k = n. NaN stays NaN.

    Args:
        k: the numbers of successes, from 0 to n; they need not be whole.
        n: the numbers of trials, positive.
        alpha: 1 less the level.
        form: "mid-p", or "exact" for Clopper and Pearson's.

    Example:
        >>> low, high = limits([0, 5], 10, form="exact")
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([0.0, 0.187], [0.308, 0.813])
    """
    count, trials = np.broadcast_arrays(np.asarray(k, float), np.asarray(n, float))
    pairs, places = np.unique(
        np.stack([count.ravel(), trials.ravel()], axis=1), axis=0, return_inverse=True
    )
    k_, n_ = pairs.T
    # Failures are successes of the other kind: the upper end of r is 1 less the lower end of 1 - r.
    low, high = _lower(k_, n_, alpha, form), 1 - _lower(n_ - k_, n_, alpha, form)
    back = places.reshape(count.shape)
    return low[back], high[back]


def few_people(
    share: Floats, std_error: Floats, people: float | Floats, level: float
) -> tuple[Floats, Floats]:
    """Return how far intervals of shares extend below and above them, whatever the counts.

    The distances of the sample, by exact limits of a binomial count, and of the noise, normal, are
    put together by their squares, each side by itself [ZD08].

    Args:
        share: within 0..1.
        std_error: of the sample and the noise together.
        people: of the sample.
        level: of the intervals.
    """
    z = float(special.ndtri(0.5 + level / 2))
    noise = z * z * np.maximum(std_error**2 - share * (1 - share) / people, 0.0)
    low, high = limits(people * share, people * np.ones_like(share), 1 - level)
    return np.sqrt((share - low) ** 2 + noise), np.sqrt((high - share) ** 2 + noise)


def telling(std_error: Floats, grain: Floats, level: float) -> tuple[Floats, Floats]:
    """Return how far intervals extend below and above estimates that are sums of few grains.

    Model: the estimate is a constant and K grains g, K ~ Poisson(k) with g^2 k its variance. A
    Poisson count is one of a great many trials: its limits are theirs. Where g is below 0 a grain
    takes away, and the ends change places.

    Edge cases: 0 on both sides where K is so large that it is normal, or nothing is known of it.

    Args:
        std_error: of the estimates.
        grain: what a single telling report adds, with its sign.
        level: of the intervals.
    """
    size = np.abs(grain)
    with np.errstate(divide="ignore", invalid="ignore"):
        count = (std_error / size) ** 2
    few = np.isfinite(count) & (count < _NORMAL)
    k = np.where(few, count, 0.0)
    low, high = (_TRIALS * end for end in limits(k, np.full_like(k, _TRIALS), 1 - level))
    down, up = (np.where(few, size * part, 0.0) for part in (k - low, high - k))
    return np.where(grain < 0, up, down), np.where(grain < 0, down, up)


def _lower(k: Floats, n: Floats, alpha: float, form: Form) -> Floats:
    """Return the r at which the upper tail of k is alpha / 2; 0 where it is larger at every r."""
    some = k > 0
    count, trials = np.where(some, k, 1.0), np.where(some, n, 2.0)
    found = np.empty_like(count)
    few = (np.minimum(count, trials - count) < _MANY) | (form == "exact")
    found[few] = special.betaincinv(count[few], trials[few] - count[few] + 1, alpha / 2)
    found[~few] = _score(count[~few], trials[~few], alpha / 2)
    # Of much less than one report every r is possible: r = (alpha / 2)^(1/k) is as good as 0.
    some = some & (found > _NOTHING)
    if form == "mid-p" and some.any():
        found[some] = _newton(count[some], trials[some], alpha / 2, found[some])
    return np.where(some, found, np.where(np.isnan(k), np.nan, 0.0))


def _score(k: Floats, n: Floats, tail: float) -> Floats:
    """Return the r at which k lies a normal quantile above n r."""
    z = float(special.ndtri(tail))
    middle = k + z * z / 2
    return np.asarray((middle + z * np.sqrt(k * (n - k) / n + z * z / 4)) / (n + z * z))


def _newton(k: Floats, n: Floats, wanted: float, start: Floats) -> Floats:
    """Solve [P(K >= k; r) + P(K >= k + 1; r)] / 2 = wanted, from a start that is near.

    The sum's logarithm is a concave rising function of r: after the first of Newton's steps on
    logarithms all others come from one side.
    """
    r, room = start, np.maximum(n - k, 0.0)
    scale = special.betaln(k, room + 1)
    for _ in range(_STEPS):
        above = np.where(room > 0, special.betainc(k + 1, np.maximum(room, 1e-300), r), 0.0)
        both = (special.betainc(k, room + 1, r) + above) / 2
        # d/dr I_r(a, b) = r^(a-1) (1-r)^(b-1) / B(a, b); the second of the two is the first one
        # times r (n - k) / (k (1 - r)).
        first = np.exp(special.xlogy(k - 1, r) + special.xlog1py(room, -r) - scale)
        slope = first * (1 + r * room / (k * np.maximum(1 - r, 1e-300))) / 2
        step = both / slope * np.log(wanted / both)
        r = np.clip(r + step, 1e-300, 1.0)
        if np.nanmax(np.abs(step) / r, initial=0.0) < _CLOSE:
            break
    return np.asarray(r)

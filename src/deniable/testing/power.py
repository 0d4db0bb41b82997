"""The power of negative controls: the probability that a wrong hypothesis is accepted.

A control states this number to `reject`; these are the closed forms for the checks of `statistics`.
"""

from __future__ import annotations

import math

from scipy import stats

from deniable.testing.statistics import proportion


def miss_mean(shift: float, alpha: float) -> float:
    """Return P(`mean` accepts) when the true mean is `shift` standard errors away."""
    # The standardised mean is normal around `shift`; it is accepted within plus or minus limit.
    limit = float(stats.norm.isf(alpha / 2))
    return float(stats.norm.cdf(limit - abs(shift)) - stats.norm.cdf(-limit - abs(shift)))


def miss_chi_square(noncentrality: float, degrees: int, alpha: float) -> float:
    """Return P(a chi-square check accepts), in the normal approximation of large counts.

    For `goodness_of_fit` of n counts the noncentrality is n sum (true - claimed)^2 / claimed; for
    `homogeneity` of n and m counts it is n m / (n + m) sum (one - other)^2 / pooled.
    """
    limit = stats.chi2.isf(alpha, degrees)
    return float(stats.ncx2.cdf(limit, degrees, noncentrality))


def miss_spread(ratio: float, degrees: int, alpha: float) -> float:
    """Return P(`spread` accepts, no tolerance) when true over stated variance is `ratio`."""
    # The statistic is `ratio` times a chi-square variable; its ends are divided by it instead.
    low, high = stats.chi2.ppf(alpha / 2, degrees), stats.chi2.isf(alpha / 2, degrees)
    return float(stats.chi2.cdf(high / ratio, degrees) - stats.chi2.cdf(low / ratio, degrees))


def miss_proportion(true: float, claimed: float, trials: int, alpha: float) -> float:
    """Return P(`proportion` accepts `claimed`, no tolerance) when `true` is the probability.

    Exact up to the far tail: only the end of the accepted range that lies towards `true` counts.

    Cost: about log2(trials) binomial tests.
    """
    inside = math.floor(trials * claimed)
    outside = trials if true > claimed else 0
    if proportion(outside, trials, claimed).p_value >= alpha:
        return 1.0  # nothing on that side is ever rejected
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        if proportion(middle, trials, claimed).p_value >= alpha:
            inside = middle
        else:
            outside = middle
    if true > claimed:
        return float(stats.binom.cdf(inside, trials, true))
    return float(stats.binom.sf(inside - 1, trials, true))

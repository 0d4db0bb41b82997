"""Groups of different people side by side: segments, and the arms of an experiment.

Model: groups are independent of each other. An answer's difference to the reference group has the
sum of both variances. The test over all answers is

    Q = sum_g (f_g - f)' V_g^-1 (f_g - f),   f = (sum V_g^-1)^-1 sum V_g^-1 f_g,

with V_g at the shares of all groups together: a chi-square variable with (G - 1) rank(V) degrees if
the groups do not differ. Without a common covariance the least of the single p-values counts as
often as there are tests (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable._distributions import chi2_sf, normal_isf, normal_sf
from deniable.decode.significance import holm_adjusted
from deniable.groups.together import Groups
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Compared:
    """Differences to the reference group, a row per other group, a column per answer.

    Attributes:
        difference: share in the group less share in the reference group.
        std_error: of it.
        low, high: the ends of each 95% interval by itself.
        p_value: of "no difference" for each by itself.
        adjusted: the same adjusted for all of them (Holm).
        statistic, degrees, overall: of the test that no answer differs between any groups.
    """

    difference: Floats
    std_error: Floats
    low: Floats
    high: Floats
    p_value: Floats
    adjusted: Floats
    statistic: float
    degrees: int
    overall: float


def compare_groups(groups: Groups, *, alpha: float = 0.05) -> Compared:
    """Compare every group with the first one.

    Accuracy: normal; with few supporting reports intervals are rough.
    """
    difference = groups.shares[1:] - groups.shares[0]
    error = np.sqrt(groups.variance[1:] + groups.variance[0])
    half = float(normal_isf(alpha / 2)) * error
    p_value = 2 * normal_sf(np.abs(difference) / error)
    adjusted = holm_adjusted(p_value.ravel()).reshape(p_value.shape)
    tests = (difference, error, difference - half, difference + half, p_value, adjusted)
    return Compared(*tests, *_overall(groups, p_value))


def _overall(groups: Groups, p_value: Floats) -> tuple[float, int, float]:
    each = groups.covariances if groups.noise is None else covariances(groups)
    if not each or not np.isfinite(groups.shares).all():
        known = p_value[np.isfinite(p_value)]
        if not known.size:
            return float("nan"), 0, float("nan")
        least = float(known.min())
        return float(normal_isf(least / 2)) ** 2, 1, min(1.0, known.size * least)
    inverses = [np.linalg.pinv(one, hermitian=True) for one in each]
    mean = np.linalg.pinv(sum(inverses), hermitian=True) @ sum(
        inverse @ share for inverse, share in zip(inverses, groups.shares, strict=True)
    )
    about = groups.shares - mean
    statistic = sum(float(d @ inverse @ d) for d, inverse in zip(about, inverses, strict=True))
    degrees = (len(inverses) - 1) * int(np.linalg.matrix_rank(inverses[0], hermitian=True))
    return statistic, degrees, float(chi2_sf(statistic, degrees))


def covariances(groups: Groups) -> list[Floats]:
    """Return the covariance of every group's shares, at the shares of all groups together."""
    noise = np.zeros_like(groups.sample) if groups.noise is None else groups.noise
    return [
        np.asarray((a * noise + b * groups.sample) / n)
        for n, (a, b) in zip(groups.sizes, groups.factors, strict=True)
    ]

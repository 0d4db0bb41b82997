"""One answer from several groups that ask the same under other noise: versions, and levels.

Model: unbiased shares f_g with covariances V_g, evaluated at the shares of all groups together:

    f = (sum V_g^-1)^-1 sum V_g^-1 f_g,

on the space that the covariances span. Levels are chosen by different people and are independent.
Versions may be answered by the same people: then the sample's part is shared by those who are in
both, c_gh = o_gh / (n_g n_h), which widens the error and leaves the weights.

Answers that have no covariance in common (strings, sets, profiles) are pooled one by one, and the
test that groups agree is the least of theirs, which counts as often as there are answers
(Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable._distributions import chi2_sf
from deniable.mechanisms.base import Floats


@dataclass(frozen=True)
class Pooled:
    """Pooled shares.

    Attributes:
        shares, variance: of all groups together.
        weights: of every group: a matrix, or a number for each answer where these are pooled one
            by one.
        statistic, degrees, p_value: of the test that the groups agree.
        covariance: of the shares; None where answers are pooled one by one.
    """

    shares: Floats
    variance: Floats
    weights: tuple[Floats, ...]
    statistic: float
    degrees: int
    p_value: float
    covariance: Floats | None = None


def pool_groups(
    shares: Sequence[Floats],
    covariances: Sequence[Floats],
    sample: Floats | None = None,
    common: Floats | None = None,
) -> Pooled:
    """Pool groups of reports to the same answers.

    Args:
        shares: the unbiased shares of each group.
        covariances: their covariances, of the population.
        sample: the covariance of one person's answer, where the same people may be in several
            groups; None where they are different people.
        common: c_gh of every two groups; the diagonal is not read.

    Guarantees: errors are never too small, whoever is in several groups.
    """
    inverses = [np.linalg.pinv(one, hermitian=True) for one in covariances]
    whole = np.linalg.pinv(sum(inverses), hermitian=True)
    weights = tuple(whole @ inverse for inverse in inverses)
    found = sum(weight @ share for weight, share in zip(weights, shares, strict=True))
    # What the covariances do not span (the sum of all shares) is the same in every group.
    span = whole @ np.linalg.pinv(whole, hermitian=True)
    found = found + (np.eye(len(span)) - span) @ np.mean(shares, axis=0)
    covariance = whole.copy()
    if sample is not None and common is not None:
        for g, one in enumerate(weights):
            for h, other in enumerate(weights):
                if g != h:
                    covariance += common[g, h] * one @ sample @ other.T
    about = [share - found for share in shares]
    statistic = sum(float(d @ inverse @ d) for d, inverse in zip(about, inverses, strict=True))
    degrees = (len(shares) - 1) * int(np.linalg.matrix_rank(whole, hermitian=True))
    covariance = np.asarray((covariance + covariance.T) / 2)
    return Pooled(
        np.asarray(found),
        np.maximum(covariance.diagonal(), 0.0),
        weights,
        statistic,
        degrees,
        float(chi2_sf(statistic, max(1, degrees))) if degrees else 1.0,
        covariance,
    )


def pool_each(
    shares: Sequence[Floats],
    variances: Sequence[Floats],
    sample: Floats | None = None,
    common: Floats | None = None,
    *,
    alike: bool = False,
) -> Pooled:
    """Pool groups answer by answer.

    Args:
        shares: the unbiased shares of each group; NaN where one knows nothing about an answer.
        variances: of them, of the population.
        sample: the variance of one person's answer; see `pool_groups`.
        common: see `pool_groups`.
        alike: give a group one weight for all answers, so that shares that add up to 1 in every
            group do so in all together.

    Edge cases: NaN where no group knows anything about an answer.
    """
    f, v = np.stack(shares), np.stack(variances)
    known = np.isfinite(f) & np.isfinite(v) & (v > 0)
    spread = np.where(known, v, np.nan)
    if alike:
        mean = np.where(known, v, 0.0).sum(1) / np.maximum(known.sum(1), 1)
        spread = np.where(known, mean[:, None], np.nan)
    precision = np.where(known, 1 / spread, 0.0)
    total = precision.sum(0)
    weights = np.divide(precision, total, out=np.zeros_like(precision), where=total > 0)
    held, errors = np.where(known, f, 0.0), np.where(known, v, 0.0)
    found = np.where(total > 0, (weights * held).sum(0), np.nan)
    variance = np.where(total > 0, (weights**2 * errors).sum(0), np.nan)
    if sample is not None and common is not None:
        apart = common - np.diag(np.diag(common))
        variance = variance + np.einsum("gv,gh,hv->v", weights, apart, weights) * sample
    about = np.where(known, (f - np.nan_to_num(found)) ** 2 / np.where(known, v, 1.0), 0.0)
    degrees = np.maximum(known.sum(0) - 1, 0)
    statistics, tested = about.sum(0), degrees > 0
    p_values = np.where(tested, chi2_sf(statistics, np.maximum(degrees, 1)), 1.0)
    least = int(np.argmin(p_values)) if p_values.size else 0
    p_value = min(1.0, int(tested.sum()) * float(p_values[least])) if tested.any() else 1.0
    deciding = (float(statistics[least]), int(degrees[least])) if tested.any() else (0.0, 0)
    return Pooled(found, variance, tuple(weights), *deciding, p_value)

"""One answer from several groups that ask the same under other noise: versions, and levels.

Model: unbiased shares f_g with covariances V_g, evaluated at the shares of all groups together:

    f = (sum V_g^-1)^-1 sum V_g^-1 f_g,

on the space that the covariances span. Levels are chosen by different people and are independent.
Versions may be answered by the same people: then the sample's part is shared by at most
min(n_g, n_h) of them, which widens the error and leaves the weights.
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
        shares, covariance: of all groups together.
        statistic, degrees, p_value: of the test that the groups agree.
    """

    shares: Floats
    covariance: Floats
    statistic: float
    degrees: int
    p_value: float


def pool_groups(
    shares: Sequence[Floats],
    covariances: Sequence[Floats],
    sizes: Sequence[float],
    sample: Floats | None = None,
) -> Pooled:
    """Pool groups of reports to the same answers.

    Args:
        shares: the unbiased shares of each group.
        covariances: their covariances, of the population.
        sizes: the numbers of reports.
        sample: the covariance of one person's answer, where the same people may be in several
            groups; None where they are different people.

    Guarantees: errors are never too small, whoever is in several groups.
    """
    inverses = [np.linalg.pinv(one, hermitian=True) for one in covariances]
    whole = np.linalg.pinv(sum(inverses), hermitian=True)
    weights = [whole @ inverse for inverse in inverses]
    found = sum(weight @ share for weight, share in zip(weights, shares, strict=True))
    # What the covariances do not span (the sum of all shares) is the same in every group.
    span = whole @ np.linalg.pinv(whole, hermitian=True)
    found = found + (np.eye(len(span)) - span) @ np.mean(shares, axis=0)
    covariance = whole.copy()
    if sample is not None:
        for g, one in enumerate(weights):
            for h, other in enumerate(weights):
                if g != h:  # min(n_g, n_h) / (n_g n_h) people are in both at most
                    covariance += one @ sample @ other.T / max(sizes[g], sizes[h])
    about = [share - found for share in shares]
    statistic = sum(float(d @ inverse @ d) for d, inverse in zip(about, inverses, strict=True))
    degrees = (len(shares) - 1) * int(np.linalg.matrix_rank(whole, hermitian=True))
    return Pooled(
        np.asarray(found),
        np.asarray((covariance + covariance.T) / 2),
        statistic,
        degrees,
        float(chi2_sf(statistic, max(1, degrees))) if degrees else 1.0,
    )

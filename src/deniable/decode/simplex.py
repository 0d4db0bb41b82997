"""From unbiased frequencies to a distribution: four simple ways, none of them unbiased any more.

Keep the unbiased values with their intervals for single answers; use one of these where the whole
distribution is wanted (charts, sums over sets of answers).
"""

from __future__ import annotations

import numpy as np

from deniable import _validate
from deniable._distributions import normal_isf
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats


def normalise(frequency: Floats) -> Floats:
    """Clip at 0 and divide by the sum [KBR16].

    Edge cases: if nothing is positive, the uniform distribution.

    Example:
        >>> normalise(np.array([0.9, 0.3, -0.2])).round(6).tolist()
        [0.75, 0.25, 0.0]
    """
    clipped = np.maximum(_checked(frequency), 0.0)
    total = clipped.sum()
    return clipped / total if total > 0 else np.full(clipped.size, 1 / clipped.size)


def project(frequency: Floats, total: float = 1.0) -> Floats:
    """Return the nearest distribution in Euclidean distance ("Norm-Sub").

    It subtracts one number from every entry and clips at 0, the number such that the sum is
    right. With the values sorted downwards, v_(1) >= v_(2) >= ..., the number of positive entries
    is the largest j with v_(j) > (v_(1) + ... + v_(j) - total) / j.

    Guarantees: never further from any distribution, so also from the true one, than the input.

    Cost: one sort.

    Example:
        >>> project(np.array([0.7, 0.5, -0.2])).round(6).tolist()
        [0.6, 0.4, 0.0]
    """
    values = _checked(frequency)
    _validate.positive("total", "project", total)
    ordered = np.sort(values)[::-1]
    # Lagrange: the nearest x has x_i = max(v_i - t, 0) for one t. With j entries positive their
    # sum, v_(1) + ... + v_(j) - j t, is the total, so that t is the j-th of these levels.
    levels = (np.cumsum(ordered) - total) / np.arange(1, values.size + 1)
    positive = int(np.flatnonzero(ordered > levels)[-1])
    projected: Floats = np.maximum(values - levels[positive], 0.0)
    return projected


def project_at_most(frequency: Floats, total: float = 1.0) -> Floats:
    """Return the nearest shares that are at least 0 and sum to at most `total`.

    For lists that need not be complete. Entries that are NaN stay so and count as 0.
    """
    shares = np.array(frequency, dtype=np.float64)
    known = np.isfinite(shares)
    clipped = np.maximum(shares[known], 0.0)
    shares[known] = project(shares[known], total) if clipped.sum() > total else clipped
    return shares


def base_cut(frequency: Floats, std_error: Floats, alpha: float = 0.05) -> Floats:
    """Set to 0 what does not exceed Phi^-1(1 - alpha / k) standard errors; keep the rest.

    Guarantees: an answer that nobody gave survives with probability at most alpha / k, so that
    with probability at least 1 - alpha none does. The result need not sum to 1.
    """
    values = _checked(frequency)
    if not 0 < _validate.probability("alpha", "base_cut", alpha) < 1:
        raise _validate.invalid("alpha", "base_cut", "a number between 0 and 1", alpha)
    return np.where(values > normal_isf(alpha / values.size) * std_error, values, 0.0)


def _checked(frequency: Floats) -> Floats:
    values = np.asarray(frequency, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise InvalidParameter(
            "Frequencies to make a distribution of must be a flat array of finite numbers, at "
            "least one. Leave out what is not identifiable first."
        )
    return values

"""The likelihood of a report under a profile: the chance of each bit, or symbol, of each cohort.

Model: a string sets few bits, so that its bits are not independent. Given that it sets d bits (P(d)
as in drawn_bits.py), the set s1..sd is taken as likely as the product of w_s = r_js - p* over it.
With x_s = w_s A where bit s is reported and w_s B where it is not, a record is p*'s alone times

    sum_d P(d) e_d(x) / e_d(w),    d e_d = sum_{i=1..d} (-1)^(i-1) e_{d-i} S_i,  S_i = sum_s x_s^i

(e_d are the elementary symmetric polynomials, by Newton's identities).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import special

from deniable.mechanisms import Rappor
from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.drawn_bits import distinct_bits, unlisted_bits

LogLikelihood = Callable[[Reports, int], Floats]
"""From records, and the place of the first of them among all reports, to log-likelihoods."""

MOST_SET = 4
"""Hash functions up to which a string's bits are taken as a set, not one by one."""
NO_SETS = 1e-12
"""A sum of weights below which there are no sets."""


def ones_of(packed: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the number of bits that each record has."""
    return np.asarray(np.bitwise_count(packed).sum(axis=1, dtype=np.int64))


def bits_column(mechanism: Rappor) -> Callable[[Floats], LogLikelihood]:
    """Return the likelihood of Bloom bits under a profile, a row of chances per cohort."""
    shape, pure = mechanism.parameters, mechanism.pure
    even = unlisted_bits(shape.bits, shape.hashes, pure) - np.log(shape.cohorts)

    def column(profile: Floats) -> LogLikelihood:
        if np.ptp(profile) < NO_SETS:
            return lambda records, _: even[ones_of(records["bits"])]
        if shape.hashes > MOST_SET:
            return independent_bits(profile, shape.cohorts)
        ones = np.arange(shape.bits + 1)
        base = special.xlogy(ones, pure.q) + special.xlog1py(shape.bits - ones, -pure.q)
        mixed = _mixed_sets(mechanism, profile)
        return lambda records, _: np.asarray(
            base[ones_of(records["bits"])] + np.log(mixed(records)) - np.log(shape.cohorts)
        )

    return column


def _mixed_sets(mechanism: Rappor, profile: Floats) -> Callable[[Reports], Floats]:
    """Return sum_d P(d) e_d(x) / e_d(w) of records; see the module."""
    # Imported here because Numba takes most of a second to load and few commands need it.
    from deniable.kernels.byte_sums import summed_bits

    shape, pure = mechanism.parameters, mechanism.pure
    weights = np.maximum(profile - pure.q, 0.0)
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    up, down = pure.p / pure.q, (1 - pure.p) / (1 - pure.q)
    most = shape.hashes
    powers = [weights ** (i + 1) for i in range(most)]
    whole = _symmetric([each.sum(axis=1) for each in powers])
    # A cohort whose profile has fewer bits than d has no such sets.
    chances = np.where(whole > NO_SETS, distinct_bits(shape.bits, most)[:, None], 0.0)
    chances /= chances.sum(axis=0)

    def mixed(records: Reports) -> Floats:
        cohorts = records["cohort"]
        sums = [
            summed_bits(records["bits"], cohorts, (up**i - down**i) * each)
            + (down**i * each.sum(axis=1))[cohorts]
            for i, each in enumerate(powers, 1)
        ]
        parts = chances / np.maximum(whole, NO_SETS)
        found = (np.maximum(_symmetric(sums), 0.0) * parts[:, cohorts]).sum(axis=0)
        return np.asarray(np.maximum(found, down**most))

    return mixed


def _symmetric(sums: Sequence[Floats]) -> Floats:
    """Return e_0, e_1, ... from the power sums S_1, S_2, ...: Newton's identities."""
    found = [np.ones_like(sums[0])]
    for d in range(1, len(sums) + 1):
        signed = ((-1) ** (i - 1) * found[d - i] * sums[i - 1] for i in range(1, d + 1))
        found.append(np.asarray(sum(signed)) / d)
    return np.array(found)


def independent_bits(profile: Floats, cohorts: int) -> LogLikelihood:
    """Return the law of independent bits, which that of many of them is nearly.

    ln P = sum over bits of ln(1 - r), plus ln(r/(1 - r)) where a bit is set, less ln m.
    """
    from deniable.kernels.byte_sums import summed_bits

    odds = np.log(profile) - np.log1p(-profile)
    base = np.log1p(-profile).sum(axis=1) - np.log(cohorts)
    return lambda records, _: np.asarray(
        summed_bits(records["bits"], records["cohort"], odds) + base[records["cohort"]]
    )


def symbol_column(profile: Floats) -> LogLikelihood:
    """Return the likelihood of symbols under a profile, a row of probabilities per cohort."""
    logs = np.log(profile) - np.log(len(profile))
    return lambda records, _: np.asarray(logs[records["cohort"], records["symbol"]])

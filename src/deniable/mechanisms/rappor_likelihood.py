"""Likelihoods of RAPPOR reports: every bit as if not held, then the correction of the answer's own.

Model: with s bits set among k, b of them among the d bits that the answer sets,

    ln P(bits | answer) = s ln p* + (k - s) ln(1 - p*)
                        + b ln(q*/p*) + (d - b) ln((1 - q*)/(1 - p*)).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats, Reports
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.packed import PackedAnswers, digit_values

Places = NDArray[np.int32]


def distinct_places(bits: NDArray[np.int64]) -> Places:
    """Return bits with -1 for each that an earlier hash function of the answer has set already."""
    places = bits.astype(np.int32)
    for h in range(1, places.shape[-1]):
        repeated = (places[..., :h] == places[..., h : h + 1]).any(axis=-1)
        places[..., h][repeated] = -1
    return places


def log_likelihood(pure: Pure, bits: int, records: Reports, places: Places) -> Floats:
    """Return ln P(bits | answer), a row per report, a column per answer.

    Cost: O(n M h) look-ups for M answers; a row of M numbers per report.

    Args:
        pure: q* for p and p* for q.
        bits: k.
        records: with a cohort and packed bits.
        places: the bits of each answer in each cohort, -1 for none.
    """
    # Imported here because Numba takes most of a second to load and few commands need it.
    from deniable.kernels.matching_bits import matching_bits

    both = matching_bits(records["bits"], records["cohort"], places)
    seen = np.bitwise_count(records["bits"]).sum(axis=1, dtype=np.int64)
    p, q = pure.q, pure.p
    background = seen * np.log(p) + (bits - seen) * np.log1p(-p)
    # b one + (d - b) zero = b (one - zero) + d zero: a table over b, and a constant per answer.
    one, zero = np.log(q / p), np.log1p(-q) - np.log1p(-p)
    values = np.arange(places.shape[2] + 1) * (one - zero)
    distinct = (places >= 0).sum(axis=2)
    result: Floats = values.take(both)
    result += background[:, None]
    if np.all(distinct == distinct[0, 0]):
        result += zero * distinct[0, 0]
    else:
        result += zero * distinct[records["cohort"]]
    return result


def packed_matches(pure: Pure, records: Reports, places: Places) -> PackedAnswers:
    """Return each answer's number of matching bits as digits, with the same likelihoods.

    With l = `pure.least` and h bits per answer an answer with b of its d distinct bits set has
    likelihood l^(h - b) times ((1 - p*)/(1 - q*))^(h - d), but for the report's own factor.

    Cost: O(n M h) look-ups for M answers; a byte per report and 5 answers for h = 2.

    Args:
        pure: q* for p and p* for q.
        records: with a cohort and packed bits.
        places: the bits of each answer in each cohort, -1 for none.
    """
    from deniable.kernels.matching_bits import matching_digits

    hashes = places.shape[2]
    # Each of the h - b bits that do not match costs a factor l; the h - d that do not exist
    # must cost nothing, and `scale` gives back what l counts for them.
    values = digit_values(pure.least ** np.arange(hashes, -1.0, -1.0))
    missing = hashes - (places >= 0).sum(axis=2)
    scale = ((1 - pure.q) / (1 - pure.p)) ** missing
    cohorts = np.ascontiguousarray(records["cohort"])
    packed = matching_digits(records["bits"], cohorts, places, values.shape[1])
    return PackedAnswers(packed, values, scale, cohorts)

"""Bits that h hash functions choose: what a report of them says about a string nobody knows.

Model: h uniform draws among k bits give d distinct ones with probability

    P_i(d) = P_(i-1)(d) d/k + P_(i-1)(d-1) (k - d + 1)/k,    P_0(0) = 1,

and any d of the k are as likely. With A = q*/p* and B = (1 - q*)/(1 - p*), the factors that an own
bit has where it is reported and where it is not, a report with w ones has the probability

    p*^w (1 - p*)^(k - w) sum_d P(d) sum_j C(w, j) C(k - w, d - j) / C(k, d) A^j B^(d - j).

Bits that were independent, each with the same chance, would be another law: at a large epsilon a
report without any one is half as likely as they say, and shares that are fitted to them are biased.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from deniable.mechanisms.base import Floats
from deniable.mechanisms.closed_form import Pure


def distinct_bits(bits: int, hashes: int) -> Floats:
    """Return the probabilities that h uniform draws among k bits give 0, 1, ..., h distinct ones.

    Example:
        >>> distinct_bits(4, 2).tolist()
        [0.0, 0.25, 0.75]
    """
    number = np.arange(hashes + 1)
    found: Floats = (number == 0).astype(np.float64)
    for _ in range(hashes):
        again = found * number / bits
        again[1:] += found[:-1] * (bits - number[:-1]) / bits
        found = np.maximum(again, 0.0)
    return found


def unlisted_bits(bits: int, hashes: int, pure: Pure) -> Floats:
    """Return ln P(report | a string nobody knows), by its number of ones from 0 to k."""
    ones = np.arange(bits + 1)
    base = special.xlogy(ones, pure.q) + special.xlog1py(bits - ones, -pure.q)
    up, down = pure.p / pure.q, (1 - pure.p) / (1 - pure.q)
    mixed = np.zeros(bits + 1)
    for number, chance in enumerate(distinct_bits(bits, hashes)):
        if chance > 0:
            hits = np.arange(number + 1)[:, None]
            ways = special.comb(ones, hits) * special.comb(bits - ones, number - hits)
            terms = ways / special.comb(bits, number) * up**hits * down ** (number - hits)
            mixed += chance * terms.sum(axis=0)
    return np.asarray(base + np.log(mixed))

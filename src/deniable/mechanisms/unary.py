"""Mechanisms that report one bit per place, for whole populations: noise, likelihood, estimate.

Model: a reported bit is 1 with probability p where the answer sets it and q where it does not,
independently of the other bits (`Pure`).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from deniable.mechanisms.base import LARGEST_COVARIANCE, Estimate, Floats
from deniable.mechanisms.bitmaps import Packed
from deniable.mechanisms.chances import estimated
from deniable.mechanisms.closed_form import Pure
from deniable.mechanisms.coins import coins, nearest_threshold
from deniable.protocol.unary import UnaryParameters


def noisy_bits(held: NDArray[np.int64], parameters: UnaryParameters, rng: Generator) -> Packed:
    """Return packed reports of people whose answers set the bits `held`, a row each.

    Guarantees: each bit's probability is within 2^-64 of the client's.

    Cost: O(rows k) time and memory: pass some rows at a time.

    Edge cases: a number outside 0..k-1 sets no bit. A bit that a row names twice is drawn twice,
    and one of the draws stays: still one coin.
    """
    rows, bits = len(held), parameters.bits
    noise = coins(rng, nearest_threshold(parameters.p_star), rows * bits)
    places = (np.arange(rows) * bits)[:, None] + held
    kept = places[(held >= 0) & (held < bits)]
    noise[kept] = coins(rng, nearest_threshold(parameters.q_star), kept.size)
    return np.packbits(noise.reshape(rows, bits), axis=1, bitorder="little")


def log_likelihood(pure: Pure, ones: Floats, held: Floats) -> Floats:
    """Return ln P(bits | candidate's bits): every bit as if not held, then the correction.

    Args:
        pure: the two probabilities.
        ones: reports, a row of 0 and 1 each.
        held: the bits that each candidate sets, a row of 0 and 1 each.
    """
    # RAPPOR's letters from here: q for a bit that is set, p for one that is not.
    p, q = pure.q, pure.p
    seen = ones.sum(axis=1)[:, None]
    both = ones @ held.T
    only_held = held.sum(axis=1)[None, :] - both
    # Every bit as if nobody set it, then ln of the ratio where the candidate does.
    background = seen * np.log(p) + (ones.shape[1] - seen) * np.log1p(-p)
    correction = both * np.log(q / p) + only_held * (np.log1p(-q) - np.log1p(-p))
    return np.asarray(background + correction)


def members_log_likelihood(pure: Pure, ones: Floats, held: NDArray[np.int64]) -> Floats:
    """Return ln P(bits | set), each set a row of bits; numbers outside 0..k-1 set none."""
    rows = np.zeros((len(held), ones.shape[1] + 1))
    outside = (held < 0) | (held >= ones.shape[1])
    rows[np.arange(len(held))[:, None], np.where(outside, ones.shape[1], held)] = 1.0
    return log_likelihood(pure, ones, rows[:, :-1])


def estimate_bits(pure: Pure, share: Floats, n: int, labels: tuple[str, ...]) -> Estimate:
    """Return the unbiased frequency of every bit, from the share of the reports that have it.

    Bits are independent given the people's values, so that the covariance is diagonal; above
    4,096 bits it is None.
    """
    variance = pure.variance_observed(share, n)
    kept = np.diag(variance) if len(labels) <= LARGEST_COVARIANCE else None
    return estimated(pure, share, n, labels, kept)

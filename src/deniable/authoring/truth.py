"""The threshold of telling the truth that spends a wanted epsilon, rounded inwards.

Model: as in `protocol/truth_thresholds.py`: the largest ratio of probabilities is
odds * t / (1 - t). k-RR has odds k - 1, a coin has odds 1, a set of c among K reports has odds
(K - c) / c.
"""

from __future__ import annotations

from fractions import Fraction

from deniable.protocol import epsilon
from deniable.protocol.thresholds import floor_threshold
from deniable.protocol.truth_thresholds import truth_ratio


def truth_threshold(odds: Fraction | int, micros: int) -> int:
    """Return the largest threshold t with odds * t / (1 - t) <= exp(micros / 1e6)."""
    e = epsilon.exp_micros(micros)
    # odds * t / (1 - t) = e at t = e / (e + odds); the loop makes up for the rounding of e.
    truth = floor_threshold(e / (e + odds))
    while not epsilon.within(truth_ratio(odds, truth), micros):
        truth -= 1
    return truth

"""Noise of one string: the smallest count that can be told from nothing."""

from __future__ import annotations

import math

from deniable.mechanisms import Rappor


def std_error_of_count(mechanism: Rappor, reports: int) -> float:
    """Return sqrt(p* (1 - p*) N / h) / (q* - p*), of the estimated count of a rare string.

    It is that of a string by itself: of h bits that no other string sets. The standard deviations
    that [EPK14] prints in tables 1 and 2 are this number.
    """
    parameters = mechanism.parameters
    q, p = float(parameters.q_star), float(parameters.p_star)
    return math.sqrt(p * (1 - p) * reports / parameters.hashes) / (q - p)

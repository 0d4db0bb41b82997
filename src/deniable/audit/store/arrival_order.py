"""Tests that the order of records in a store does not disclose their order of arrival.

Model: n records arrive as 0, 1, ..., n - 1 and are read in some order. If that order is a uniform
permutation, then

- the sum over places of (place - mean)(arrival - mean) has mean 0 and variance S^2 / (n - 1), with
  S = n (n^2 - 1) / 12 (Spearman's rank correlation, scaled);
- the number of neighbours in rising order has mean (n - 1)/2 and variance (n + 1)/12;
- a record is followed by the one that came next with probability 1/n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deniable.audit.hypotheses import Check, mean, proportion


def order_checks(sequences: Sequence[Sequence[int]]) -> list[Check]:
    """Test that arrivals, as read from a store, are in uniformly random order.

    Args:
        sequences: each a permutation of its own numbers, independent of the others; arrivals need
            not be numbered from 0, only in order.

    Accuracy: normal approximations, good from some hundred records in all on.
    """
    ranks = [np.argsort(np.argsort(np.asarray(one))) for one in sequences if len(one) > 1]
    correlation = spread = rises = rises_spread = successors = neighbours = 0.0
    expected = 0.0
    for order in ranks:
        n = len(order)
        centre = (n - 1) / 2
        # Moments of a uniform permutation, as in the module docstring; those of sequences add up.
        correlation += float(((np.arange(n) - centre) * (order - centre)).sum())
        spread += (n * (n * n - 1) / 12) ** 2 / (n - 1)
        steps = np.diff(order)
        rises += float((steps > 0).sum()) - (n - 1) / 2
        rises_spread += (n + 1) / 12
        successors += float((steps == 1).sum())
        neighbours += n - 1
        expected += (n - 1) / n
    return [
        mean(correlation, 0.0, math.sqrt(spread)),
        mean(rises, 0.0, math.sqrt(rises_spread)),
        proportion(int(successors), int(neighbours), expected / neighbours),
    ]


def group_check(sequence: Sequence[int], group: int) -> Check:
    """Test that neighbours in a store came in one group no more often than by chance.

    Args:
        sequence: arrivals as read, all of them, numbered from 0.
        group: the number of records that arrived together.
    """
    groups = np.asarray(sequence) // group
    together = int((np.diff(groups) == 0).sum())
    return proportion(together, len(groups) - 1, (group - 1) / (len(groups) - 1))

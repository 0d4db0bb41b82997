"""From an estimate and its error to an interval that covers.

Each interval is about one frequency by itself. It is symmetric around the unbiased estimate and
is not clipped to 0..1: clipping would hide how much of an estimate is noise, and a clipped value
is biased.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from deniable.results.words import Z

Floats = NDArray[np.float64]


def normal_intervals(frequency: Floats, std_error: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the 95% intervals; NaN where the error is NaN.

    Accuracy: an estimate is a sum over many independent reports, so that the normal interval
    covers 95% from a few hundred reports on; statistical tests measure it.
    """
    return frequency - Z * std_error, frequency + Z * std_error


def repeat_factor(reports_per_epoch: Iterable[int]) -> float:
    """Return the factor by which errors may grow when devices report in several epochs.

    Model: the permanent part of a device's noise is the same in all its reports, so that it does
    not average out over epochs. The pooled estimate is the mean of the epochs' estimates weighted
    by their reports n_e; however dependent they are,

        sd(sum_e n_e/n x_e) <= sum_e n_e/n sd(x_e) = sd_pooled * sum_e sqrt(n_e) / sqrt(n)

    because sd(x_e) = c / sqrt(n_e), with sd_pooled = c / sqrt(n) the error of n independent
    reports.

    Guarantees: from 1 (one epoch) to the square root of the number of epochs (equal ones);
    multiplied with it, standard errors are never too small.
    """
    counts = [count for count in reports_per_epoch if count > 0]
    if not counts:
        return 1.0
    return max(1.0, sum(map(sqrt, counts)) / sqrt(sum(counts)))

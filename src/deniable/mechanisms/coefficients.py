"""Coefficients for whole populations; see protocol/coefficients.py and profile_signs.py."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.random import Generator

from deniable.mechanisms.base import Codes, Floats
from deniable.mechanisms.coins import coins
from deniable.mechanisms.contrast_matrices import contrast_matrix, walsh_matrix
from deniable.mechanisms.profile_signs import SignMechanism
from deniable.protocol import thresholds
from deniable.protocol.coefficients import CoefficientsParameters
from deniable.protocol.profile_selection import Selection


class Coefficients(SignMechanism):
    """One orthogonal function of 1 to k attributes, drawn by the best allocation.

    In the basis "contrasts" an attribute has its own answers and no impossible codes.
    """

    parameters_type = CoefficientsParameters
    parameters: CoefficientsParameters

    @property
    def inner(self) -> tuple[int, ...]:
        """The answers themselves for contrasts, codes in binary for the Walsh functions."""
        return self.answers if self.parameters.basis == "contrasts" else super().inner

    @property
    def _selection(self) -> Selection:
        return self.parameters.selection

    def _matrix(self, attribute: int) -> Floats:
        size = self.inner[attribute]
        return contrast_matrix(size) if self.parameters.basis == "contrasts" else walsh_matrix(size)

    def _drawn(self, count: int, rng: Generator) -> Codes:
        """Draw the order by the published thresholds, then a coefficient of it uniformly."""
        firsts = self.coefficients.firsts
        drawn, left = np.empty(count, dtype=np.int64), np.arange(count)
        for place, threshold in enumerate((*self.parameters.orders, thresholds.ONE)):
            taken = coins(rng, threshold, left.size)
            rows = left[taken]
            drawn[rows] = rng.integers(firsts[place], firsts[place + 1], size=rows.size)
            left = left[~taken]
        return drawn

    @cached_property
    def shares(self) -> Floats:
        """The probability of each order 1..k."""
        # Coins one after the other: an order is drawn if its own coin is the first to succeed.
        left, result = 1.0, []
        for threshold in self.parameters.orders:
            share = float(thresholds.as_fraction(threshold))
            result.append(left * share)
            left *= 1 - share
        return np.array([*result, left])

    @property
    def _share_of_first(self) -> float:
        return float(self.shares[0]) / self.parameters.counts[0]

    def _probability(self, drawn: Codes) -> Floats:
        firsts = np.array(self.coefficients.firsts)
        # Within an order the coefficients are drawn uniformly.
        each = self.shares / np.diff(firsts)
        return np.asarray(each[np.searchsorted(firsts, drawn, side="right") - 1])

"""The spread of crafted reports over parts that add up: the one that shifts the sum most.

Model: a share W_a of honest reports is about part a of a sum, and crafted reports alone would shift
the part by D_a. With b the share of crafted reports and b_a of those about a, the shift is

    sum_a D_a b_a/(b_a + V_a),    V_a = W_a (1 - b),

a concave function, whose maximum under sum_a b_a = b has the b_a + V_a in proportion to
sqrt(D_a V_a), over those a of the largest D_a/V_a for which this b_a is positive.
"""

from __future__ import annotations

import numpy as np

from deniable.mechanisms.base import Floats

_TINY = 1e-300
"""A divisor in place of 0 where a part has no honest reports at all."""


def spread_shift(worth: Floats, about: Floats, crafted: float) -> float:
    """Return the shift of a sum of parts by crafted reports that spread over them best."""
    if crafted == 0 or not worth.any():
        return 0.0
    spread = best_spread(worth, about, crafted)
    there = spread + about * (1 - crafted)
    # A part that moves nothing may have no reports at all where every report is crafted.
    moved = np.divide(worth * spread, there, out=np.zeros_like(worth), where=worth > 0)
    return float(np.sum(moved))


def best_spread(worth: Floats, about: Floats, crafted: float) -> Floats:
    """Return b_a, the crafted reports on each part, for the spread that shifts the sum most.

    Args:
        worth: D_a, the shift of each part if only crafted reports are about it.
        about: W_a, the share of honest reports about it.
        crafted: b, the sum of all b_a.
    """
    # Water filling: the parts of the largest D_a/V_a, as long as b_a is positive, with b_a + V_a in
    # proportion to sqrt(D_a V_a) (module docstring).
    honest = about * (1 - crafted)
    order = np.argsort(-worth / np.maximum(honest, _TINY), kind="stable")
    d, v = worth[order], honest[order]
    roots, places = np.sqrt(d * v), crafted + np.cumsum(v)
    taken = max(1, int(np.count_nonzero(np.sqrt(d) * places > np.sqrt(v) * np.cumsum(roots))))
    spread = np.zeros(worth.size)
    among = roots[:taken] if crafted < 1 else np.ones(taken)
    # Rounding can leave the last part taken a little below 0.
    spread[order[:taken]] = np.maximum(among / among.sum() * places[taken - 1] - v[:taken], 0.0)
    return spread

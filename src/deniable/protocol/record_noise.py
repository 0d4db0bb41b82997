"""How well a mechanism of records estimates a table of k attributes, in closed form.

Model: a cell of a table of c cells is 1/c of the sum of the table's orthonormal coefficients. With
A_l of them about l attributes, each known with n Var = v_l (the people's sampling included, and all
levels equally frequent),

    n Var(cell) = sum_l A_l v_l / c^2  -  (1 - 1/c)/c        given the people's values.

Smoothing shrinks what l > 1 attributes have beyond fewer of them, which is mostly noise: of a
pair's a quarter is taken to be left, of three attributes' 1/4^3, of four's 1/4^6. The measured
errors of smoothed tables follow this closely enough to choose by (docs/marginals.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.protocol import epsilon

SHRUNKEN = 4.0
"""By how much smoothing reduces the noise of an interaction of two attributes."""


def cell_noise(orders: Sequence[float], cells: float) -> float:
    """Return n Var of an unbiased cell, from what each order 1, 2, ... adds with sampling."""
    return sum(orders) - (1 - 1 / cells) / cells


def smoothed_noise(orders: Sequence[float]) -> float:
    """Return about n times the mean squared error of a smoothed cell, sampling included."""
    return sum(added / SHRUNKEN ** math.comb(taken, 2) for taken, added in enumerate(orders, 1))


def krr_noise(cells: float, micros: int) -> float:
    """Return n Var of a coefficient behind k-RR over so many cells: ((E + m - 1)/(E - 1))^2."""
    e = float(epsilon.exp_micros(micros))
    return ((e + cells - 1) / (e - 1)) ** 2


def view_orders(levels: tuple[int, ...], order: int, size: int, micros: int) -> list[float]:
    """Return what each order adds to n Var of a cell, from views of so many attributes.

    Every l attributes are in the share C(size, l)/C(d, l) of the views, all of which are used.
    Where levels differ, cells are powers of their geometric mean.
    """
    d, mean = len(levels), mean_levels(levels)
    each = krr_noise(mean**size, micros)
    return [
        math.comb(order, taken)
        * (mean - 1) ** taken
        * (each * math.comb(d, taken) / math.comb(size, taken))
        / mean ** (2 * order)
        for taken in range(1, order + 1)
    ]


def mean_levels(levels: Sequence[int]) -> float:
    """Return the geometric mean of numbers of levels."""
    return math.exp(math.fsum(map(math.log, levels)) / len(levels))

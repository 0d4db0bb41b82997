"""The shift by crafted reports of what is derived from a raw table of attributes.

Model: crafted reports have moved the unbiased cells P by some d, and no weighted sum w'd is larger
than h(w), either way (`crafted/weighted_sums.py`). So, of the honest cells P - d:

- a share given a condition, r = P_a / P_g: with w = 1_a - r 1_g the sum w'P is 0, hence

      |r' - r| <= h(w) / (P_g - h(1_g)).

- the interaction c = S P_ij - P_i. P_.j, with J = dc/dP: c - c' = J d - Q(d),

      Q_ij = (sum of d) d_ij - d_i. d_.j,   |Q_ij| <= h(1) h(1_ij) + h(1_i.) h(1_.j) = q_ij.

- the test's root, |A c|: with e = A c / |A c|,

      |A c'| >= |A c| - h(e'AJ) - |e'A| q,    |A c'| <= |A c| + |h(AJ) + |A| q|   (a row per degree)

  where A is that of all reports. The honest ones are fewer, so that the least root is also taken
  times sqrt(1 - phi), phi the most that crafted ones can be of the reports about any part.

- the correlation of yes/no attributes, c / sqrt(P_0. P_1. P_.0 P_.1): c and the four margins each
  within their ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from deniable.crafted.search import Range
from deniable.marginals.independence import interaction_slope, standardised
from deniable.mechanisms.base import Floats

Shift = Callable[[Floats], float]
"""From weights, in the shape of a table, to h(w)."""


def crafted_share(cells: Floats, cell: tuple[int, ...], condition: Floats, shift: Shift) -> float:
    """Return the largest shift of a share given a condition, either way.

    Edge cases: infinite where all of the condition may be crafted.

    Args:
        cells: a raw table.
        cell: whose share is asked for.
        condition: 1 for the cells of the condition, else 0.
        shift: of the table.
    """
    total = float(np.sum(cells * condition))
    left = total - shift(condition)
    if not left > 0:
        return math.inf
    # w = 1_a - r 1_g, for which w'P = 0: |r' - r| <= h(w) / (P_g - h(1_g)).
    weights = -float(cells[cell]) / total * condition
    weights[cell] += 1
    return shift(weights) / left


def crafted_statistic(cells: Floats, covariance: Floats, shift: Shift, among: float) -> Range:
    """Return the range of the statistic of the test of independence.

    Guarantees: both ends hold for every shift within h, the standard errors being those of all
    reports.

    Edge cases: NaN where the pair cannot be tested.

    Args:
        cells: a raw table of two attributes.
        covariance: of its cells.
        shift: of the table.
        among: the largest share that crafted reports can be of those about a part of it.
    """
    values, whitening = standardised(cells, covariance)
    if len(whitening) == 0 or not np.isfinite(whitening).all():
        return Range(math.nan, math.nan)
    found = whitening @ values
    root = float(np.linalg.norm(found))
    towards = found / root if root > 0 else found
    curved, slope = second_order(cells, shift).ravel(), interaction_slope(cells)
    along = towards @ whitening
    # |A c'| >= e'A c' >= |A c| - h(e'AJ) - |e'A| q; above, row by row, h(AJ) + |A| q.
    least = root - shift((along @ slope).reshape(cells.shape)) - float(np.abs(along) @ curved)
    each = [shift(row.reshape(cells.shape)) for row in whitening @ slope]
    most = root + float(np.linalg.norm(np.array(each) + np.abs(whitening) @ curved))
    return Range(max(0.0, least) ** 2 * (1 - among), most**2)


def second_order(cells: Floats, shift: Shift) -> Floats:
    """Return q of every cell: the most that the product of two moves adds to an interaction."""
    rows, columns = np.indices(cells.shape)
    by_row = [shift((rows == i).astype(np.float64)) for i in range(len(cells))]
    by_column = [shift((columns == j).astype(np.float64)) for j in range(cells.shape[1])]
    total = shift(np.ones(cells.shape))
    each = np.zeros(cells.shape)
    if total > 0:
        for i, j in np.ndindex(cells.shape):
            each[i, j] = shift(np.asarray((rows == i) & (columns == j), dtype=np.float64))
    return np.asarray(total * each + np.outer(by_row, by_column))


def crafted_correlation(cells: Floats, value: float, shift: Shift) -> Range:
    """Return the range of Pearson's coefficient of a raw table of yes/no attributes.

    Edge cases: -1 or 1 where all of an answer may be crafted. NaN stays.

    Args:
        cells: the table, of shape (2, 2).
        value: the coefficient.
        shift: of the table.
    """
    if not math.isfinite(value):
        return Range(math.nan, math.nan)
    slope = interaction_slope(cells)[-1].reshape(cells.shape)
    c = float(cells[0, 0] * cells[1, 1] - cells[0, 1] * cells[1, 0])
    # |c - c'| <= h(J) + q of the last cell.
    moved = shift(slope) + float(second_order(cells, shift)[1, 1])
    low, high = _scales(cells, shift)
    ends = [_over(c - moved, low, high), -_over(-c - moved, low, high)]
    return Range(min(value, ends[0]), max(value, ends[1]))


def _scales(cells: Floats, shift: Shift) -> tuple[float, float]:
    """Return the least and the largest that the product of the four margins can be."""
    low = high = 1.0
    for axis in (0, 1):
        for answer in (0, 1):
            chosen = (np.indices(cells.shape)[axis] == answer).astype(np.float64)
            share, moved = float(np.sum(cells * chosen)), shift(chosen)
            low, high = low * max(0.0, share - moved), high * max(0.0, share + moved)
    return low, high


def _over(c: float, low: float, high: float) -> float:
    """Return the least correlation of an interaction of at least c, from -1 on."""
    # The least quotient: a positive c over the largest scale, a negative one over the least.
    scale = high if c > 0 else low
    if scale <= 0:
        return -1.0 if c < 0 else 0.0
    return max(-1.0, c / math.sqrt(scale))

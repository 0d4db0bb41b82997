"""The shift of a weighted sum of a table's cells by a share of crafted reports.

A conditional share or a correlation depends on several cells of a table at once, and no report
shifts all of them as far as it can shift each alone. With weights w of the cells the sum s = w'f is
a mean over the reports about the table. In it honest reports lie within min w..max w on average,
and a crafted one says, by the kind of its rest, at most

    Symbol of m cells     max_y w_y/gap - (1/gap - 1) mean w        gap = 1 - m move
    Bits, one per cell    sum_c max(w_c U, -w_c D)                  U, D of `crafted/cells.py`
    Bits of the code      max_y (C x ... x C) w                     C = ((keep, keep - 1), ...)/gap

and at least minus the same for -w. Crafted ones are a share phi of the reports about the table
(`crafted/parts.py`). Codes that no answer has weigh 0. Where a table is estimated in parts
(`crafted/cells.py`), the shifts of the parts add up:

    views    for each subset S of the attributes, g_S(y) = the mean of w over the others, less all
             means over attributes of S; phi_S (max g/gap - min g), or with -g
    Sign     D_a = |u_a| (1/g + 1), u = w in the coefficients, over which crafted reports spread

One cell of weight 1 has the bound of `crafted/cells.py`.
"""

from __future__ import annotations

import numpy as np

from deniable import _validate
from deniable.crafted.parts import (
    Part,
    gap_of,
    in_contrasts,
    of_one_coefficient,
    of_signs,
    told_by,
    whole_tables,
)
from deniable.crafted.spread import spread_shift
from deniable.crafted.worth import among
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse, walsh_matrix
from deniable.mechanisms.moments import Subset, along_axes, subsets_of
from deniable.protocol import ProfileParameters
from deniable.protocol.rest import Bits


def weighted_shift(
    parameters: ProfileParameters, attributes: Subset, weights: Floats, crafted: float
) -> float:
    """Return the largest shift of a weighted sum of cells by crafted reports, either way.

    Guarantees: as `table_shift`, a bound for unbiased (raw) tables, apart from chance in the number
    of honest reports about each part. A sum with equal weights cannot be shifted where shares
    always sum to 1.

    Cost: O(R) numbers for R cells; O(R log R) for a coin per bit.

    Args:
        parameters: of the mechanism.
        attributes: by number, rising, at most as many as were collected together.
        weights: an axis of answers per attribute.
        crafted: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1 and the weights fit.
    """
    share = _validate.probability("crafted", "a table", crafted)
    w = np.asarray(weights, dtype=np.float64)
    shape = tuple(parameters.answers[i] for i in attributes)
    if w.shape != shape:
        raise InvalidParameter(f"The weights must have the shape {shape}. Got {w.shape}.")
    if share == 0:
        return 0.0
    if told_by(parameters) == "view":
        return sum(_of_subset(parameters, attributes, one, w, share)
                   for one in subsets_of(attributes))  # fmt: skip
    if of_signs(parameters):
        return _of_coefficients(parameters, attributes, w, share)
    lowest, highest = float(w.min()), float(w.max())
    inner, shifts = _inner(parameters, attributes, w), []
    for part in whole_tables(parameters, attributes):
        low, high = _said(part, inner)
        shifts.append(among(share, part.about) * max(high - lowest, highest - low))
    return max(shifts)


def most_among(parameters: ProfileParameters, attributes: Subset, crafted: float) -> float:
    """Return the largest share that crafted reports can be of those about any part of a table."""
    share = _validate.probability("crafted", "a table", crafted)
    if of_signs(parameters):
        abouts = [*map(float, of_one_coefficient(parameters, attributes)[: len(attributes)])]
    else:
        sets = subsets_of(attributes) if told_by(parameters) == "view" else [attributes]
        abouts = [part.about for one in sets for part in whole_tables(parameters, one)]
    return max(among(share, about) for about in abouts)


def _said(part: Part, w: Floats) -> tuple[float, float]:
    """Return the least and the most that a report says about a sum, by the kind of its rest."""
    if part.bits is not None:
        up, down = part.bits
        high, low = (float(np.maximum(sign * w * up, -sign * w * down).sum()) for sign in (1, -1))
        return -low, high
    if isinstance(part.rest, Bits):
        keep, bits = float(part.rest.one), w.size.bit_length() - 1
        coin = np.array([[keep, keep - 1], [keep - 1, keep]]) / (2 * keep - 1)
        said = along_axes(w.reshape((2,) * bits), [coin] * bits)
        return float(said.min()), float(said.max())
    gap = gap_of(part.rest)
    moved = (1 / gap - 1) * float(w.mean())
    return float(w.min()) / gap - moved, float(w.max()) / gap - moved


def _inner(parameters: ProfileParameters, attributes: Subset, weights: Floats) -> Floats:
    """Return the weights of all codes; codes that no answer has weigh 0."""
    wide = np.zeros([1 << parameters.bits[i] for i in attributes])
    wide[tuple(slice(0, count) for count in weights.shape)] = weights
    return wide


def _of_coefficients(
    parameters: ProfileParameters, attributes: Subset, weights: Floats, crafted: float
) -> float:
    if in_contrasts(parameters):
        undo, w = [inverse(contrast_matrix(count)) for count in weights.shape], weights
    else:
        w = _inner(parameters, attributes, weights)
        undo = [walsh_matrix(count) / count for count in w.shape]
    parts = along_axes(w, [matrix.T for matrix in undo])
    orders = np.count_nonzero(np.indices(w.shape), axis=0).reshape(-1)[1:]
    about = of_one_coefficient(parameters, attributes)[orders - 1]
    worth = np.abs(parts.reshape(-1)[1:]) * (1 / gap_of(parameters.channel.typical) + 1)
    return spread_shift(worth[worth > 0], about[worth > 0], crafted)


def _of_subset(
    parameters: ProfileParameters, attributes: Subset, subset: Subset, weights: Floats, share: float
) -> float:
    """Return the largest shift of one subset's part, by views of the size with the most of it."""
    others = tuple(a for a, i in enumerate(attributes) if i not in subset)
    # g_S of the module docstring: average the other attributes out, then centre every axis of S.
    part = weights.mean(axis=others) if others else weights
    for axis in range(part.ndim):
        part = part - part.mean(axis=axis, keepdims=True)
    low, high = float(part.min()), float(part.max())
    shifts = []
    for view in whole_tables(parameters, subset):
        gap = gap_of(view.rest)
        shifts.append(among(share, view.about) * max(high / gap - low, high - low / gap))
    return max(shifts)

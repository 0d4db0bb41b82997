"""Manipulation of a weighted sum of a table's cells: the largest shift by a share of attackers.

A conditional share or a correlation depends on several cells of a table at once, and no report
shifts all of them as far as it can shift each alone. With weights w of the cells the sum s = w'f is
a mean over the reports about the table. In it honest reports lie within min w..max w on average,
and a crafted one says at most

    k-RR over m cells    max_y w_y/gap - (1/gap - 1) mean w        gap = 1 - m move
    a bit per cell       sum_c max(w_c U, -w_c D)                  U, D of `leverage/profiles.py`
    a coin per bit       max_y (C x ... x C) w                     C = 1/gap ((keep, keep - 1), ...)

and at least minus the same for -w. Liars are a share phi of the reports about the table
(`Leverage.shift`). Codes that no level has weigh 0. Where a table is estimated in parts
(`leverage/tables.py`), the shifts of the parts add up:

    views           for each subset S of the attributes, g_S(y) = the mean of w over the others,
                    less all means over attributes of S; phi_S (max g/gap - min g), or with -g
    coefficients    D_a = |u_a| (1/g + 1), u = w in the coefficients; spread as is best for liars

One cell of weight 1 has the bound of `leverage/tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse, walsh_matrix
from deniable.mechanisms.moments import Subset, along_axes, subsets_of
from deniable.privacy.leverage.profiles import (
    hashed_leverage,
    krr_gap,
    sign_gap,
    tables_with,
    views_with,
)
from deniable.privacy.leverage.tables import best_spread, shares_of_one
from deniable.protocol import (
    CoefficientsParameters,
    InpEMParameters,
    InpHTCMSParameters,
    InpHTParameters,
    InpOLHParameters,
    InpPSParameters,
    InpRRParameters,
    MargHTParameters,
    MargPSParameters,
    MargRRParameters,
    ProfileParameters,
    ViewsParameters,
)
from deniable.protocol.profile_sign import SignParameters


class _Way(NamedTuple):
    """The least and the largest value that one crafted report can say about a sum.

    `about` is the share of honest reports about the table, as in `Leverage`.
    """

    low: float
    high: float
    about: float = 1.0


def weighted_shift(
    parameters: ProfileParameters, attributes: Subset, weights: Floats, attackers: float
) -> float:
    """Return the largest shift of a weighted sum of cells by a share of attackers, either way.

    Guarantees: as `table_shift`, a bound for unbiased (raw) tables, apart from chance in the number
    of honest reports about each part. A sum with equal weights cannot be shifted where shares
    always sum to 1.

    Cost: O(R) numbers for R cells; O(R log R) for a coin per bit.

    Args:
        parameters: of the mechanism.
        attributes: by number, rising, at most as many as were collected together.
        weights: an axis of levels per attribute.
        attackers: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1 and the weights fit.
    """
    share = _validate.probability("attackers", "a table", attackers)
    w = np.asarray(weights, dtype=np.float64)
    shape = tuple(parameters.levels[i] for i in attributes)
    if w.shape != shape:
        raise InvalidParameter(f"The weights must have the shape {shape}. Got {w.shape}.")
    if share == 0:
        return 0.0
    if isinstance(parameters, ViewsParameters):
        return sum(_of_subset(parameters, attributes, one, w, share)
                   for one in subsets_of(attributes))  # fmt: skip
    if isinstance(parameters, CoefficientsParameters | InpHTParameters | MargHTParameters):
        return _of_coefficients(parameters, attributes, w, share)
    lowest, highest = float(w.min()), float(w.max())
    return max(
        _among(share, way.about) * max(way.high - lowest, highest - way.low)
        for way in _ways(parameters, attributes, w)
    )


def most_among(parameters: ProfileParameters, attributes: Subset, attackers: float) -> float:
    """Return the largest share that attackers can be of the reports about any part of a table."""
    share = _validate.probability("attackers", "a table", attackers)
    if share == 0:
        return 0.0
    if isinstance(parameters, ViewsParameters):
        parts = [_abouts(parameters, one) for one in subsets_of(attributes)]
        return max(_among(share, about) for part in parts for about in part.values())
    if isinstance(parameters, CoefficientsParameters | InpHTParameters | MargHTParameters):
        orders = range(1, len(attributes) + 1)
        return max(
            _among(share, float(_each(parameters, attributes)[order - 1])) for order in orders
        )
    some = np.zeros([parameters.levels[i] for i in attributes])
    return max(_among(share, way.about) for way in _ways(parameters, attributes, some))


def _among(attackers: float, about: float) -> float:
    """Return phi of `Leverage.shift`."""
    return attackers / (attackers + about * (1 - attackers))


def _ways(parameters: ProfileParameters, attributes: Subset, weights: Floats) -> Iterator[_Way]:
    """Yield the range of a crafted report on a table estimated as a whole, per table drawn."""
    w = _inner(parameters, attributes, weights)
    if isinstance(parameters, InpPSParameters):
        yield _krr(w, float(1 - parameters.cells * parameters.support[1]), 1.0)
    elif isinstance(parameters, MargPSParameters):
        shares = tables_with(parameters, attributes)
        gaps = {m: krr_gap(parameters, m) for m in shares}
        total = sum(share * gaps[m] ** 2 for m, share in shares.items())
        for gap in gaps.values():
            yield _krr(w, gap, total / gap**2)
    elif isinstance(parameters, InpRRParameters):
        yield _bits(w, *_merged(parameters, parameters.cells // w.size))
    elif isinstance(parameters, MargRRParameters):
        drawn = {m // w.size: share for m, share in tables_with(parameters, attributes).items()}
        total = sum(share / cells for cells, share in drawn.items())
        for cells in drawn:
            yield _bits(w, *_merged(parameters, cells), total * cells)
    elif isinstance(parameters, InpEMParameters):
        keep = float(parameters.support[0])
        coin = np.array([[keep, keep - 1], [keep - 1, keep]]) / (2 * keep - 1)
        bits = w.size.bit_length() - 1
        said = along_axes(w.reshape((2,) * bits), [coin] * bits)
        yield _Way(float(said.min()), float(said.max()))
    elif isinstance(parameters, InpHTCMSParameters | InpOLHParameters):
        cells = prod(parameters.levels[i] for i in attributes)
        one = hashed_leverage(parameters, parameters.profiles // cells)
        yield _bits(w, one.up, one.down)
    else:
        raise InvalidParameter(f"There is no leverage of '{parameters.mechanism}' yet.")


def _inner(parameters: ProfileParameters, attributes: Subset, weights: Floats) -> Floats:
    """Return the weights of all codes; codes that no level has weigh 0."""
    wide = np.zeros([1 << parameters.bits[i] for i in attributes])
    wide[tuple(slice(0, count) for count in weights.shape)] = weights
    return wide


def _krr(w: Floats, gap: float, about: float) -> _Way:
    moved = (1 / gap - 1) * float(w.mean())
    return _Way(float(w.min()) / gap - moved, float(w.max()) / gap - moved, about)


def _merged(parameters: InpRRParameters | MargRRParameters, cells: int) -> tuple[float, float]:
    """Return U and D of a cell: the gain of setting all its bits, the loss of setting none."""
    p, q = parameters.support
    return cells * float((1 - q) / (p - q)), cells * float(q / (p - q))


def _bits(w: Floats, up: float, down: float, about: float = 1.0) -> _Way:
    high, low = (float(np.maximum(sign * w * up, -sign * w * down).sum()) for sign in (1, -1))
    return _Way(-low, high, about)


def _of_coefficients(
    parameters: SignParameters, attributes: Subset, weights: Floats, attackers: float
) -> float:
    if isinstance(parameters, CoefficientsParameters) and parameters.basis == "contrasts":
        undo, w = [inverse(contrast_matrix(count)) for count in weights.shape], weights
    else:
        w = _inner(parameters, attributes, weights)
        undo = [walsh_matrix(count) / count for count in w.shape]
    parts = along_axes(w, [matrix.T for matrix in undo])
    orders = np.count_nonzero(np.indices(w.shape), axis=0).reshape(-1)[1:]
    worth = np.abs(parts.reshape(-1)[1:]) * (1 / sign_gap(parameters) + 1)
    if not worth.any():
        return 0.0
    about, worth = _each(parameters, attributes)[orders - 1][worth > 0], worth[worth > 0]
    liars = best_spread(worth, about, attackers)
    return float(np.sum(worth * liars / (liars + about * (1 - attackers))))


def _each(parameters: SignParameters, attributes: Subset) -> Floats:
    """Return P(a report is about one given coefficient) of each order."""
    if isinstance(parameters, MargHTParameters):
        shares = tables_with(parameters, attributes)
        return np.full(len(attributes), sum(share / (m - 1) for m, share in shares.items()))
    if isinstance(parameters, InpHTParameters | CoefficientsParameters):
        return shares_of_one(parameters)
    raise InvalidParameter(f"There is no leverage of '{parameters.mechanism}' yet.")


def _abouts(parameters: ViewsParameters, subset: Subset) -> dict[float, float]:
    """Return the share of honest reports about a subset, by the gap of the view a liar takes."""
    shares = views_with(parameters, subset)
    gaps = {cells: krr_gap(parameters, cells) for cells in shares}
    total = sum(share * gaps[cells] ** 2 for cells, share in shares.items())
    return {gap: total / gap**2 for gap in gaps.values()}


def _of_subset(
    parameters: ViewsParameters, attributes: Subset, subset: Subset, weights: Floats, share: float
) -> float:
    """Return the largest shift of one subset's part, by views of the size best for liars."""
    others = tuple(a for a, i in enumerate(attributes) if i not in subset)
    # g_S of the module docstring: average the other attributes out, then centre every axis of S.
    part = weights.mean(axis=others) if others else weights
    for axis in range(part.ndim):
        part = part - part.mean(axis=axis, keepdims=True)
    low, high = float(part.min()), float(part.max())
    return max(
        _among(share, about) * max(high / gap - low, high - low / gap)
        for gap, about in _abouts(parameters, subset).items()
    )

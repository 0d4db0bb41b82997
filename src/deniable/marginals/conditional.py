"""Conditional probabilities from a table: P(some attributes | the others)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.table import Table
from deniable.mechanisms.base import Floats

LEAST = 3.0
"""The least standard errors from 0 of a condition; raw shares given a weaker one are NaN."""
TOO_RARE = (
    "A raw share given a condition that is within 3 standard errors of 0 is not shown: what is "
    "divided by could be nothing."
)


def conditional(table: Table, given: Sequence[str]) -> Table:
    """Return P(the other attributes | given), the given attributes as the last axes.

    Model: with cells P_ab of asked a and given b, and P_b = sum_a P_ab,

        P(a | b) = P_ab / P_b,    Cov = J Sigma J',    J = dP(a|b) / dP (delta method).

    Guarantees: the kind stays: a raw table gives ratios of unbiased shares with intervals (a ratio
    has a bias of the order of its variance), a smoothed one gives distributions.

    Edge cases: raw shares under a condition within LEAST standard errors of 0 are NaN, and a note
    says so. A smoothed condition of share 0 has equal shares.

    Args:
        table: of asked and given attributes together.
        given: names of attributes of the table; not all of them.

    Raises:
        InvalidParameter: if a name is not of the table or named twice, or none is left to ask for.
    """
    names = list(table.attributes)
    if len(set(given)) < len(given) or not set(given) <= set(names) or len(given) >= len(names):
        raise InvalidParameter(
            f"What is given must be some, not all, of {', '.join(names)}, each once."
        )
    axes = [i for i, name in enumerate(names) if name not in given]
    axes += [names.index(name) for name in given]
    shape = [table.probability.shape[axis] for axis in axes]
    asked = int(np.prod(shape[: len(names) - len(given)]))
    cells = table.probability.transpose(axes).reshape(asked, -1)
    attributes = tuple(names[axis] for axis in axes)
    labels = tuple(table.labels[axis] for axis in axes)
    if table.covariance is None:
        shares = _divided(cells).reshape(shape)
        return Table.smoothed(attributes, labels, shares, table.n, table.notes)
    places = np.arange(table.probability.size).reshape(table.probability.shape)
    order = places.transpose(axes).ravel()
    ratio, covariance = _ratios(cells, table.covariance[np.ix_(order, order)])
    notes = (*table.notes, TOO_RARE) if np.isnan(ratio).any() else table.notes
    among = np.broadcast_to(np.maximum(cells.sum(axis=0), 0.0), cells.shape).reshape(shape)
    named = (attributes, labels, ratio.reshape(shape), covariance, table.n, notes)
    return Table.raw(*named, table.people, among, table.told)


def _divided(cells: Floats) -> Floats:
    """Return each column relative to its sum; equal shares where the sum is 0."""
    total = cells.sum(axis=0)
    flat = np.full(cells.shape, 1 / len(cells))
    divided: Floats = np.divide(cells, total, out=flat, where=total > 0)
    return divided


def _ratios(cells: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return the columns relative to their sums, and the covariance of all ratios."""
    asked, given = cells.shape
    adds = np.tile(np.eye(given), asked)  # the sum of each column, from the cells in C order
    total = cells.sum(axis=0)
    error = np.sqrt(np.maximum(np.sum((adds @ covariance) * adds, axis=1), 0.0))
    known = np.where(total > LEAST * error, total, np.nan)
    ratio = cells / known
    # d P(a|b) / d P_a'b = ([a = a'] - P(a|b))/P_b; cells of other conditions do not matter.
    slope = np.diag(np.tile(1 / known, asked))
    slope -= (ratio / known).reshape(-1, 1) * np.tile(adds, (asked, 1))
    # NaN in a column must not reach the others through the product of matrices.
    lost = np.isnan(ratio).ravel()
    spread = np.nan_to_num(slope) @ covariance @ np.nan_to_num(slope).T
    spread[lost, :] = spread[:, lost] = np.nan
    return ratio, spread

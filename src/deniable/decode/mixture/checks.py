"""Checks of the likelihoods and weights that a mixture is fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats


def checked_table(likelihood: Floats) -> Floats:
    """Return a table of likelihoods as floats, else raise InvalidParameter."""
    table = np.asarray(likelihood, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not (np.isfinite(table).all() and table.min() >= 0):
        raise InvalidParameter(
            "A likelihood must be a table of finite numbers of at least 0, a row per observation "
            "and a column per component."
        )
    return table


def checked_weights(weights: Floats | None, rows: int, others: Sequence[int] = ()) -> Floats:
    """Return how often each row was seen (once by default), else raise InvalidParameter.

    Args:
        weights: per row.
        rows: of the first table.
        others: the rows of all tables, which must agree.
    """
    if any(other != rows for other in others):
        raise InvalidParameter(
            f"Every variable needs one row per observation. Got {', '.join(map(str, others))} rows."
        )
    w = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != (rows,) or not (np.isfinite(w).all() and w.min() >= 0 and w.sum() > 0):
        raise InvalidParameter(
            "The weights must be one finite number of at least 0 per observation, not all 0."
        )
    return w


def scaled(table: Floats) -> Floats:
    """Return rows scaled to a maximum of 1: a row's scale does not change the maximum.

    Raises:
        InvalidParameter: if a row has only zeros.
    """
    largest = table.max(axis=1)
    if not largest.min() > 0:
        raise InvalidParameter(
            "Every observation must be possible under some component: a row has only zeros. "
            "Compute it from logarithms, less the row's largest."
        )
    return np.asarray(table / largest[:, None])

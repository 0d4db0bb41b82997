"""Mutual information of two attributes, in bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats


def mutual_information(tables: Floats) -> Floats:
    """Return sum P_ij log2(P_ij / (P_i. P_.j)) of a table, or of many at once (leading axes).

    Guarantees: at least 0; at most the smaller attribute's entropy.

    Edge cases: cells of 0 add nothing. Each table is taken relative to its own sum.

    Args:
        tables: cells of at least 0, the last two axes the attributes; smoothed ones, since noise
            in raw cells adds information that is not there.

    Raises:
        InvalidParameter: if a cell is negative or NaN, or a table is empty.
    """
    p = np.asarray(tables, dtype=np.float64)
    if p.ndim < 2 or not np.all(p >= 0) or not np.all(p.sum(axis=(-2, -1)) > 0):
        raise InvalidParameter(
            "Mutual information takes tables of two attributes with cells of at least 0 and a "
            "positive sum. Use smoothed tables: raw ones may be negative."
        )
    p = p / p.sum(axis=(-2, -1), keepdims=True)
    product = p.sum(axis=-1, keepdims=True) * p.sum(axis=-2, keepdims=True)
    some = p > 0
    ratio = np.divide(p, product, out=np.ones_like(p), where=some)
    found: Floats = np.maximum(0.0, np.sum(p * np.log2(ratio), axis=(-2, -1)))
    return found


def information_matrix(tables: Mapping[tuple[int, int], Floats], attributes: int) -> Floats:
    """Return the mutual information of every pair as a symmetric matrix, 0 on its diagonal.

    Args:
        tables: smoothed tables by (i, j) with i < j; pairs that are missing count as independent.
        attributes: how many there are.
    """
    matrix = np.zeros((attributes, attributes))
    for (first, second), table in tables.items():
        matrix[first, second] = matrix[second, first] = float(mutual_information(table))
    return matrix

"""Few common causes: the part of all pairs' covariances that a matrix of low rank explains.

Model: the covariances of all contrasts form a symmetric matrix C whose entries within one attribute
are not measured, and the others with noise of one size after scaling rows and columns. Attributes
that share a few causes (tastes, kinds of trips) make C nearly of low rank, and then every entry
says something about every other one. An eigenvalue of such a matrix with noise of standard
deviation s per entry rises from theta to lambda = theta + s^2 d / theta, and the eigenvectors are
off by a known angle: the best multiple of the found eigenvector is sqrt(lambda^2 - 4 s^2 d), 0
below the edge 2 s sqrt(d) of what noise alone makes. ([GD17], here for symmetric
matrices.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats

ROUNDS = 40
LARGE = 100
"""The most contrasts that get all rounds; larger matrices get a fifth of them."""
FOLDS = 5
LEAST = 5
"""Fewer attributes have no structure to find."""


class Structure(NamedTuple):
    """The covariances that common causes explain.

    Attributes:
        fitted: of every entry, from all entries.
        left_out: of every entry, from the other four fifths of the entries only.
    """

    fitted: Floats
    left_out: Floats


def common_causes(matrix: Floats, variance: Floats, known: NDArray[np.bool_]) -> Structure:
    """Return the part of every entry that a matrix of low rank explains.

    Cost: 6 ROUNDS eigenvalue problems of the matrix' size.

    Args:
        matrix: symmetric covariances of contrasts.
        variance: of each entry.
        known: which entries were measured; symmetric, never the diagonal.
    """
    scale = _scale(variance, known)
    scaled = np.where(known, matrix, 0.0) / np.outer(scale, scale)
    fitted = completed(scaled, known)
    left_out = np.zeros_like(fitted)
    rows, columns = np.indices(matrix.shape)
    # Every row has entries in every fold, and (a, b) is in the fold of (b, a).
    fold = (np.minimum(rows, columns) + 2 * np.maximum(rows, columns)) % FOLDS
    for part in range(FOLDS):
        without = completed(scaled, known & (fold != part))
        left_out = np.where(fold == part, without, left_out)
    back = np.outer(scale, scale)
    return Structure(fitted * back, left_out * back)


def completed(matrix: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return the matrix of low rank behind noisy entries of variance 1, some of them unknown.

    Unknown entries are taken from the last round's result, beginning with a diagonal as large as
    the largest entry of its row.
    """
    size = len(matrix)
    edge = 4.0 * size
    result = np.diag(np.abs(matrix).max(axis=1))
    for _ in range(ROUNDS if size <= LARGE else ROUNDS // 5):
        values, vectors = np.linalg.eigh(np.where(known, matrix, result))
        # Optimal shrinkage, sqrt(lambda^2 - 4 s^2 d) with s = 1 [GD17]; 0 below 2 sqrt(d).
        kept = np.where(values > 0, np.sqrt(np.maximum(values**2 - edge, 0.0)), 0.0)
        if not kept.any():
            return np.zeros_like(matrix)
        result = (vectors * kept) @ vectors.T
    return result


def _scale(variance: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return u with variance_ab about u_a^2 u_b^2: the least-squares fit of the logarithms."""
    logs = np.where(known, np.log(np.where(known, variance, 1.0)), 0.0)
    count = np.maximum(known.sum(axis=1), 1)
    parts = logs.sum(axis=1) / count / 2
    for _ in range(ROUNDS):
        # Half a step each time: whole ones would swing to and fro.
        # ln v_ab = part_a + part_b, part = 2 ln u: each is the mean of its row less the others'.
        parts = (parts + (logs.sum(axis=1) - known @ parts) / count) / 2
    return np.asarray(np.exp(parts / 2))

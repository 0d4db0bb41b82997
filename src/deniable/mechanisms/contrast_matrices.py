"""Functions of one attribute's answer as matrices: a row of ones, then a row per function."""

from __future__ import annotations

from functools import cache

import numpy as np

from deniable.mechanisms.base import Floats
from deniable.protocol.contrasts import contrasts_of


@cache
def contrast_matrix(answers: int) -> Floats:
    """Return the r x r matrix of 1 and the r - 1 contrasts; its rows are orthogonal."""
    rows = [[1.0] * answers]
    rows += [[value / c.scale for value in c.values] for c in contrasts_of(answers)]
    return _frozen(np.array(rows))


@cache
def walsh_matrix(size: int) -> Floats:
    """Return the matrix of (-1)^(ones in mask & code), a row per mask, for a power of two."""
    codes = np.arange(size)
    odd = np.bitwise_count(codes[:, None] & codes) & 1
    return _frozen(1.0 - 2.0 * odd)


def inverse(matrix: Floats) -> Floats:
    """Return the inverse of a matrix with orthogonal rows."""
    # F F' = diag(squared lengths) for orthogonal rows, so that F^-1 = F' diag(1/lengths^2).
    return np.asarray(matrix.T / np.square(matrix).sum(axis=1))


def _frozen(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix

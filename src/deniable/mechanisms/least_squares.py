"""Weighted least squares with a sparse design, and the identifiability of its columns.

Model: y = X b + noise, Var(noise_i) = 1 / w_i, independent. The solution of the normal equations
X'WX b = X'Wy has covariance (X'WX)^-1 and is the best linear unbiased one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from deniable.mechanisms.base import Floats

Sparse = Any
"""A scipy.sparse matrix in row form."""

_TOLERANCE = 1e-9
"""The others explain all but this share of a column: then the column counts as dependent."""


@dataclass(frozen=True)
class Fit:
    """The solution of a weighted least-squares problem.

    Attributes:
        solution: of smallest norm where it is not unique.
        covariance: (X'WX)^-1, or its pseudo-inverse.
        identifiable: True where the data determine the entry of the solution.
        chi_square: sum of the weighted squares of the residuals.
        degrees: equations with weight, less the rank.
    """

    solution: Floats
    covariance: Floats
    identifiable: NDArray[np.bool_]
    chi_square: float
    degrees: int


def solve(design: Sparse, observed: Floats, weights: Floats) -> Fit:
    """Solve the normal equations by Cholesky, or by eigenvalues where they are singular.

    Guarantees: every entry marked identifiable is the unique weighted least-squares value.

    Cost: for M columns with s entries in each of the rows they touch, the sparse product is
    O(rows x s^2), the factorisation O(M^3), memory O(M^2).

    Edge cases: rows of weight 0 are ignored, whatever was observed there.
    """
    normal = _Normal.of(design, observed, weights)
    inverse, null = _invert(normal.matrix)
    # With D the scale, A^-1 = D (D A D)^-1 D: the inverse of the unscaled X'WX.
    covariance = inverse * normal.scale[:, None] * normal.scale[None, :]
    solution: Floats = covariance @ normal.right
    residual: Floats = observed - design @ solution
    # An entry is determined when every null direction leaves it alone.
    identifiable: NDArray[np.bool_] = np.square(null).sum(axis=1) < 1e-6
    chi_square = float(weights @ np.square(residual))
    rank = len(solution) - null.shape[1]
    degrees = int(np.count_nonzero(weights)) - rank
    return Fit(solution, covariance, identifiable, chi_square, degrees)


def fitted(design: Sparse, observed: Floats, weights: Floats) -> Floats:
    """Return the fitted observations X b alone, without the cost of the covariance."""
    normal = _Normal.of(design, observed, weights)
    factor = _factor(normal.matrix)
    right = normal.scale * normal.right
    if factor is None:
        inverse, _ = _invert(normal.matrix)
        scaled = inverse @ right
    else:
        scaled = linalg.cho_solve((factor, True), right)
    result: Floats = design @ (normal.scale * scaled)
    return result


@dataclass(frozen=True)
class _Normal:
    """The normal equations with columns scaled to length 1: pivots then have a common scale."""

    matrix: Floats
    right: Floats
    scale: Floats

    @classmethod
    def of(cls, design: Sparse, observed: Floats, weights: Floats) -> Self:
        weighted = design.multiply(weights[:, None]).tocsr()
        matrix: Floats = (weighted.T @ design).toarray()
        scale = _scale(matrix)
        return cls(matrix * scale[:, None] * scale[None, :], weighted.T @ observed, scale)


def inverse(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the (pseudo-)inverse of normal equations X'WX, and a basis of their null space.

    Guarantees: columns that the others explain are found whatever the columns' scales.
    """
    scale = _scale(matrix)
    found, null = _invert(matrix * scale[:, None] * scale[None, :])
    return found * scale[:, None] * scale[None, :], null


def solutions(matrix: Floats, right: Floats) -> Floats:
    """Return the solutions of normal equations for several right sides, without their inverse.

    Guarantees: of smallest norm where the equations are singular.
    """
    scale = _scale(matrix)
    factor = _factor(matrix * scale[:, None] * scale[None, :])
    if factor is None:
        return np.asarray(inverse(matrix)[0] @ right)
    found = linalg.cho_solve((factor, True), scale[:, None] * right)
    return np.asarray(scale[:, None] * found)


def _scale(matrix: Floats) -> Floats:
    """Return the column scales that make the diagonal 1; 0 where it is 0."""
    length = np.sqrt(matrix.diagonal())
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)


def _factor(matrix: Floats) -> Floats | None:
    """Return the Cholesky factor; None where the columns depend on each other."""
    try:
        factor: Floats = linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError:
        return None
    # The square of a pivot is the share of its column that the columns before do not explain.
    return factor if np.square(factor.diagonal()).min() > _TOLERANCE else None


def _invert(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the (pseudo-)inverse of a matrix with unit diagonal, and a basis of its null space."""
    factor = _factor(matrix)
    if factor is not None:
        return linalg.cho_solve((factor, True), np.eye(len(matrix))), np.empty((len(matrix), 0))
    values, vectors = linalg.eigh(matrix)
    # The eigenvalues sum to the trace, at most the number of columns: the bound is relative.
    positive = values > _TOLERANCE * len(matrix)
    kept = vectors[:, positive]
    return (kept / values[positive]) @ kept.T, vectors[:, ~positive]

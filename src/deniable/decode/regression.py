"""Weighted least squares on candidates plus an intercept, and the evidence for one more column.

Model: y = b + X f + noise, Var(noise_i) = phi / w_i. The intercept b takes the average of what
strings outside the model add to every cell; what they add around that average shows in the
residuals, and the dispersion phi = max(1, chi2 / degrees) widens every error by it.

Evidence about one coefficient f is kept as a pair: information I (1 / variance) and score I f_hat.
Pairs of independent data add, so that f_hat = score / I and z = score / sqrt(I) of any number of
parts together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from deniable.decode.design import Design, Sparse
from deniable.mechanisms.base import Floats
from deniable.mechanisms.least_squares import Fit, solve

_DEPENDENT = 1e-6
"""The model explains all but this share of a column: then the column adds no information."""


@dataclass(frozen=True)
class Evidence:
    """The evidence of some data about several coefficients, one at a time."""

    score: Floats
    information: Floats

    def __add__(self, other: Evidence) -> Evidence:
        return Evidence(self.score + other.score, self.information + other.information)

    @property
    def estimate(self) -> Floats:
        """The coefficients; NaN where there is no information."""
        return np.divide(
            self.score, self.information, out=_unknown(self.score), where=self.information > 0
        )

    @property
    def std_error(self) -> Floats:
        """Their standard errors; NaN where there is no information."""
        known = self.information > 0
        return 1 / np.sqrt(self.information, out=_unknown(self.score), where=known)

    @property
    def z(self) -> Floats:
        """Estimates over standard errors; NaN where there is no information."""
        return self.estimate / self.std_error

    def widened(self, factor: float) -> Evidence:
        """Return the same estimates with standard errors `factor` times as large."""
        return Evidence(self.score / factor**2, self.information / factor**2)


def _unknown(like: Floats) -> Floats:
    return np.full(like.shape, np.nan)


@dataclass(frozen=True)
class Regression:
    """A weighted least-squares fit.

    Attributes:
        design: the columns in the model, without the intercept.
        weights: of each cell; cells of weight 0 take no part.
        residual: y less the fit, in every cell.
        solved: solution and covariance before the dispersion; the intercept stands first.
    """

    design: Design
    weights: Floats
    residual: Floats
    solved: Fit

    @classmethod
    def of(cls, y: Floats, weights: Floats, design: Design, tied: int = 0) -> Self:
        """Fit the columns of `design` and an intercept.

        Cost: O(M^3) for M columns, and O(M^2) memory.

        Args:
            y: observed.
            weights: of each cell.
            design: the columns.
            tied: equations that follow from the others, which are no degrees of freedom.
        """
        columns = _with_intercept(design)
        solved = solve(columns, y, weights)
        solved = replace(solved, degrees=solved.degrees - tied)
        return cls(design, weights, y - columns @ solved.solution, solved)

    @property
    def dispersion(self) -> float:
        """max(1, chi2 / degrees); 1 where no degree of freedom is left to measure it."""
        if self.solved.degrees <= 0:
            return 1.0
        return max(1.0, self.solved.chi_square / self.solved.degrees)

    @property
    def fitted_evidence(self) -> Evidence:
        """The evidence about each column in the model."""
        variance = self.dispersion * self.solved.covariance.diagonal()[1:]
        known = self.solved.identifiable[1:] & (variance > 0)
        # Evidence is (score, information) with the estimate score / information.
        information = np.divide(1.0, variance, out=np.zeros_like(variance), where=known)
        return Evidence(information * self.solved.solution[1:], information)

    @cached_property
    def pull(self) -> Floats:
        """Weighted residuals over the dispersion: their sum over a column's cells is its score."""
        return self.weights * self.residual / self.dispersion

    @cached_property
    def _roots(self) -> tuple[NDArray[np.int32], Floats]:
        """The rows of T = WX L with G = L L', and of every cell its row; -1 of those without one.

        Then d'WX G X'Wd = |T'd|^2. One more cell stands for none.
        """
        live = np.flatnonzero(self.weights > 0)
        places = np.full(self.weights.size + 1, -1, np.int32)
        places[live] = np.arange(live.size)
        columns = _with_intercept(self.design)[live]
        weighted = sparse.diags_array(self.weights[live]).tocsr() @ columns
        return places, np.asarray(weighted @ _root(self.solved.covariance))

    def evidence(self, design: Design) -> Evidence:
        """Return the evidence about each column, as if it alone were added to the model.

        With G = (X'WX)^-1 and r the residual, a further column d has by the inverse of a
        partitioned matrix f_hat = d'Wr / (d'Wd - d'WX G X'Wd), with variance phi over the
        same denominator.

        Guarantees: equal to fitting the larger model, but for the dispersion, which stays that of
        the smaller one. Columns that the model explains already have no information.

        Cost: for M columns in the model M additions per cell that a further column sets; M numbers
            per cell in memory.
        """
        score, plain = design.sums(self.pull, self.weights)
        # Imported here because Numba takes most of a second to load.
        from deniable.kernels.summed_rows import squared_sums

        # The Schur complement d'Wd - d'WX G X'Wd: information that the model does not have yet.
        information = plain - squared_sums(design.cells, *self._roots)
        known = information > _DEPENDENT * np.maximum(plain, 1e-300)
        information = np.where(known, information / self.dispersion, 0.0)
        return Evidence(np.where(known, score, 0.0), information)


def _root(covariance: Floats) -> Floats:
    """Return L with L L' the covariance; where it is singular from its eigenvectors."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        scale = np.sqrt(np.maximum(covariance.diagonal(), 1e-300))
        values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
        return np.asarray(scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def _with_intercept(design: Design) -> Sparse:
    ones = sparse.csr_matrix(np.ones((design.rows, 1)))
    return sparse.hstack([ones, design.matrix().T], format="csr")

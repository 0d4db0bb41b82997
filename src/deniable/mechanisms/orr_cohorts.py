"""Frequencies from cohorts of symbols, by generalised least squares.

Model: with x_j(v) the symbol of answer v in cohort j, N_j reports there and c_jy of symbol y,

    E[c_jy] / N_j = r_jy = move + (keep - move) (sum over v with x_j(v) = y of f_v  +  b),

where b takes the answers that nobody listed, spread evenly; closed domains list all and have no b.
The observations are o_jy = (c_jy / N_j - move) / (keep - move). Within a cohort the counts are
multinomial, with covariance N_j (diag(r) - r r'), and their residuals sum to 0 whenever
sum f + k b = 1. On such residuals diag(1 / r) is a generalised inverse of that covariance, so
that the best linear unbiased estimate is least squares with weights N_j (keep - move)^2 / r_jy
under that one linear constraint a'theta = 1. With S = (X'WX)^-1 it is
theta + S a (1 - a'theta) / (a'S a), of covariance S - S a a'S / (a'S a).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from deniable.mechanisms.base import Counts, Estimate, Floats
from deniable.mechanisms.closed_form import Pure, nothing_learned
from deniable.mechanisms.least_squares import Fit, inverse, solutions
from deniable.mechanisms.rappor_bloom import fit_notes, from_fit, supporting

Symbols = NDArray[np.uint16]

_BLOCK = 2**23
"""Numbers of the design that are held at once: 64 MB."""
_DENSE_UP_TO = 32
"""The most symbols for which products of dense blocks are faster than sparse ones."""


@dataclass(frozen=True)
class Cohorts:
    """The observations of a fit: the answers' symbols, and the reports of each cohort.

    Attributes:
        symbols: the symbol of each answer (column) in each cohort with reports (row).
        table: reports of each symbol (column) in each of these cohorts.
        count: k.
        pure: keep for p, move for q.
        closed: whether every answer that people can give is listed.
    """

    symbols: Symbols
    table: NDArray[np.int64]
    count: int
    pure: Pure
    closed: bool

    @property
    def people(self) -> Floats:
        """The reports of each cohort, as a column."""
        return np.asarray(self.table.sum(axis=1, dtype=np.float64))[:, None]

    @property
    def observed(self) -> Floats:
        """The share of people on each symbol, unbiased."""
        return self.pure.frequency(self.table / self.people)

    @property
    def constraint(self) -> Floats:
        """The constraint's coefficients: all frequencies and k times the even rest sum to 1."""
        ones = np.ones(self.symbols.shape[1] + (not self.closed))
        if not self.closed:
            ones[-1] = self.count
        return ones

    def fitted(self, solution: Floats) -> Floats:
        """Return X theta: the share of people on each symbol of each cohort."""
        answers, rest = self.symbols.shape[1], 0.0 if self.closed else float(solution[-1])
        found = np.empty(self.table.shape)
        for j, row in enumerate(self.symbols):
            found[j] = np.bincount(row, weights=solution[:answers], minlength=self.count)
        return found + rest

    def against(self, values: Floats) -> Floats:
        """Return X' values."""
        total = np.zeros(self.symbols.shape[1])
        for row, value in zip(self.symbols, values, strict=True):
            total += value[row]
        return total if self.closed else np.append(total, values.sum())

    def normal(self, weights: Floats) -> Floats:
        """Return X'WX.

        Cost: cohorts x k x M^2 operations of dense products, or cohorts x M^2 / k of sparse ones
        where k is large; a block of 64 MB and M^2 numbers.
        """
        answers = self.symbols.shape[1]
        matrix = np.zeros((answers, answers))
        for part, root in self._blocks(np.sqrt(weights)):
            matrix += _product(part, root, self.count)
        if self.closed:
            return matrix
        border = np.zeros(answers)
        for row, weight in zip(self.symbols, weights, strict=True):
            border += weight[row]
        return np.block([[matrix, border[:, None]], [border[None, :], weights.sum()]])

    def _blocks(self, roots: Floats) -> Iterator[tuple[Symbols, Floats]]:
        step = max(1, _BLOCK // (self.count * self.symbols.shape[1]))
        for start in range(0, len(self.symbols), step):
            yield self.symbols[start : start + step], roots[start : start + step]


def _product(symbols: Symbols, roots: Floats, count: int) -> Floats:
    """Return the sum over cells of root^2 x x', x the answers of the cell."""
    cohorts, answers = symbols.shape
    cells = (np.arange(cohorts)[:, None] * count + symbols).ravel()
    columns = np.tile(np.arange(answers), cohorts)
    if count <= _DENSE_UP_TO:
        block = np.zeros((cohorts * count, answers))
        block[cells, columns] = roots.ravel()[cells]
        return np.asarray(block.T @ block)
    shape = (cohorts * count, answers)
    design = sparse.csr_matrix((roots.ravel()[cells], (cells, columns)), shape=shape)
    return np.asarray((design.T @ design).toarray())


def estimate_cohorts(
    cohorts: Cohorts, counts: Counts, labels: tuple[str, ...], alone: Pure
) -> Estimate:
    """Return unbiased frequencies of the answers with their covariance.

    Two passes: the first weighs by the reports of each cohort alone and gives the r of the second;
    observed shares as weights would depend on the very noise that they weigh.

    Guarantees: the first pass is exactly unbiased, the second up to a term that vanishes against
    the standard error as reports grow. The covariance is scaled by max(1, chi2 / degrees).

    Edge cases: cohorts without reports are left out, answers that cannot be told from others are
    NaN; each with a note.

    Args:
        cohorts: what was reported in them.
        counts: of all cohorts.
        labels: of the answers.
        alone: the oracle of one answer by itself, on average over the cohorts.
    """
    if counts.n == 0:
        return nothing_learned(labels)
    gap, people = cohorts.pure.gap, cohorts.people
    first = _solution(cohorts, np.broadcast_to(people, cohorts.table.shape))
    r = np.clip(cohorts.pure.q + gap * cohorts.fitted(first), cohorts.pure.q, None)
    # Half a report more: with few reports a small r would promise more than so few can hold.
    r = (people * np.minimum(r, cohorts.pure.p) + 0.5) / (people + 1)
    # Weights N_j (keep - move)^2 / r: a generalised inverse of the multinomial covariance of a
    # cohort, on residuals that sum to 0 (derived above).
    fit = _fit(cohorts, people * gap**2 / r)
    notes = tuple(fit_notes(counts, labels, fit, "symbols"))
    return supporting(from_fit(counts, labels, fit, notes), alone)


def _solution(cohorts: Cohorts, weights: Floats) -> Floats:
    """Solve the normal equations under the constraint, without the cost of the covariance."""
    wanted = cohorts.constraint
    right = np.column_stack([cohorts.against(weights * cohorts.observed), wanted])
    free, pull = solutions(cohorts.normal(weights), right).T
    return np.asarray(free + pull * (1 - float(wanted @ free)) / float(wanted @ pull))


def _fit(cohorts: Cohorts, weights: Floats) -> Fit:
    """Solve the normal equations under the constraint, with the covariance."""
    covariance, null = inverse(cohorts.normal(weights))
    solution = covariance @ cohorts.against(weights * cohorts.observed)
    wanted = cohorts.constraint
    # Lagrange, with S = (X'WX)^-1 and a'theta = 1: the free solution moves along S a until the
    # constraint holds, and the covariance loses S a a'S / (a'S a).
    pull = covariance @ wanted
    length = float(wanted @ pull)
    solution = solution + pull * (1 - float(wanted @ solution)) / length
    covariance = covariance - np.outer(pull, pull) / length
    residual = cohorts.observed - cohorts.fitted(solution)
    chi_square = float((weights * residual**2).sum())
    # One equation of every cohort follows from the others, and one unknown from the constraint.
    rank = len(solution) - null.shape[1] - 1
    degrees = cohorts.table.size - len(cohorts.table) - rank
    identifiable: NDArray[np.bool_] = np.square(null).sum(axis=1) < 1e-6
    return Fit(solution, covariance, identifiable, chi_square, degrees)

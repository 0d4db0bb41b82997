"""Are two attributes independent? A test that knows how much noise a private table holds.

The classical chi-square test takes the table's cells for counts of people. Under local privacy they
are estimates whose noise is many times larger, and the test then rejects independent pairs nearly
always. Here the noise is part of the test. With the unbiased cells P of an r x s table, their
covariance Sigma, margins P_i. and P_.j and total S,

    c_ij = S P_ij - P_i. P_.j,    Cov c = J Sigma J',    W = c' (Cov c)^-1 c  ~  chi-square

with (r-1)(s-1) degrees, over the contrasts of all answers but the last of each attribute, and
J = dc/dP. Independent attributes have c = 0 whatever their margins, and also where unbiased cells
do not sum to 1 (hence S). For yes/no attributes c is (theta_ij - theta_i theta_j) / 4 in terms of
the +-1 coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable._distributions import chi2_sf
from deniable.decode.significance import benjamini_hochberg, holm
from deniable.decode.simplex import normalise
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

ALPHA = 0.05
_SMALL = 1e-12
"""The least variance of a direction, as a share of the largest; below it nothing is tested."""


@dataclass(frozen=True)
class Wald:
    """One noise-aware test of independence.

    Attributes:
        statistic: W; NaN where the table has no error statement, so that nothing can be tested.
        degrees: of the chi-square distribution that independent attributes give it.
        p_value: of the hypothesis that the two are independent.
    """

    statistic: float
    degrees: int
    p_value: float


@dataclass(frozen=True)
class PairTest:
    """The test of one pair among many.

    Attributes:
        first, second: the places of the two attributes.
        test: by itself.
        holm: dependent, where not one false pair is wanted.
        bh: dependent, where 5% false pairs are allowed (Benjamini-Hochberg).
    """

    first: int
    second: int
    test: Wald
    holm: bool
    bh: bool


def interaction(cells: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return c_ij = S P_ij - P_i. P_.j and its covariance by the delta method.

    Args:
        cells: an r x s table.
        covariance: of its cells, in the order of `cells.ravel()`.

    Raises:
        InvalidParameter: if the table has not two attributes, or the covariance does not fit.
    """
    p = np.asarray(cells, dtype=np.float64)
    if p.ndim != 2:
        raise InvalidParameter(
            f"A test of independence takes a table of two attributes. Got one of {p.ndim}."
        )
    if covariance.shape != (p.size, p.size):
        raise InvalidParameter(
            f"The covariance of {p.size} cells must be {p.size} x {p.size}. Got "
            f"{' x '.join(map(str, covariance.shape))}."
        )
    # Cov c = J Cov(P) J', to first order.
    slope = interaction_slope(p)
    c = float(p.sum()) * p - np.outer(p.sum(axis=1), p.sum(axis=0))
    return c, slope @ covariance @ slope.T


def interaction_slope(p: Floats) -> Floats:
    """Return J = dc/dP of a table, both in C order.

    dc_ij / dP_kl = S [ij = kl] + P_ij - [i = k] P_.j - P_i. [j = l]
    """
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    same_row = np.kron(np.eye(len(rows)), np.ones((len(columns), len(columns))))
    same_column = np.kron(np.ones((len(rows), len(rows))), np.eye(len(columns)))
    by_column, by_row = np.tile(columns, len(rows)), np.repeat(rows, len(columns))
    # dS/dP_kl = 1 for every cell: P_ij stands in the whole row of J.
    slope = float(p.sum()) * np.eye(p.size) + p.reshape(-1, 1)
    slope -= same_row * by_column[:, None] + same_column * by_row[:, None]
    return np.asarray(slope)


def wald(cells: Floats, covariance: Floats) -> Wald:
    """Return the noise-aware test of independence of an unbiased table.

    Guarantees: independent attributes are rejected at level alpha about as often as alpha says,
    where the cells' errors are near normal; `deniable paper cks18-fig7` measures it.

    Cost: that of a matrix of r s rows; microseconds for yes/no attributes.

    Edge cases: cells or covariance that are NaN give NaN (not tested). Directions without any
    variance are left out, and so are their degrees.

    Args:
        cells: a raw table; a smoothed one is shrunk towards independence and proves nothing.
        covariance: of its cells.
    """
    values, whitening = standardised(cells, covariance)
    degrees = len(whitening)
    if degrees == 0 or not np.isfinite(whitening).all():
        return Wald(float("nan"), degrees, float("nan"))
    statistic = float(np.sum((whitening @ values) ** 2))
    return Wald(statistic, degrees, float(chi2_sf(statistic, degrees)))


def standardised(cells: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    """Return c in C order, and a matrix A with W = |A c|^2: a row per degree of freedom.

    Edge cases: NaN where the table or its covariance is; no row where nothing has any variance.
    """
    c, spread = interaction(cells, covariance)
    inner = np.zeros(c.shape, dtype=np.bool_)
    # Rows and columns of c sum to 0: the last of each follows from the others.
    inner[:-1, :-1] = True
    kept = np.flatnonzero(inner.ravel())
    values, noise = c.ravel(), spread[np.ix_(kept, kept)]
    if not (np.isfinite(values[kept]).all() and np.isfinite(noise).all()):
        return values, np.full((kept.size, values.size), np.nan)
    variances, directions = np.linalg.eigh(noise)
    known = variances > _SMALL * max(float(variances.max(initial=0.0)), _SMALL)
    whitening = np.zeros((int(known.sum()), values.size))
    # W = c'(Cov c)^-1 c = sum over eigenvectors v of (v.c)^2 / lambda.
    whitening[:, kept] = (directions[:, known] / np.sqrt(variances[known])).T
    return values, whitening


def corrected(
    pairs: Sequence[tuple[int, int]], tests: Sequence[Wald], alpha: float = ALPHA
) -> tuple[PairTest, ...]:
    """Return the tests of many pairs with the decisions of Holm and of Benjamini-Hochberg.

    Raises:
        InvalidParameter: unless 0 < alpha < 1.
    """
    p_values = np.array([test.p_value for test in tests], dtype=np.float64)
    sure, likely = holm(p_values, alpha), benjamini_hochberg(p_values, alpha)
    return tuple(
        PairTest(first, second, test, bool(sure[i]), bool(likely[i]))
        for i, ((first, second), test) in enumerate(zip(pairs, tests, strict=True))
    )


def plain_chi_square(cells: Floats, people: int) -> Wald:
    """Return the paper's test [CKS18, section 6.1]: cells taken for shares of `people` people.

    A reference, not to be used: it does not know of the noise that privacy adds, and rejects most
    independent pairs. Negative cells are clipped, since a count cannot be below 0.
    """
    rows, columns = cells.shape
    p = normalise(np.asarray(cells, dtype=np.float64).ravel()).reshape(rows, columns)
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    known = expected > 0
    statistic = float(people * np.sum((p - expected)[known] ** 2 / expected[known]))
    degrees = (rows - 1) * (columns - 1)
    return Wald(statistic, degrees, float(chi2_sf(statistic, degrees)))

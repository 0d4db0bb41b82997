"""Tests of independence from each report's own numbers, without a joint fit.

Model: each report i of variable v becomes a vector u_iv. If the variables are independent so
are the vectors, since reports are independent given the answers; then the mean of the product of
centred vectors of two or more variables is 0, whatever the vectors are. Which ones are chosen
matters for power only:

    score     u = A / (A p) - 1, A the report's likelihoods and p the variable's own fit: the
              derivative of the log-likelihood (Rao), the most powerful against small departures.
              Under independence the covariance of products is the product of covariances, so that
              n |mean of the products of whitened vectors|^2 is chi-square.
    moments   u = ln A, less that of the last category: for k-RR, unary, hashed and Bloom reports
              linear in the report, so an affine map of its unbiased estimate of the answer. The
              covariance of the products is the empirical one, and the statistic Hotelling's.

For k-RR both are Pearson's chi-square test on the reported symbols, but for that covariance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from deniable._distributions import f_sf
from deniable.associate.patterns import Patterns
from deniable.decode.mixture.packed import PackedProduct
from deniable.decode.mixture.packed_factor import PackedFactor
from deniable.decode.mixture.rows import Factor, Product, multiplied
from deniable.mechanisms.base import Floats

_BLOCK = 2**14
_SINGULAR = 1e-9

Vectors = Callable[[slice], Floats]
"""From a block of rows to their vectors, a line per number; the first line is 1."""


def score_statistic(patterns: Patterns, margins: Sequence[Floats]) -> tuple[float, int]:
    """Return statistic and degrees of freedom of the score test.

    For two variables the degrees are (m1 - 1)(m2 - 1); for more, all products of two or more of
    the m - 1 numbers of each: the test is of mutual independence.

    Cost: O(rows x cells), one pass; a few megabytes beside the patterns.
    """
    if isinstance(patterns, PackedProduct):
        moments, squares = _moments_of_bytes(patterns, margins)
    elif len(margins) == 2 and all(isinstance(one, PackedFactor) for one in patterns.factors):
        moments, squares = _moments_of_two(patterns, margins)
    else:
        pairs = zip(patterns.factors, margins, strict=True)
        moments, squares = _moments(patterns, [scores_of(*pair) for pair in pairs])
    for axis, square in enumerate(squares):
        moments = np.moveaxis(np.tensordot(whitening(square), moments, (1, axis)), 0, axis)
    interactions = moments[_interactions(moments.shape)]
    # Whitened products have unit covariance under independence: n |mean|^2 is chi-square.
    return patterns.n * float(interactions @ interactions), interactions.size


def moments_test(patterns: Patterns) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom and p-value of the moments test (Hotelling's F).

    Cost: O(rows x cells^2 / 4); the memory of the patterns once more.

    Edge cases: with fewer reports than numbers to test the p-value is 1.
    """
    if isinstance(patterns, PackedProduct):
        patterns = patterns.dense()
    vectors = [_contrasts(factor) for factor in patterns.factors]
    everything = slice(0, patterns.rows)
    lines = [vector(everything) for vector in vectors]
    for line in lines:
        line[1:] -= (line[1:] @ patterns.shares)[:, None]
    product = Product(tuple(lines), patterns.shares, patterns.n)
    chosen = _interactions(product.sizes).reshape(-1)
    mean = product.pulled(patterns.shares)[chosen]
    covariance = product.curvature(patterns.shares)[np.ix_(chosen, chosen)] - np.outer(mean, mean)
    n, degrees = patterns.n, mean.size
    if n <= degrees + 1:
        return 0.0, degrees, 1.0
    statistic = n * float(mean @ np.linalg.pinv(covariance, rcond=1e-12, hermitian=True) @ mean)
    # Hotelling: T^2 (n - d)/(d (n - 1)) is F with d and n - d degrees of freedom.
    ratio = statistic * (n - degrees) / (degrees * (n - 1))
    return statistic, degrees, float(f_sf(ratio, degrees, n - degrees))


def scores_of(factor: Factor, margin: Floats) -> Vectors:
    """Return a variable's scores A / (A p) - 1, but for its largest category, which follows."""
    kept = _kept(margin)

    def vectors(block: slice) -> Floats:
        part = factor[:, block]
        return np.vstack([np.ones(part.shape[1]), part[kept] / (margin @ part) - 1])

    return vectors


def _kept(margin: Floats) -> NDArray[np.intp]:
    # The scores weighed by the margin sum to 0: the largest category's follows from the others'.
    return np.delete(np.arange(len(margin)), int(np.argmax(margin)))


def _contrasts(factor: Factor) -> Vectors:
    def vectors(block: slice) -> Floats:
        logs = np.log(factor[:, block])
        return np.vstack([np.ones(logs.shape[1]), logs[:-1] - logs[-1]])

    return vectors


def _moments(patterns: Product, vectors: Sequence[Vectors]) -> tuple[Floats, list[Floats]]:
    """Return the mean of the product of all vectors, and of each vector's square."""
    moments = np.zeros(patterns.cells)
    squares = [np.zeros((size, size)) for size in patterns.sizes]
    for start in range(0, patterns.rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, patterns.rows))
        lines = tuple(vector(block) for vector in vectors)
        shares = patterns.shares[block]
        moments += Product(lines, shares, patterns.n).pulled(shares)
        for square, line in zip(squares, lines, strict=True):
            rooted = line * np.sqrt(shares)
            square += rooted @ rooted.T  # symmetric: half the multiplications
    return moments.reshape(patterns.sizes), squares


def _moments_of_bytes(
    patterns: PackedProduct, margins: Sequence[Floats]
) -> tuple[Floats, list[Floats]]:
    """Return the moments of scores as `_moments` does, from sums over bytes.

    With d = A p of the wide variable the sums of A / d by pattern are all that its own vectors add
    to the means of products, and the mean of u u' is that of A A' / d^2, less those of A / d.
    """
    place, shares = patterns.place, patterns.pattern_shares
    wide, kept = patterns.alone(place), _kept(margins[place])
    mixed = wide.mixed(margins[place])
    sums = patterns.pulled_by_pattern(patterns.shares / mixed).T[kept]
    products = wide.curvature(patterns.shares / mixed**2)[np.ix_(kept, kept)]
    square = _square_of_bytes(products, sums.sum(axis=1) - 1)
    others = [*margins[:place], *margins[place + 1 :]]
    every = slice(0, len(shares))
    lines = [scores_of(*pair)(every) for pair in zip(patterns.others, others, strict=True)]
    moments = np.vstack([shares, sums - shares]) @ multiplied(lines).T
    squares = [(line * shares) @ line.T for line in lines]
    squares.insert(place, square)
    moments = moments.reshape(len(square), *(len(line) for line in lines))
    return np.moveaxis(moments, 0, place), squares


def _moments_of_two(patterns: Product, margins: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
    """Return the moments of two fields of bytes as `_moments` does, from sums over bytes."""
    alone = [patterns.alone(place) for place in range(2)]
    kept = [_kept(margin) for margin in margins]
    found = [_alone_of_bytes(*each) for each in zip(alone, margins, kept, strict=True)]
    means = [mean for mean, _ in found]
    # 1/(n a b): made again, because two numbers of every report are all that is held at once.
    weights = alone[0].mixed(margins[0])
    weights *= alone[1].mixed(margins[1])
    np.divide(patterns.shares, weights, out=weights)
    joint = patterns.pulled(weights).reshape(patterns.sizes)
    moments = np.ones((len(means[0]) + 1, len(means[1]) + 1))
    moments[1:, 0], moments[0, 1:] = means
    # u = A/a - 1 of mean m, v = B/b - 1 of mean l: E[u v'] = E[A B'/(a b)] - (m + 1) - (l + 1) + 1.
    moments[1:, 1:] = joint[np.ix_(*kept)] - np.add.outer(*means) - 1
    return moments, [square for _, square in found]


def _alone_of_bytes(
    alone: Product, margin: Floats, kept: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the means of a field's scores A/a - 1, and the mean of (1, u)(1, u)'."""
    mixed = alone.mixed(margin)
    mean = alone.pulled(alone.shares / mixed)[kept] - 1
    mixed *= mixed
    np.divide(alone.shares, mixed, out=mixed)
    return mean, _square_of_bytes(alone.curvature(mixed)[np.ix_(kept, kept)], mean)


def _square_of_bytes(products: Floats, means: Floats) -> Floats:
    """Return the mean of (1, u)(1, u)' from E[A A'/d^2] and the means of u = A/d - 1."""
    square = np.ones((len(means) + 1, len(means) + 1))
    square[0, 1:] = square[1:, 0] = means
    # E[u u'] = E[A A'/d^2] - (m_a + 1) - (m_b + 1) + 1.
    square[1:, 1:] = products - np.add.outer(means, means) - 1
    return square


def whitening(square: Floats) -> Floats:
    """Return the map from (1, u) to (1, whitened u), from the mean of (1, u)(1, u)'.

    The inverse of the lower Cholesky factor: its first line leaves the 1, and below it subtracts
    the mean before it scales.

    Edge cases: a number that hardly varies, or follows from the others, makes the matrix singular;
    a billionth of the largest on the diagonal leaves it as good as out.
    """
    try:
        factor = definite_factor(square)
    except linalg.LinAlgError:
        ridge = _SINGULAR * float(square.diagonal().max()) * np.eye(len(square))
        factor = linalg.cholesky(square + ridge, lower=True)
    return np.asarray(linalg.solve_triangular(factor, np.eye(len(square)), lower=True))


def definite_factor(square: Floats) -> Floats:
    """Return the lower Cholesky factor of a matrix that is positive definite beyond rounding.

    Raises:
        LinAlgError: if a number follows from those before it, up to a billionth of its variance.
            Rounding alone would decide otherwise, by the processor's linear algebra.
    """
    factor = np.asarray(linalg.cholesky(square, lower=True))
    # A squared pivot is what is left of a number's square when those before it are subtracted.
    if np.any(factor.diagonal() ** 2 <= _SINGULAR * square.diagonal()):
        raise linalg.LinAlgError("The matrix is singular up to rounding.")
    return factor


def _interactions(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Tell which products have numbers of two or more variables, not the leading 1s."""
    numbers = sum((index > 0).astype(np.int64) for index in np.indices(shape))
    return np.asarray(numbers >= 2)

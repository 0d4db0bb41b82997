"""The references for tests of independence: Wald on the joint fit, and a parametric bootstrap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable._distributions import chi2_sf
from deniable.associate.drawn import reported
from deniable.associate.joint import Joint, independent_table, marginal_fits
from deniable.associate.other import DEFAULT_PROFILE
from deniable.associate.patterns import Patterns, patterns_of
from deniable.associate.scores import score_statistic
from deniable.associate.variable import Variable
from deniable.decode.mixture import fit_rows
from deniable.errors import InvalidParameter
from deniable.mechanisms.base import Floats

REPLICATES = 199
ENOUGH = 10
"""Statistics as large as the observed one after which no more are drawn."""
_RANK = 1e-9


def wald_test(joint: Joint) -> tuple[float, int, float]:
    """Return statistic, degrees of freedom and p-value of the paper's test [FPE16, section 3.4].

    c = x - (product of the margins) is compared with the delta-method covariance of c itself,
    J Sigma J' with J = dc/dx, not with Sigma; the degrees are the rank of that matrix: of a table
    inside the simplex (m1 - 1)(m2 - 1), fewer with cells at 0.

    Edge cases: with no rank left the p-value is 1.

    Raises:
        InvalidParameter: if the table is too large to have a covariance.
    """
    if joint.covariance is None:
        raise InvalidParameter("This table is too large for a covariance: use the score test.")
    x = joint.probability
    axes = range(x.ndim)
    margins = [x.sum(axis=tuple(a for a in axes if a != axis)) for axis in axes]
    departure = x.reshape(-1) - independent_table(margins)
    jacobian = np.eye(x.size)
    for axis in axes:
        # d(product of margins) along this margin: the others stay, this one's change is inserted.
        others = [np.eye(len(m)) if a == axis else m[:, None] for a, m in enumerate(margins)]
        spread = others[0]
        for other in others[1:]:
            spread = np.kron(spread, other)
        jacobian -= spread @ _summing(x.shape, axis)
    covariance = jacobian @ joint.covariance @ jacobian.T
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _RANK * max(values[-1], 0.0)
    if not kept.any():
        return 0.0, 0, 1.0
    # c'(J Sigma J')^+ c in its eigenvectors; the degrees are the rank.
    along = vectors[:, kept].T @ departure
    statistic = float(np.sum(along**2 / values[kept]))
    degrees = int(kept.sum())
    return statistic, degrees, float(chi2_sf(statistic, degrees))


def _summing(shape: tuple[int, ...], axis: int) -> Floats:
    """Return the matrix from a flat table to its margin along an axis."""
    index = np.indices(shape)[axis].reshape(-1)
    return np.asarray((np.arange(shape[axis])[:, None] == index).astype(np.float64))


def bootstrap_test(
    variables: Sequence[Variable],
    patterns: Patterns,
    rng: np.random.Generator,
    profile: str = DEFAULT_PROFILE,
) -> tuple[float, int, float]:
    """Return twice the log-likelihood ratio, degrees of freedom, and its bootstrap p-value.

    199 populations are drawn from the best independent table, reported by the same mechanisms and
    fitted again; the p-value is the share of ratios as large, the observed one included: at least
    1/200. Unlisted strings are drawn from 1,000 made-up ones.

    Cost: 200 joint fits.
    """
    observed, margins = _ratio(patterns)
    n, larger = int(patterns.n), 1
    for _ in range(REPLICATES):
        drawn = [
            reported(v, rng.choice(len(margin), size=n, p=margin / margin.sum()), rng)
            for v, margin in zip(variables, margins, strict=True)
        ]
        larger += _ratio(patterns_of(drawn, profile=profile))[0] >= observed
    # Free cells of the full table less those of the independent one.
    degrees = patterns.cells - 1 - sum(size - 1 for size in patterns.sizes)
    return observed, degrees, larger / (REPLICATES + 1)


def bootstrap_score(
    variables: Sequence[Variable],
    patterns: Patterns,
    margins: Sequence[Floats],
    rng: np.random.Generator,
    profile: str = DEFAULT_PROFILE,
) -> tuple[float, int, float]:
    """Return the score statistic, its degrees of freedom, and its bootstrap p-value.

    Populations are drawn from the two marginal fits, reported by the same mechanisms and tested
    again, until as many as `ENOUGH` statistics were as large, or 199 times: the p-value is that
    share, the observed one included [BC91].

    Cost: up to 199 score tests.
    """
    observed, degrees = score_statistic(patterns, margins)
    n, larger = int(patterns.n), 0
    for drawn in range(1, REPLICATES + 1):
        again = [
            reported(v, rng.choice(len(margin), size=n, p=margin / margin.sum()), rng)
            for v, margin in zip(variables, margins, strict=True)
        ]
        found = patterns_of(again, profile=profile)
        larger += score_statistic(found, marginal_fits(found))[0] >= observed
        if larger == ENOUGH:
            return observed, degrees, larger / drawn
    return observed, degrees, (larger + 1) / (REPLICATES + 1)


def _ratio(patterns: Patterns) -> tuple[float, list[Floats]]:
    """Return 2 (best log-likelihood - best of an independent table), and the margins."""
    margins = marginal_fits(patterns)
    start = independent_table(margins)
    free = patterns.mixed(fit_rows(patterns, start=start).weights)
    gained = patterns.shares @ (np.log(free) - np.log(patterns.mixed(start)))
    return 2 * patterns.n * max(0.0, float(gained)), margins

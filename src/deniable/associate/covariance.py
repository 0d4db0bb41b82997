"""Errors of a joint table: from the information of its reports to intervals that cover.

Model: the information about the cells is I = sum_i L_i L_i' / (L x)_i^2. Cells sum to 1, so that it
is inverted on the tangent of the simplex: with Z a basis of {sum = 0},

    Sigma = Z (Z'IZ)^-1 Z' = G - G 1 1'G / (1'G 1),     G = I^-1.

On the *active set* the same holds for the cells above 0, and the others have no variance: that is
the covariance of the table if the cells at 0 truly are there. Usually they are not, and an
interval must not depend on it. One Newton step from the maximum, without the bounds,

    unbounded = x + Sigma (L'(w / Lx)),

is, to the order that matters, the maximum that a table with negative cells would have: unbiased and
normal with covariance Sigma. The likelihood is that of people drawn from a population, so that
Sigma holds the error of the sample, (D - x x')/n, beside the noise. Intervals are made around it,
within 0 and 1. Where it is more than a standard error below 0 the upper end is that of a standard
error below 0, and where it is more than one above 1 the lower end is that of one above 1: noise
that far out says nothing more about the share (power-constrained limits, [CCGV11]). Without that
three reports of three fields would say "100%, from 100% to 100%" of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable._distributions import normal_isf
from deniable.associate.patterns import Patterns
from deniable.decode.binomial import few_people, telling
from deniable.decode.mixture import sampling
from deniable.decode.mixture.packed import PackedProduct
from deniable.mechanisms.base import Floats
from deniable.mechanisms.least_squares import inverse

LARGEST_TABLE = 2_048
"""Tables of more cells have no covariance (32 MB at this size)."""

AT_BOUND = 1e-9
_WORTH = 4
"""Bytes are so cheap that the information of more reports is worth its time."""


@dataclass(frozen=True)
class Placement:
    """The parts of a table's covariances that more people do not make smaller (`placement`).

    Attributes:
        unbounded: of that of the unbounded table.
        active: of that of the active set.
    """

    unbounded: Floats
    active: Floats


@dataclass(frozen=True)
class CellErrors:
    """Errors of every cell, flat in C order; the attributes are those of `Joint`."""

    std_error: Floats
    low: Floats
    high: Floats
    covariance: Floats | None
    unbounded: Floats
    unbounded_covariance: Floats | None
    grain: Floats | None = None


def information(patterns: Patterns, x: Floats) -> tuple[Floats, Floats]:
    """Return the score L'(w / Lx) and the information of all reports at a table.

    Accuracy: where reports times cells^2 exceed 2^31 the information comes from a part of the
        reports, at least 100 per cell: standard errors move by a hundredth or two. Of a wide field
        that is kept as bytes only where reports times its answers^2 exceed 3e9.
    """
    mixed = patterns.mixed(x)
    # L'(w / Lx), and I = L' diag(w / (Lx)^2) L with w = n u.
    score = patterns.n * patterns.pulled(patterns.shares / mixed)
    every = sampling(patterns, _WORTH if isinstance(patterns, PackedProduct) else 1)
    mixed *= mixed  # in place, as in a fit
    np.divide(patterns.shares, mixed, out=mixed)
    return score, patterns.n * patterns.curvature(mixed, every)


def on_simplex(information: Floats, free: NDArray[np.bool_] | None = None) -> Floats:
    """Return the covariance of cells that sum to 1, from their information.

    Guarantees: every row sums to 0; rows and columns of cells that are not free are 0.

    Args:
        information: cells x cells.
        free: True where a cell may move; everywhere by default.
    """
    places = np.arange(len(information)) if free is None else np.flatnonzero(free)
    plain, _ = inverse(information[np.ix_(places, places)])
    # Sigma = G - G11'G/(1'G1) on {sum = 0} (docs/mathematics.md, section 3).
    sums = plain.sum(axis=1)
    plain -= np.outer(sums, sums) / sums.sum()
    covariance = np.zeros_like(information)
    covariance[np.ix_(places, places)] = plain
    return covariance


def half_width(level: float) -> float:
    """Return how many standard errors an interval of this level extends to each side."""
    return float(normal_isf((1 - level) / 2))


def cell_errors(
    patterns: Patterns,
    x: Floats,
    level: float,
    people: float | None = None,
    grain: Floats | None = None,
) -> CellErrors:
    """Return standard errors, intervals and covariances of a maximum-likelihood table.

    `people` and `grain` as in `errors_around`.

    Edge cases: tables of more than 2,048 cells have NaN for every error.
    """
    if len(x) > LARGEST_TABLE:
        unknown = np.full(len(x), np.nan)
        return CellErrors(unknown, unknown, unknown, None, x, None)
    score, whole = information(patterns, x)
    sigma = on_simplex(whole)
    # One Newton step from the maximum without the bounds at 0: unbiased to first order.
    unbounded = x + sigma @ score
    active = on_simplex(whole, x > AT_BOUND)
    return errors_around(x, unbounded, sigma, active, level, people, grain)


def placed(errors: CellErrors, scores: Floats) -> Placement | None:
    """Return Sigma E Sigma of both covariances; None without them, E that of the summed scores."""
    sigma, active = errors.unbounded_covariance, errors.covariance
    if sigma is None or active is None:
        return None
    return Placement(sigma @ scores @ sigma, active @ scores @ active)


def errors_around(
    x: Floats,
    unbounded: Floats,
    sigma: Floats,
    active: Floats,
    level: float,
    people: float | None = None,
    grain: Floats | None = None,
) -> CellErrors:
    """Return the errors and intervals of a table from its covariances.

    Args:
        x: the likeliest table.
        unbounded: the unbiased one.
        sigma: the covariance of that, sample and noise together.
        active: the covariance if cells at 0 truly are there.
        level: of the intervals.
        people: the size of the sample, if its counts are few; else the intervals are normal.
        grain: the share that one telling report adds to each cell, if these may be few
            (`few_people`).
    """
    std_error = np.sqrt(np.maximum(sigma.diagonal(), 0.0))
    wide = half_width(level) * std_error
    below = above = wide
    if people is not None:
        below, above = few_people(np.clip(unbounded, 0.0, 1.0), std_error, people, level)
    if grain is not None:
        below, above = widened(below, above, std_error, grain, level)
    # Power-constrained: an estimate more than a standard error outside of 0..1 says no more than
    # one that is a standard error outside.
    inner = np.clip(unbounded, -std_error, 1 + std_error)
    low = np.minimum(np.clip(inner - below, 0.0, 1.0), x)
    high = np.maximum(np.clip(inner + above, 0.0, 1.0), x)
    return CellErrors(std_error, low, high, active, unbounded, sigma, grain)


def widened(
    below: Floats, above: Floats, std_error: Floats, grain: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return distances of intervals, at least those of as many telling reports as there may be."""
    less, more = telling(std_error, grain, level)
    return np.maximum(below, less), np.maximum(above, more)


def grain_of_sums(third: Floats, covariance: Floats) -> Floats:
    """Return the grains of sums of cells, as if every telling report told of one cell.

    Args:
        third: the sums of the cells' third cumulants, grain times variance.
        covariance: of the sums.
    """
    return np.asarray(third / np.maximum(covariance.diagonal(), 1e-300))


def regrained(grain: Floats | None, before: Floats, after: Floats) -> Floats | None:
    """Return the grains of estimates with a part of normal noise more: the third cumulant stays."""
    if grain is None:
        return None
    known = np.maximum(after.diagonal(), 1e-300)
    return np.asarray(grain * np.minimum(before.diagonal() / known, 1.0))


def sampling_covariance(x: Floats, n: int) -> Floats:
    """Return (D - x x') / n, the part of a table's covariance that is the sample's."""
    return np.asarray((np.diag(x) - np.outer(x, x)) / max(n, 1))

"""Statistical tests of one hypothesis each, as audits and tests of code need them.

    proportion(successes, trials, 0.5).p_value

A `Check` holds the hypothesis and the p-value of the data under it; the caller compares the p-value
with its own alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable._distributions import (
    binomial_cdf,
    binomial_pmf,
    binomial_sf,
    chi2_cdf,
    chi2_sf,
    normal_sf,
)
from deniable.errors import InvalidParameter

SMALLEST_CELL = 10.0
"""Cells with a smaller expected count are pooled: below it chi-square's tail is not to be trusted
at the small alphas used here."""
_ROUNDING = 1e-7
"""Two probabilities that differ by less of themselves count as equal."""


@dataclass(frozen=True)
class Check:
    """The outcome of a statistical test of one hypothesis.

    Attributes:
        hypothesis: in words.
        statistic: the number that was compared.
        p_value: the probability, if the hypothesis is true, of data at least as unlikely.
    """

    hypothesis: str
    statistic: float
    p_value: float

    def __str__(self) -> str:
        return f"{self.hypothesis}: statistic {self.statistic:.6g}, p-value {self.p_value:.3g}"


def proportion(successes: int, trials: int, probability: float, tolerance: float = 0.0) -> Check:
    """Test that trials succeed with a probability, or with one within `tolerance` of it.

    The test is exact (binomial). With a tolerance the nearer end of the band is tested, so that the
    level holds for every probability in the band.
    """
    hypothesis = f"{successes} of {trials} succeed with probability {probability:.6g}"
    if tolerance == 0:
        p_value = _two_sided(successes, trials, probability)
        return Check(hypothesis, successes / trials, p_value)
    low, high = max(0.0, probability - tolerance), min(1.0, probability + tolerance)
    below = binomial_cdf(successes, trials, low)
    above = binomial_sf(successes - 1, trials, high)
    # Twice the smaller tail: the level holds even where the band is a single point.
    p_value = min(1.0, 2 * min(float(below), float(above)))
    return Check(f"{hypothesis} +- {tolerance:.3g}", successes / trials, p_value)


def _two_sided(successes: int, trials: int, probability: float) -> float:
    """Return the probability of all numbers of successes that are at most as likely as this one.

    The binomial law rises up to its mode and falls after it, so that those on the other side of
    the mode are a tail, whose end is found by halving.
    """
    limit = float(binomial_pmf(successes, trials, probability)) * (1 + _ROUNDING)

    def rare(number: int) -> bool:
        return float(binomial_pmf(number, trials, probability)) <= limit

    mode = min(trials, math.floor((trials + 1) * probability))
    if successes == mode or rare(mode):
        return 1.0
    if successes < mode:
        first = _halved(mode, trials + 1, rare)
        other = float(binomial_sf(first - 1, trials, probability))
        return min(1.0, float(binomial_cdf(successes, trials, probability)) + other)
    last = _halved(mode, -1, rare)
    other = float(binomial_cdf(last, trials, probability))
    return min(1.0, float(binomial_sf(successes - 1, trials, probability)) + other)


def _halved(usual: int, rare_from: int, rare: Callable[[int], bool]) -> int:
    """Return the rare number nearest to the usual one."""
    while abs(rare_from - usual) > 1:
        middle = (usual + rare_from) // 2
        usual, rare_from = (usual, middle) if rare(middle) else (middle, rare_from)
    return rare_from


def mean(observed: float, expected: float, std_error: float) -> Check:
    """Test that a mean with a known standard error, normal, has the expected value (z-test)."""
    if not std_error > 0:
        raise InvalidParameter(f"The standard error must be above 0. Got {std_error!r}.")
    z = (observed - expected) / std_error
    p_value = 2 * float(normal_sf(abs(z)))
    return Check(f"the mean {observed:.6g} is {expected:.6g} +- {std_error:.3g}", z, p_value)


def spread(deviations: ArrayLike, variance: ArrayLike, tolerance: float = 0.0) -> Check:
    """Test that independent normal deviations have the variance, or one within its tolerance.

    The sum of squares over the variance is chi-square with as many degrees as deviations. With a
    relative tolerance t the nearer end of the band variance (1 +- t) is tested.
    """
    squares = np.square(np.asarray(deviations)) / np.asarray(variance)
    total, degrees = float(squares.sum()), squares.size
    below = float(chi2_cdf(total / (1 - tolerance), degrees))
    above = float(chi2_sf(total / (1 + tolerance), degrees))
    return Check(
        f"{degrees} deviations have the stated variance +- {tolerance:.0%}",
        total / degrees,
        min(1.0, 2 * min(below, above)),
    )


def goodness_of_fit(observed: ArrayLike, probabilities: ArrayLike) -> Check:
    """Test that counts come from a distribution (Pearson's chi-square; small cells are pooled).

    Edge cases: a count in a cell of probability 0 has p-value 0.

    Raises:
        InvalidParameter: if the probabilities do not sum to 1 or fewer than two cells remain.
    """
    counts = np.asarray(observed, dtype=np.float64)
    expected = np.asarray(probabilities, dtype=np.float64) * counts.sum()
    if counts.shape != expected.shape or not math.isclose(expected.sum(), counts.sum()):
        raise InvalidParameter("The probabilities must be one per count and sum to 1.")
    name = f"{int(counts.sum())} counts in {counts.size} cells fit the distribution"
    if np.any(counts[expected == 0]):
        return Check(name, math.inf, 0.0)
    cells = _pooled(expected, expected)
    return _chi_square(name, _sums(counts, cells), _sums(expected, cells), _degrees(cells))


def homogeneity(first: ArrayLike, second: ArrayLike) -> Check:
    """Test that two lists of counts come from one distribution (chi-square; small cells pooled).

    Raises:
        InvalidParameter: if one list is empty or fewer than two cells remain.
    """
    table = np.array([first, second], dtype=np.float64)
    totals, both = table.sum(axis=1), table.sum(axis=0)
    if not np.all(totals > 0):
        raise InvalidParameter("Both lists of counts must hold something.")
    # The rarer of the two must fill the cell as well.
    cells = _pooled(both * totals.min() / totals.sum(), both)
    pooled = np.array([_sums(row, cells) for row in table])
    expected = totals[:, None] * pooled.sum(axis=0)[None, :] / totals.sum()
    name = f"{int(totals[0])} and {int(totals[1])} counts have one distribution"
    return _chi_square(name, pooled, expected, _degrees(cells))


def _pooled(sizes: NDArray[np.float64], order: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return a cell number for each entry, so that every cell has the smallest size or more."""
    cells = np.zeros(sizes.size, dtype=np.intp)
    cell, filled = 0, 0.0
    for place in np.argsort(-order, kind="stable"):
        if filled >= SMALLEST_CELL:
            cell, filled = cell + 1, 0.0
        cells[place] = cell
        filled += sizes[place]
    if cell > 0 and filled < SMALLEST_CELL:
        cells[cells == cell] = cell - 1
    return cells


def _sums(counts: NDArray[np.float64], cells: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.bincount(cells, weights=counts).astype(np.float64)


def _degrees(cells: NDArray[np.intp]) -> int:
    degrees = int(cells.max())
    if degrees < 1:
        raise InvalidParameter(
            f"A chi-square test needs two cells of {SMALLEST_CELL:.0f} expected counts or more: "
            "use more trials."
        )
    return degrees


def _chi_square(
    hypothesis: str, observed: NDArray[np.float64], expected: NDArray[np.float64], degrees: int
) -> Check:
    statistic = float((np.square(observed - expected) / expected).sum())
    return Check(hypothesis, statistic, float(chi2_sf(statistic, degrees)))

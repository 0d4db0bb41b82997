"""Views for whole populations; the model stands in protocol/views.py.

A moment theta_A of a set A of attributes is the mean of the product of their contrasts. k-RR over
m cells multiplies it by gap_m and adds nothing, because contrasts sum to 0; so every report about a
view that contains A says something about theta_A. With y a reported cell and N_m the number of
reports about such views of m cells,

    theta_A = sum_m gap_m sum_y phi_A(y) / Z_A,        Z_A = sum_m N_m gap_m^2,

the mean of least variance. Two moments are correlated through the views that contain both.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, cached_property, lru_cache
from itertools import combinations

import numpy as np

from deniable.mechanisms.base import Codes, Counts, Floats
from deniable.mechanisms.closed_form import sign_variance
from deniable.mechanisms.contrast_matrices import contrast_matrix, inverse
from deniable.mechanisms.moments import Moment, Moments, Subset, design, subsets_of
from deniable.mechanisms.profile_base import Reader, Reading
from deniable.mechanisms.profile_pools import Pool, Pools
from deniable.mechanisms.profile_truth import TruthMechanism
from deniable.protocol.views import ViewsParameters


class Views(TruthMechanism):
    """k-RR over the cells of one of a few overlapping sets of attributes, at their own answers."""

    parameters_type = ViewsParameters
    parameters: ViewsParameters

    @cached_property
    def pools(self) -> Pools:
        """The views, in the order of the survey."""
        return Pools(self.parameters.views, self.answers)

    @property
    def inner(self) -> tuple[int, ...]:
        """The answers themselves: no cell is impossible."""
        return self.answers

    def gap(self, cells: int) -> float:
        """Return keep - move of k-RR over a number of cells."""
        return self.pure_over(cells).gap

    def reader(self, counts: Counts) -> Reader:
        """Return tables from the moments of their subsets, each from all views that contain it.

        Cost: O(4^k) small products per table of k attributes.
        """
        pooled = _Pooled(self, counts)

        def read(attributes: Subset) -> Reading:
            subsets = subsets_of(attributes)
            shape = [self.answers[i] for i in attributes]
            places = np.arange(np.prod(shape)).reshape(shape)
            theta = np.ones(places.size)
            covariance = np.zeros((places.size, places.size))
            rows = {s: _functions_of(places, attributes, s) for s in subsets}
            for number, one in enumerate(subsets):
                theta[rows[one]] = pooled.theta(one)
                for other in subsets[: number + 1]:
                    block = pooled.covariance(one, other)
                    covariance[np.ix_(rows[one], rows[other])] = block
                    covariance[np.ix_(rows[other], rows[one])] = block.T
            # cells = U theta with U = (F_1 x ... x F_k)^-1, hence Cov(cells) = U Cov(theta) U'.
            undo = design([inverse(contrast_matrix(count)) for count in shape])
            return undo @ theta, undo @ covariance @ undo.T

        return read

    def moments(
        self,
        counts: Counts,
        order: int | None = None,
        needed: Collection[Subset] | None = None,
    ) -> Moments:
        """Return the moments of every set of at most `order` attributes.

        Cost: a few small products per set.
        """
        self._check_counts(counts)
        most = min(order or self.parameters.order, self.parameters.order)
        pooled = _Pooled(self, counts)
        measured = {
            attributes: pooled.moment(attributes)
            for size in range(1, most + 1)
            for attributes in combinations(range(len(self.answers)), size)
            if size <= 2 or needed is None or attributes in needed
        }
        return Moments(self.answers, measured, counts.n)

    def variance(self, n: int, frequency: float | Floats = 0.0) -> Floats:
        """Return the variance of the share f of an answer of a yes/no attribute, the first one.

        (1 - (gap theta)^2)/(4 n w gap^2) - f (1 - f)/n, theta = 1 - 2 f, w the share of the views
        that contain the attribute, all of one number of cells.

        Guarantees: given the people's values, and exact for n w reports on the attribute.
        """
        held = [number for number, view in enumerate(self.parameters.views) if 0 in view]
        share = len(held) / len(self.parameters.views)
        gaps = [self.gap(self.parameters.cells(number)) for number in held]
        # Z = sum_m N_m gap_m^2 with equal N_m: the root mean square of the gaps stands for all.
        return sign_variance(float(np.sqrt(np.mean(np.square(gaps)))), share, n, frequency)


class _Pooled:
    """The pooled estimates of all views about sets of attributes; each is computed once.

    Args:
        mechanism: views.
        counts: of its reports.
    """

    def __init__(self, mechanism: Views, counts: Counts) -> None:
        self._mechanism, self._counts = mechanism, counts
        self._pools: dict[Subset, list[Pool]] = {}
        self._thetas: dict[Subset, Floats] = {}
        self._weights: dict[Subset, float] = {}
        self._gap = cache(mechanism.gap)

    def pools(self, attributes: Subset) -> list[Pool]:
        """Return the counts of the views that contain a set."""
        if attributes not in self._pools:
            table, reports = self._counts.table, self._counts.reports
            found = self._mechanism.pools.summed(table, reports, attributes)
            self._pools[attributes] = found
        return self._pools[attributes]

    def weight(self, attributes: Subset) -> float:
        """Return Z, the sum of N_m gap_m^2."""
        if attributes not in self._weights:
            pools = self.pools(attributes)
            self._weights[attributes] = sum(p.reports * self._gap(p.cells) ** 2 for p in pools)
        return self._weights[attributes]

    def theta(self, attributes: Subset) -> Floats:
        """Return the moments of a set; NaN where nobody reported on it."""
        if attributes not in self._thetas:
            functions = self._contrasts(attributes, attributes)
            total = np.zeros(len(functions))
            for pool in self.pools(attributes):
                total += self._gap(pool.cells) * (functions @ pool.observed.reshape(-1))
            with np.errstate(invalid="ignore"):
                self._thetas[attributes] = total / np.float64(self.weight(attributes))
        return self._thetas[attributes]

    def covariance(self, one: Subset, other: Subset) -> Floats:
        """Return the covariance of the moments of two sets, sampling included.

        Over the views of m cells that contain both, the reports of a product of contrasts have the
        mean gap_m theta; so Cov = sum_m gap_m^2 N_m (mean of products - product of means)/(Z Z'),
        with theta clipped to -1..1, where it must lie.
        """
        both = tuple(sorted({*one, *other}))
        left, right = self._contrasts(both, one), self._contrasts(both, other)
        means = np.outer(np.clip(self.theta(one), -1, 1), np.clip(self.theta(other), -1, 1))
        total = np.zeros(means.shape)
        for pool in self.pools(both):
            gap, seen = self._gap(pool.cells), pool.observed.reshape(-1)
            total += gap**2 * ((left * seen) @ right.T - pool.reports * gap**2 * means)
        with np.errstate(invalid="ignore"):
            return np.asarray(total / np.float64(self.weight(one) * self.weight(other)))

    def moment(self, attributes: Subset) -> Moment:
        """Return the moments of a set with their variances."""
        shape = tuple(self._mechanism.answers[i] - 1 for i in attributes)
        reports = float(sum(pool.reports for pool in self.pools(attributes)))
        if reports == 0:
            return Moment(np.zeros(shape), np.full(shape, np.inf), 0.0)
        theta = self.theta(attributes)
        squares = self._contrasts(attributes, attributes) ** 2
        total = np.zeros(len(theta))
        for pool in self.pools(attributes):
            gap = self._gap(pool.cells)
            mean = gap * np.clip(theta, -1, 1)
            total += gap**2 * (squares @ pool.observed.reshape(-1) - pool.reports * mean**2)
        # The diagonal of `covariance`: Var = sum_m gap_m^2 N_m (E[phi^2] - (gap_m theta)^2) / Z^2.
        variance = total / self.weight(attributes) ** 2
        return Moment(theta.reshape(shape), variance.reshape(shape), reports)

    def _contrasts(self, attributes: Subset, kept: Subset) -> Floats:
        """Return the products of contrasts of `kept` over the cells of `attributes`, a row each."""
        answers = self._mechanism.answers
        return _products(
            tuple(answers[i] for i in attributes), tuple(i in kept for i in attributes)
        )


@lru_cache(maxsize=4_096)
def _products(shape: tuple[int, ...], kept: tuple[bool, ...]) -> Floats:
    parts = [
        contrast_matrix(answers)[1:] if own else np.ones((1, answers))
        for answers, own in zip(shape, kept, strict=True)
    ]
    return design(parts)


def _functions_of(places: Codes, attributes: Subset, subset: Subset) -> Codes:
    """Return where the moments stand in which just `subset` has contrasts."""
    index = tuple(slice(1, None) if i in subset else 0 for i in attributes)
    return np.asarray(places[index]).reshape(-1)

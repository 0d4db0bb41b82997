"""Every pair of attributes: raw and smoothed tables, tests, correlations and the tree.

counts -> tables of all pairs -> tests, correlations, dependency tree
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from deniable._distributions import f_sf
from deniable.errors import InvalidParameter
from deniable.marginals.correlation import Correlation, correlation
from deniable.marginals.independence import ALPHA, PairTest, Wald, corrected, wald
from deniable.marginals.inference import TreeModel
from deniable.marginals.table import Table
from deniable.marginals.tree import REDRAWS, Tree, chow_liu, with_confidence
from deniable.mechanisms.base import Floats

Pair = tuple[int, int]


def population_covariance(raw: Table) -> Floats:
    """Return the covariance of a raw table about the population that the people came from.

    A table's own covariance is given the people's values; drawing people adds to it.

    Raises:
        InvalidParameter: if the table is not raw.
    """
    if raw.covariance is None:
        raise InvalidParameter(
            f"Only a raw table has an error statement. Got a {raw.kind} one: its shares are shrunk."
        )
    if not np.isfinite(raw.probability).all():
        return raw.covariance
    return raw.covariance + raw.sampling_covariance


def independence(raw: Table) -> Wald:
    """Return the noise-aware test of independence of a raw table of two attributes.

    The covariance is estimated from n people, those whose reports tell of the table: the statistic
    is referred to the distribution of Hotelling's, T^2 (n - d) / (d (n - 1)) ~ F(d, n - d), which
    for many people is a chi-square.

    Edge cases: a table that could not be learned (NaN) is not tested: its p-value is NaN. With no
    more people than degrees of freedom it is 1.
    """
    found = wald(raw.probability, population_covariance(raw))
    d, n = found.degrees, raw.n if raw.told is None else raw.told
    if not (np.isfinite(found.p_value) and d):
        return found
    return replace(found, p_value=p_value_of(found.statistic, d, n))


def p_value_of(statistic: float, degrees: int, n: float) -> float:
    """Return the p-value of a statistic of Hotelling's from n people, as `independence` has it."""
    if n <= degrees:
        return 1.0
    return float(f_sf(statistic * (n - degrees) / (degrees * (n - 1)), degrees, n - degrees))


@dataclass(frozen=True)
class Pairs:
    """The tables of all pairs of attributes.

    Attributes:
        attributes: the names.
        raw: unbiased tables with their covariance, by places (i, j), i < j.
        smoothed: distributions that agree with each other, by the same places.
        apart: the same tables smoothed one by one, where `smoothed` are margins of one whole
            distribution; else empty. Tables gain by what a whole distribution must be, and the
            order of weak pairs, which a tree is made of, loses a little.
    """

    attributes: tuple[str, ...]
    raw: Mapping[Pair, Table]
    smoothed: Mapping[Pair, Table]
    apart: Mapping[Pair, Floats] = field(default_factory=dict)

    def tests(self, alpha: float = ALPHA) -> tuple[PairTest, ...]:
        """Return the test of every pair, with the decisions of Holm and Benjamini-Hochberg."""
        return corrected(list(self.raw), [independence(t) for t in self.raw.values()], alpha)

    def correlations(self) -> dict[Pair, Correlation]:
        """Return the association of every pair from the smoothed tables, without errors."""
        return {pair: correlation(table.probability) for pair, table in self.smoothed.items()}

    def raw_correlations(self) -> dict[Pair, Correlation]:
        """Return the association of every pair from the raw tables, with standard errors.

        Edge cases: noise may put one beyond -1 or 1, or a margin beyond 0 or 1 (NaN).
        """
        return {
            pair: correlation(table.probability, population_covariance(table))
            for pair, table in self.raw.items()
        }

    @cached_property
    def cells(self) -> dict[Pair, Floats]:
        """The smoothed cells by pair."""
        return {pair: table.probability for pair, table in self.smoothed.items()}

    def tree(self, rng: np.random.Generator | None = None, redraws: int = REDRAWS) -> Tree:
        """Return the dependency tree; with a generator, with the confidence of every edge."""
        tables = self.apart or self.cells
        tree = chow_liu(self.attributes, tables)
        if rng is None:
            return tree
        raw = {
            pair: (table.probability, population_covariance(table))
            for pair, table in self.raw.items()
        }
        return with_confidence(tree, tables, raw, rng, redraws)

    def model(self, tree: Tree | None = None) -> TreeModel:
        """Return the distribution along the tree."""
        return TreeModel.of(self.tree() if tree is None else tree, self.cells)

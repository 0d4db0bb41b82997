"""All pairs of attributes without crafted reports: tests, correlations, information, tree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from deniable import _validate
from deniable.crafted.raw_tables import crafted_correlation, crafted_statistic
from deniable.crafted.search import Progress, Range
from deniable.crafted.smoothed_tables import pair_ranges
from deniable.crafted.weighted_sums import most_among, weighted_shift
from deniable.decode.significance import holm
from deniable.errors import InvalidParameter
from deniable.marginals.correlation import correlation
from deniable.marginals.independence import ALPHA
from deniable.marginals.information import mutual_information
from deniable.marginals.pairs import Pair, Pairs, independence, p_value_of, population_covariance
from deniable.marginals.smoothed import Tables
from deniable.marginals.table import Z95, Table
from deniable.marginals.tree import Tree
from deniable.mechanisms import Counts, ProfileMechanism
from deniable.mechanisms.base import Floats

_BARS = (
    "With crafted reports: raw correlations have their 95% interval with the largest shift added, "
    "p-values their least and largest. Smoothed numbers and bits have the range of what they "
    "become if shifts are taken out of the counts: a search, and down to 0 bits where the test "
    "might find nothing."
)
_NOWHERE = Range(math.nan, math.nan)


@dataclass(frozen=True)
class CraftedPair:
    """The ranges of a pair's numbers without the crafted reports.

    Attributes:
        p_value: the range of the p-value of the test of independence.
        raw: the second interval of the raw correlation.
        smoothed: the range of the smoothed correlation.
        information: the range of the mutual information, in bits.

    Where a number is unknown, both ends of its range are NaN.
    """

    p_value: Range
    raw: Range
    smoothed: Range = _NOWHERE
    information: Range = _NOWHERE


@dataclass(frozen=True)
class CraftedPairs:
    """The ranges of all pairs without a share of crafted reports.

    Attributes:
        crafted: the share of crafted reports.
        pairs: the ranges, by the places of both attributes.
        notes: sentences for the reader.
    """

    crafted: float
    pairs: Mapping[Pair, CraftedPair]
    notes: tuple[str, ...] = ()

    def still(self, alpha: float = ALPHA) -> dict[Pair, bool]:
        """Return whether each pair stays dependent: Holm's test of the largest p-values."""
        largest = np.array([one.p_value.high for one in self.pairs.values()])
        return {
            pair: bool(sure) for pair, sure in zip(self.pairs, holm(largest, alpha), strict=True)
        }


def crafted_pairs(
    mechanism: ProfileMechanism,
    counts: Counts,
    tables: Pairs,
    crafted: float,
    progress: Progress | None = None,
) -> CraftedPairs:
    """Return the ranges of all pairs that a share of crafted reports allows.

    Cost: up to 1,000 smoothings.

    Edge cases: where there are too many pairs or answers for them, a note says so, and smoothed
    correlations and mutual information have no ends.

    Args:
        mechanism: of the question.
        counts: of its reports.
        tables: of all pairs.
        crafted: the share of reports that may be crafted.
        progress: called with the progress of the search.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1.
    """
    share = _validate.probability("crafted", "pairs", crafted)
    notes, found = [_BARS], {}
    smoothed = [(_NOWHERE, _NOWHERE)] * len(tables.raw)
    try:
        smoothed = _smoothed(mechanism, counts, tables, share, progress)
    except InvalidParameter as error:
        notes.append(str(error))
    for (pair, table), (value, bits) in zip(tables.raw.items(), smoothed, strict=True):
        statistics, raw = _raw(mechanism, pair, table, share)
        degrees = max(1, independence(table).degrees)
        told = table.n if table.told is None else table.told
        # The largest statistic has the least p-value, hence the reversed order.
        p_value = Range(*(p_value_of(t, degrees, told) for t in reversed(statistics)))
        # A statistic of 0 is independence: then size and information may be 0, too.
        if statistics.low == 0 and table.probability.shape != (2, 2):
            value = Range(0.0, value.high)  # Cramer's V, which has no sign
        if statistics.low == 0:
            bits = Range(0.0, bits.high)
        found[pair] = CraftedPair(p_value, raw, value, bits)
    return CraftedPairs(share, found, tuple(notes))


def _raw(
    mechanism: ProfileMechanism, pair: Pair, table: Table, crafted: float
) -> tuple[Range, Range]:
    """Return the range of the test's statistic, and the second interval of the raw correlation.

    The latter is the 95% interval and the largest shift; of yes/no attributes alone.
    """
    cells = table.probability
    if not np.isfinite(cells).all():
        return _NOWHERE, _NOWHERE
    among = most_among(mechanism.parameters, pair, crafted)
    shift = partial(weighted_shift, mechanism.parameters, pair, crafted=crafted)
    noise = population_covariance(table)
    statistics = crafted_statistic(cells, noise, shift, among)
    if cells.shape != (2, 2):
        return statistics, _NOWHERE
    found = correlation(cells, noise)
    low, high = crafted_correlation(cells, found.value, shift)
    wide = Z95 * found.std_error
    return statistics, Range(low - wide, high + wide)


def _smoothed(
    mechanism: ProfileMechanism,
    counts: Counts,
    tables: Pairs,
    crafted: float,
    progress: Progress | None,
) -> list[tuple[Range, Range]]:
    """Return the ranges of smoothed correlations and of mutual information over all shifts."""

    def read(found: Tables) -> tuple[Floats, Floats]:
        cells = [found[pair] for pair in tables.raw]
        values = [correlation(one).value for one in cells]
        return np.array(values), np.array([float(mutual_information(one)) for one in cells])

    ends = pair_ranges(mechanism, counts, tables, crafted, read, progress)
    values, bits = ([Range(*map(float, both)) for both in zip(*one, strict=True)] for one in ends)
    return [*zip(values, bits, strict=True)]


@dataclass(frozen=True)
class CraftedEdge:
    """An edge of the tree without crafted reports: its best rival, and whether it stays.

    Attributes:
        information: the range of the pair's mutual information without crafted reports, in bits.
        rival: the other pair that could join the same two parts and may have the most information.
        stays: whether the edge is in every tree that the ranges allow.
    """

    information: Range
    rival: Pair | None
    stays: bool


def crafted_edges(tree: Tree, found: CraftedPairs) -> list[CraftedEdge]:
    """Return every edge of a tree without crafted reports, in the order of the tree's edges.

    Model: without an edge the tree falls into two parts. The pair that has the most information of
    all that join them is in the tree of the most information, whatever the other pairs have (cut
    property), so that the edge stays if its least exceeds the largest of every other.

    Edge cases: an edge whose information has no ends may not stay. One without a rival (two
    attributes) stays.
    """
    edges = []
    for edge in tree.edges:
        part = _part(tree, (edge.first, edge.second))
        own = found.pairs[edge.first, edge.second].information
        rivals = [
            pair
            for pair in found.pairs
            if (pair[0] in part) != (pair[1] in part) and pair != (edge.first, edge.second)
        ]
        best = max(rivals, key=lambda pair: _most(found.pairs[pair]), default=None)
        # Cut property: an edge that outweighs every rival across its cut is in the tree.
        stays = best is None or own.low > _most(found.pairs[best])
        edges.append(CraftedEdge(own, best, stays))
    return edges


def _most(pair: CraftedPair) -> float:
    most = pair.information.high
    return most if math.isfinite(most) else math.inf


def _part(tree: Tree, without: Pair) -> set[int]:
    """Return the attributes on the first one's side of a tree without an edge."""
    joins = [{e.first, e.second} for e in tree.edges if (e.first, e.second) != without]
    part = {without[0]}
    while grown := [ends for ends in joins if len(ends & part) == 1]:
        part.update(*grown)
    return part

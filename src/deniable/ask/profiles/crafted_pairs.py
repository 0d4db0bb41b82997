"""The second error bar of all pairs: tests, correlations, mutual information, the tree's edges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from deniable import _validate
from deniable._distributions import chi2_sf
from deniable.ask.profiles.crafted_tables import shift_of
from deniable.ask.profiles.reports import Profiles
from deniable.decode.significance import holm
from deniable.errors import InvalidParameter
from deniable.marginals.correlation import correlation
from deniable.marginals.crafted.derived import Range, attacked_correlation, attacked_statistic
from deniable.marginals.crafted.smoothed import Progress, check_tables, smoothed_without
from deniable.marginals.independence import ALPHA
from deniable.marginals.information import mutual_information
from deniable.marginals.pairs import Pair, Pairs, independence, population_covariance
from deniable.marginals.table import Z95, Table
from deniable.marginals.tree import Tree
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Subset
from deniable.privacy.leverage.weighted_sums import most_among

STILL = (
    "With {share:.3g} of the reports crafted, of {found:,} dependent pairs (Holm) are still "
    "dependent for sure: {still:,}."
)
BARS = (
    "With crafted reports: raw correlations have their 95% interval with what liars can do at most "
    "added, p-values their least and largest. Smoothed numbers and bits have the range of what "
    "they become if attacks are taken out of the counts: a search, and down to 0 bits where the "
    "test might find nothing."
)
EDGES = (
    "With {share:.3g} of the reports crafted, {stay:,} of {edges:,} edges stay: the least "
    "information that the search finds for the pair is above the most of any other pair that could "
    "join the same two parts of the tree. The rival is the one that comes nearest."
)
_NOWHERE = Range(math.nan, math.nan)


@dataclass(frozen=True)
class AttackedPair:
    """The ranges of a pair's numbers without the crafted reports.

    Attributes:
        p_value: the range of the p-value of the test of independence.
        raw: the attacked interval of the raw correlation.
        smoothed: the range of the smoothed correlation.
        information: the range of the mutual information, in bits.

    Where a number is unknown, both ends of its range are NaN.
    """

    p_value: Range
    raw: Range
    smoothed: Range = _NOWHERE
    information: Range = _NOWHERE


@dataclass(frozen=True)
class AttackedPairs:
    """The ranges of all pairs without a share of crafted reports.

    Attributes:
        attackers: the share of crafted reports.
        pairs: the ranges, by the places of both attributes.
        notes: sentences for the reader.
    """

    attackers: float
    pairs: Mapping[Pair, AttackedPair]
    notes: tuple[str, ...] = ()

    def still(self, alpha: float = ALPHA) -> dict[Pair, bool]:
        """Return whether each pair stays dependent: Holm's test of the largest p-values."""
        largest = np.array([one.p_value.high for one in self.pairs.values()])
        return {
            pair: bool(sure) for pair, sure in zip(self.pairs, holm(largest, alpha), strict=True)
        }


def attacked_pairs(
    reports: Profiles, attackers: float, progress: Progress | None = None
) -> AttackedPairs:
    """Return the ranges of all pairs that a share of crafted reports allows.

    Cost: up to 1,000 smoothings.

    Edge cases: where there are too many pairs or levels for them, a note says so, and smoothed
    correlations and mutual information have no ends.

    Args:
        reports: to the question.
        attackers: the share of reports that may be crafted.
        progress: called with the progress of the search.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1.
    """
    share = _validate.probability("attackers", "pairs", attackers)
    tables, notes = reports.pairs, [BARS]
    smoothed: dict[Pair, tuple[Range, Range]] = {}
    try:
        check_tables({pair: table.probability.shape for pair, table in tables.raw.items()})
        smoothed = _smoothed(reports, tables, share, progress)
    except InvalidParameter as error:
        notes.append(str(error))
    found = {}
    for pair, table in tables.raw.items():
        statistics = _statistics(reports, pair, table, share)
        degrees = max(1, independence(table).degrees)
        # The largest statistic has the least p-value, hence the reversed order.
        p_value = Range(*(float(chi2_sf(t, degrees)) for t in reversed(statistics)))
        value, bits = smoothed.get(pair, (_NOWHERE, _NOWHERE))
        # A statistic of 0 is independence: then size and information may be 0, too.
        if statistics.low == 0 and table.probability.shape != (2, 2):
            value = Range(0.0, value.high)  # Cramer's V, which has no sign
        if statistics.low == 0:
            bits = Range(0.0, bits.high)
        found[pair] = AttackedPair(p_value, _raw(reports, table, share), value, bits)
    return AttackedPairs(share, found, tuple(notes))


def _statistics(reports: Profiles, pair: Pair, table: Table, attackers: float) -> Range:
    if not np.isfinite(table.probability).all():
        return _NOWHERE
    among = most_among(reports.mechanism.parameters, pair, attackers)
    shift = shift_of(reports, table.attributes, attackers)
    return attacked_statistic(table.probability, population_covariance(table), shift, among)


def _raw(reports: Profiles, table: Table, attackers: float) -> Range:
    """Return the attacked interval of a raw correlation: the largest shift and the 95% interval."""
    if table.probability.shape != (2, 2) or not np.isfinite(table.probability).all():
        return _NOWHERE
    found = correlation(table.probability, population_covariance(table))
    shift = shift_of(reports, table.attributes, attackers)
    low, high = attacked_correlation(table.probability, found.value, shift)
    return Range(low - Z95 * found.std_error, high + Z95 * found.std_error)


def _smoothed(
    reports: Profiles, tables: Pairs, attackers: float, progress: Progress | None
) -> dict[Pair, tuple[Range, Range]]:
    """Return the ranges of smoothed correlations and of mutual information over all attacks."""
    raw: dict[Subset, Floats] = {pair: table.probability for pair, table in tables.raw.items()}
    seen: dict[Subset, Floats] = {pair: tables.cells[pair] for pair in tables.raw}
    runs = [seen]
    runs += smoothed_without(reports.mechanism, reports.counts, raw, attackers, progress)
    found = {}
    for pair in tables.raw:
        every = np.array([run[pair] for run in runs])
        bits = mutual_information(every)
        values = np.array([correlation(cells).value for cells in every])
        known = values[np.isfinite(values)]
        ends = Range(float(known.min()), float(known.max())) if known.size else _NOWHERE
        found[pair] = ends, Range(float(bits.min()), float(bits.max()))
    return found


@dataclass(frozen=True)
class AttackedEdge:
    """An edge of the tree under attack: its information, its best rival, and whether it stays.

    Attributes:
        information: the range of the pair's mutual information without crafted reports, in bits.
        rival: the other pair that could join the same two parts and may have the most information.
        stays: whether the edge is in every tree that the ranges allow.
    """

    information: Range
    rival: Pair | None
    stays: bool


def attacked_edges(tree: Tree, found: AttackedPairs) -> list[AttackedEdge]:
    """Return every edge of a tree under attack, in the order of the tree's edges.

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
        edges.append(AttackedEdge(own, best, stays))
    return edges


def _most(pair: AttackedPair) -> float:
    most = pair.information.high
    return most if math.isfinite(most) else math.inf


def _part(tree: Tree, without: Pair) -> set[int]:
    """Return the attributes on the first one's side of a tree without an edge."""
    part, waiting = {without[0]}, [without[0]]
    while waiting:
        place = waiting.pop()
        for edge in tree.edges:
            if (edge.first, edge.second) == without or place not in (edge.first, edge.second):
                continue
            other = edge.second if place == edge.first else edge.first
            if other not in part:
                part.add(other)
                waiting.append(other)
    return part

"""All pairs of attributes as people read them: tests, the dependency tree, synthetic profiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deniable._words import plural
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.profiles.reports import Profiles
from deniable.ask.profiles.shares import about_profiles, said_first
from deniable.crafted.pairs import CraftedPairs, crafted_edges, crafted_pairs
from deniable.marginals.independence import ALPHA, PairTest
from deniable.marginals.information import mutual_information
from deniable.marginals.synthetic import KEEPS, sample_profiles
from deniable.marginals.tree import REDRAWS, Tree
from deniable.results.charts.attributes import (
    CORRELATIONS_KEY,
    TREE_KEY,
    correlations,
    correlations_described,
    dependency_tree,
    tree_described,
)
from deniable.results.table import Cell, Column, Table

TESTED = (
    "Independence is tested with the noise in it (Wald, on the raw table). Holm: not one false "
    "pair wanted, 5%. BH: 5% false pairs allowed (Benjamini-Hochberg)."
)
CORRELATED = (
    "Correlation: Pearson's of yes/no attributes, else Cramer's V, which has no unbiased form and "
    "no raw number. Raw: from the raw table, with its standard error; noise can put it beyond -1 "
    "or 1. Smoothed, and the mutual information in "
    "bits: from smoothed tables, shrunk, hence rather near 0."
)
LEARNT = (
    "The tree joins the pairs with the most mutual information (Chow and Liu), from smoothed "
    f"tables. Confidence: the share of {REDRAWS} redraws of the noise whose tree has the edge."
)
UNKNOWN = (
    "Too few reports: of {unknown:,} of {pairs:,} pairs nobody reported on some coefficients. They "
    "have no raw table and no test, and smoothing takes them for independent."
)
CONSTANT = (
    "As far as the noise tells, everybody has the same answer of: {names}. What does not vary "
    "has no correlation."
)
STILL = (
    "With {share:.3g} of the reports crafted, of {found:,} dependent pairs (Holm) are still "
    "dependent for sure: {still:,}."
)
EDGES = (
    "With {share:.3g} of the reports crafted, {stay:,} of {edges:,} edges stay: the least "
    "information that the search finds for the pair is above the most of any other pair that could "
    "join the same two parts of the tree. The rival is the one that comes nearest."
)
TREE_SEED = 0
"""Redraws are no secret: the same reports give the same confidence."""
NOTHING = 1e-9
"""A smoothed share of at most this counts as 0."""


PAIR_COLUMNS = (
    Column("first", "label", "first"),
    Column("second", "label", "second"),
    Column("raw_correlation", "number", "raw", decimals=3, extra=True),
    Column("std_error", "number", "std. error", decimals=3, extra=True),
    Column("smoothed_correlation", "number", "smoothed", decimals=3),
    Column("information", "number", "bits", decimals=3, extra=True),
    Column("statistic", "number"),
    Column("degrees", "count"),
    Column("p_value", "p_value", "p-value"),
    Column("holm", "decision", "dependent", word="Holm"),
    Column("bh", "decision", "dependent", word="BH"),
)
CRAFTED_PAIR_COLUMNS = (
    Column("crafted_raw", "second_interval", "raw, crafted", of="number", decimals=3),
    Column("crafted_smoothed", "second_interval", of="number"),
    Column("crafted_information", "second_interval", "bits, crafted", of="number", decimals=3),
    Column("crafted_p_value", "second_interval", of="p_value"),
    Column("crafted_holm", "decision", "still", word="yes", otherwise="unsure"),
)
_LESS = ("std_error", "smoothed_correlation")
EDGE_COLUMNS = (
    Column("first", "label", "first"),
    Column("second", "label", "second"),
    Column("information", "number", "bits", decimals=4),
    Column("confidence", "share", "confidence"),
)


def pairs_table(reports: Profiles, alpha: float = ALPHA, options: Options = DEFAULTS) -> Table:
    """Return every pair with its test, correlation and mutual information, the surest first.

    Args:
        reports: to the question.
        alpha: the family-wise error of the tests.
        options: this reads `crafted`, which adds ranges to all numbers.

    Raises:
        InvalidParameter: if only single attributes were collected, or `crafted` is no share.
    """
    columns, still = list(PAIR_COLUMNS), dict[tuple[int, int], bool]()
    ranges = _without_crafted(reports, options)
    if ranges is not None:
        still = ranges.still(alpha)
        # Fewer of the usual ones are shown, so that the table stays narrow.
        columns = [replace(c, title="") if c.name in _LESS else c for c in PAIR_COLUMNS]
        columns += CRAFTED_PAIR_COLUMNS
    rows = [(*row, *_crafted_cells(one, ranges, still)) for one, row in _pair_rows(reports, alpha)]
    rows.sort(key=_surest_first)
    first, notes = said_first(reports), (*unknown_pairs(reports), *constant_attributes(reports))
    notes += (TESTED, CORRELATED)
    what = f"{plural(len(rows), 'pair')} of attributes"
    if ranges is not None:
        found = [row for row in rows if row[9]]
        sure = sum(bool(row[-1]) for row in found)
        said = STILL.format(share=ranges.crafted, found=len(found), still=sure)
        notes = (said, *notes, *ranges.notes)
        what += f", with {ranges.crafted:.3g} crafted"
    return Table.of(
        about_profiles(reports, "pairs", what, options.crafted, alpha=alpha),
        columns,
        rows,
        notes=(*first, *notes),
        picture=correlations,
        described=correlations_described,
        caption=lambda _: CORRELATIONS_KEY,
    )


def _pair_rows(reports: Profiles, alpha: float) -> list[tuple[PairTest, tuple[Cell, ...]]]:
    pairs, names = reports.pairs, reports.profile.names
    smoothed, raw = pairs.correlations(), pairs.raw_correlations()
    found = []
    for one in pairs.tests(alpha):
        pair = (one.first, one.second)
        cells: tuple[Cell, ...] = (
            names[one.first],
            names[one.second],
            raw[pair].value if raw[pair].signed else math.nan,
            raw[pair].std_error,
            smoothed[pair].value,
            float(mutual_information(pairs.cells[pair])),
            *(one.test.statistic, one.test.degrees, one.test.p_value, one.holm, one.bh),
        )
        found.append((one, cells))
    return found


def _without_crafted(reports: Profiles, options: Options) -> CraftedPairs | None:
    """Return the ranges of all pairs without crafted reports, where these are asked for."""
    if options.crafted is None:
        return None
    told, pairs = options.stage("searching"), reports.pairs
    return crafted_pairs(reports.mechanism, reports.counts, pairs, options.crafted, told)


def _crafted_cells(
    one: PairTest, ranges: CraftedPairs | None, still: dict[tuple[int, int], bool]
) -> tuple[Cell, ...]:
    if ranges is None:
        return ()
    pair = (one.first, one.second)
    found = ranges.pairs[pair]
    return (found.raw, found.smoothed, found.information, found.p_value, still[pair])


def unknown_pairs(reports: Profiles) -> tuple[str, ...]:
    """Return a note that counts the pairs without a raw table, if there are any."""
    raw = reports.pairs.raw.values()
    unknown = sum(not np.isfinite(table.probability).all() for table in raw)
    return (UNKNOWN.format(unknown=unknown, pairs=len(raw)),) if unknown else ()


def constant_attributes(reports: Profiles) -> tuple[str, ...]:
    """Return a note where smoothed shares of attributes are all of one answer."""
    cells, names = reports.pairs.cells, reports.profile.names
    found = {
        names[pair[axis]]: None
        for pair, table in cells.items()
        for axis in (0, 1)
        if np.count_nonzero(table.sum(axis=1 - axis) > NOTHING) < 2
    }
    ordered = [name for name in names if name in found]
    return (CONSTANT.format(names=", ".join(ordered)),) if ordered else ()


def _surest_first(row: Sequence[Cell]) -> tuple[float, float]:
    """Return the sort key of pairs: the p-value, then the size; untested pairs come last."""
    p_value, size = row[8], row[4]
    known = isinstance(p_value, float) and math.isfinite(p_value)
    sized = isinstance(size, float) and math.isfinite(size)
    return (p_value if known else 2.0, -abs(size) if sized else 0.0)  # type: ignore[return-value,arg-type]


def learnt_tree(reports: Profiles) -> Tree:
    """Return the dependency tree with the confidence of its edges."""
    return reports.pairs.tree(np.random.default_rng(TREE_SEED))


def tree_table(reports: Profiles, options: Options = DEFAULTS) -> Table:
    """Return the dependency tree: its edges, the most informative first.

    Args:
        reports: to the question.
        options: this reads `crafted`, which adds whether each edge stays without crafted
            reports.

    Raises:
        InvalidParameter: if only single attributes were collected, or `crafted` is no share.
    """
    tree, names = learnt_tree(reports), reports.profile.names
    notes: tuple[str, ...] = (*said_first(reports), *unknown_pairs(reports), LEARNT)
    columns = [*EDGE_COLUMNS]
    rows: list[tuple[Cell, ...]] = [
        # Where nothing was learned no edge is better than another, however often it comes back.
        (names[edge.first], names[edge.second], edge.information, edge.confidence)
        if reports.learned
        else (names[edge.first], names[edge.second], edge.information, math.nan)
        for edge in tree.edges
    ]
    found = _without_crafted(reports, options)
    if found is not None:
        edges, title = crafted_edges(tree, found), f"bits with {found.crafted:.3g} crafted"
        columns += [
            Column("crafted_information", "second_interval", title, of="number", decimals=3),
            Column("crafted_stays", "decision", "stays", word="yes", otherwise="unsure"),
            Column("rival", "label", "rival"),
        ]
        for place, edge in enumerate(edges):
            rival = None if edge.rival is None else " and ".join(names[i] for i in edge.rival)
            rows[place] = (*rows[place], edge.information, edge.stays, rival)
        stay = sum(edge.stays for edge in edges)
        said = EDGES.format(share=found.crafted, stay=stay, edges=len(edges))
        notes = (said, *found.notes, *notes)
    what = f"dependency tree, {tree.information:.4g} bits in all"
    return Table.of(
        about_profiles(reports, "tree", what, options.crafted, information=tree.information),
        columns,
        rows,
        notes=notes,
        picture=dependency_tree,
        described=tree_described,
        caption=lambda _: TREE_KEY,
    )


def sample_table(reports: Profiles, profiles: int, rng: np.random.Generator) -> Table:
    """Return synthetic profiles drawn along the tree.

    Raises:
        InvalidParameter: if the number asked for cannot be drawn.
    """
    codes = sample_profiles(reports.pairs.model(), profiles, rng)
    labels = [np.array(one.domain.labels, dtype=object) for one in reports.profile.attributes]
    cells = [names[codes[:, i]].tolist() for i, names in enumerate(labels)]
    columns = [Column(name, "label", name) for name in reports.profile.names]
    about = about_profiles(reports, "sample", f"{profiles:,} synthetic profiles")
    notes = (*said_first(reports), KEEPS)
    return Table.of(about, columns, list(zip(*cells, strict=True)), notes=notes)

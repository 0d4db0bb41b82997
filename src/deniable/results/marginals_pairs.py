"""All pairs of attributes as people read them: tests, the dependency tree, synthetic records."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from deniable.marginals.crafted.smoothed import Progress
from deniable.marginals.independence import ALPHA
from deniable.marginals.information import mutual_information
from deniable.marginals.synthetic import KEEPS, sample_profiles
from deniable.marginals.tree import REDRAWS, Tree
from deniable.results.marginals import RecordReports
from deniable.results.marginals_attacked_pairs import attacked_pairs
from deniable.results.marginals_attacked_text import (
    CRAFTED_HEADER,
    attack_edges,
    crafted_line,
    still_note,
)
from deniable.results.marginals_charts import heat_chart, tree_chart
from deniable.results.marginals_tables import heading_of, number, summary_of, three
from deniable.results.table import p_text
from deniable.results.view import Cell, View

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
    "As far as the noise tells, everybody has the same level of: {names}. What does not vary "
    "has no correlation."
)
TREE_SEED = 0
"""Redraws are no secret: the same reports give the same confidence."""
NOTHING = 1e-9
"""A share below is 0."""


def pairs_view(
    reports: RecordReports,
    alpha: float = ALPHA,
    attackers: float | None = None,
    attacking: Progress | None = None,
) -> View:
    """Return every pair with its test, correlation and mutual information, the surest first.

    Args:
        reports: to the question.
        alpha: of the tests.
        attackers: the share of reports that may be crafted; adds ranges to all numbers.
        attacking: called with how much of that is done.

    Raises:
        InvalidParameter: if only single attributes were collected, or `attackers` is no share.
    """
    pairs, names = reports.pairs, reports.record.names
    attacked = None if attackers is None else attacked_pairs(reports, attackers, attacking)
    still = {} if attacked is None else attacked.still(alpha)
    tests, correlations, raw = pairs.tests(alpha), pairs.correlations(), pairs.raw_correlations()
    rows: list[dict[str, Cell]] = []
    for one in tests:
        pair = (one.first, one.second)
        more: dict[str, Cell] = {}
        if attacked is not None:
            more = {**attacked.pairs[pair].as_cells(), "attacked_holm": still[pair]}
        rows.append(
            {
                "first": names[one.first],
                "second": names[one.second],
                "raw_correlation": number(raw[pair].value) if raw[pair].signed else None,
                "std_error": number(raw[pair].std_error),
                "smoothed_correlation": number(correlations[pair].value),
                "information": number(float(mutual_information(pairs.cells[pair]))),
                "statistic": number(one.test.statistic),
                "degrees": one.test.degrees,
                "p_value": number(one.test.p_value),
                "holm": one.holm,
                "bh": one.bh,
                **more,
            }
        )
    rows.sort(key=_surest_first)
    heading: tuple[str, ...] = (*heading_of(reports), f"{len(rows):,} pairs of attributes")
    notes = (*unknown_pairs(reports), *constant_attributes(reports), TESTED, CORRELATED)
    data: dict[str, object] = {**summary_of(reports), "alpha": alpha}
    header: tuple[str, ...] = _PAIR_HEADER
    shown = [_pair_line(row) for row in rows]
    if attacked is not None:
        notes = (still_note(rows, attacked.attackers), *notes, *attacked.notes)
        header, shown = CRAFTED_HEADER, [crafted_line(row) for row in rows]
        heading = (*heading[:-1], f"{heading[-1]}, with {attacked.attackers:.3g} crafted")
        data["attackers"] = attacked.attackers
    data |= {"pairs": rows, "notes": list(notes)}
    return View(
        heading,
        header,
        shown,
        rows,
        data,
        notes,
        lambda: heat_chart(names, correlations, tests),
        f"Heat map of the correlations of {len(names)} attributes.",
    )


def unknown_pairs(reports: RecordReports) -> tuple[str, ...]:
    """Return a note where pairs have no raw table."""
    raw = reports.pairs.raw.values()
    unknown = sum(not np.isfinite(table.probability).all() for table in raw)
    return (UNKNOWN.format(unknown=unknown, pairs=len(raw)),) if unknown else ()


def constant_attributes(reports: RecordReports) -> tuple[str, ...]:
    """Return a note where smoothed shares of attributes are all on one level."""
    cells, names = reports.pairs.cells, reports.record.names
    found = {
        names[pair[axis]]: None
        for pair, table in cells.items()
        for axis in (0, 1)
        if np.count_nonzero(table.sum(axis=1 - axis) > NOTHING) < 2
    }
    ordered = [name for name in names if name in found]
    return (CONSTANT.format(names=", ".join(ordered)),) if ordered else ()


def _surest_first(row: Mapping[str, Cell]) -> tuple[float, float]:
    """Return what pairs are ordered by: the p-value, then the size; the untested come last."""
    p_value, size = row["p_value"], row["smoothed_correlation"]
    return (
        p_value if isinstance(p_value, float) else 2.0,
        -abs(size) if isinstance(size, float) else 0.0,
    )


_PAIR_HEADER = ("first", "second", "raw", "std. error", "smoothed", "bits", "p-value", "dependent")
_NUMBERS = ("raw_correlation", "std_error", "smoothed_correlation", "information")


def _pair_line(row: Mapping[str, Cell]) -> list[str]:
    p_value = row["p_value"]
    return [
        str(row["first"]),
        str(row["second"]),
        *(three(row[name]) for name in _NUMBERS),
        p_text(p_value if isinstance(p_value, float) else math.nan),
        "Holm" if row["holm"] else "BH" if row["bh"] else "",
    ]


def learnt_tree(reports: RecordReports) -> Tree:
    """Return the dependency tree with the confidence of its edges."""
    return reports.pairs.tree(np.random.default_rng(TREE_SEED))


def tree_view(
    reports: RecordReports, attackers: float | None = None, attacking: Progress | None = None
) -> View:
    """Return the dependency tree: its edges, the most informative first.

    Args:
        reports: to the question.
        attackers: the share of reports that may be crafted; says which edges stay without them.
        attacking: called with how much of that is done.

    Raises:
        InvalidParameter: if only single attributes were collected, or `attackers` is no share.
    """
    tree, names = learnt_tree(reports), reports.record.names
    notes: tuple[str, ...] = (*unknown_pairs(reports), LEARNT)
    rows: list[dict[str, Cell]] = [
        {
            "first": names[edge.first],
            "second": names[edge.second],
            "information": edge.information,
            "confidence": number(edge.confidence),
        }
        for edge in tree.edges
    ]
    header: tuple[str, ...] = ("first", "second", "bits", "confidence")
    shown = [
        [names[e.first], names[e.second], f"{e.information:.4f}", f"{e.confidence:.0%}"]
        for e in tree.edges
    ]
    data = {**summary_of(reports), "information": tree.information, "edges": rows}
    if attackers is not None:
        said = attack_edges(reports, tree, attackers, rows, shown, attacking)
        notes, data["attackers"] = (*said, *notes), attackers
        crafted = f"with {attackers:.3g} crafted"
        header = (*header, f"bits {crafted}", "stays", "rival")
    data["notes"] = list(notes)
    return View(
        (*heading_of(reports), f"dependency tree, {tree.information:.4g} bits in all"),
        header,
        shown,
        rows,
        data,
        notes,
        lambda: tree_chart(tree),
        f"Tree that joins {len(names)} attributes.",
    )


def sample_view(reports: RecordReports, records: int, rng: np.random.Generator) -> View:
    """Return synthetic records drawn along the tree.

    Raises:
        InvalidParameter: if so many cannot be drawn.
    """
    codes = sample_profiles(reports.pairs.model(), records, rng)
    names = reports.record.names
    labels = [np.array(one.domain.labels, dtype=object) for one in reports.record.attributes]
    columns = [labels[i][codes[:, i]].tolist() for i in range(len(names))]
    rows: list[dict[str, Cell]] = [
        dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)
    ]
    return View(
        (*heading_of(reports), f"{records:,} synthetic records"),
        names,
        [[str(row[name]) for name in names] for row in rows],
        rows,
        {**summary_of(reports), "records": rows, "notes": [KEEPS]},
        (KEEPS,),
    )

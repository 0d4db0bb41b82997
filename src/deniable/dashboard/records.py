"""The part of a page about many attributes together: heat map, pairs, tree, pair tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.marginals.correlation import Correlation
from deniable.marginals.independence import PairTest
from deniable.marginals.tree import Tree
from deniable.results.marginals import RecordReports
from deniable.results.marginals_cells import Both, CellRow, cells_of
from deniable.results.marginals_charts import heat_chart, tree_chart
from deniable.results.marginals_pairs import (
    CORRELATED,
    LEARNT,
    TESTED,
    constant_attributes,
    learnt_tree,
    unknown_pairs,
)

MOST_PAIRS = 60
"""So many pairs stand in the page's list, the surest first."""
MOST_TABLES = 6
"""The tables of so many pairs stand on the page."""
PICTURES = ("heat", "tree")


@dataclass(frozen=True)
class PairRow:
    """One pair as the page lists it."""

    first: str
    second: str
    raw: Correlation
    smoothed: Correlation
    test: PairTest


class RecordSection:
    """What the page of a record question shows beside the shares of single attributes.

    Cost: all pairs' tables, the first time one of these is asked for.

    Args:
        reports: the question's counts.
    """

    def __init__(self, reports: RecordReports) -> None:
        self._reports = reports

    @cached_property
    def problem(self) -> str:
        """Why there are no pairs to show; empty if there are."""
        try:
            self._reports.check_order(2)
        except InvalidParameter as error:
            return error.message
        return "" if self._reports.n else "There are no reports yet."

    @cached_property
    def _found(self) -> tuple[dict[tuple[int, int], Correlation], tuple[PairTest, ...], Tree]:
        pairs = self._reports.pairs
        return pairs.correlations(), pairs.tests(), learnt_tree(self._reports)

    @property
    def pairs(self) -> list[PairRow]:
        """The pairs, the surest dependences first."""
        names = self._reports.record.names
        correlations, tests, _ = self._found
        raw = self._reports.pairs.raw_correlations()
        rows = [
            PairRow(names[t.first], names[t.second], raw[pair], correlations[pair], t)
            for t in tests
            if (pair := (t.first, t.second))
        ]
        rows.sort(key=lambda row: np.nan_to_num(row.test.test.p_value, nan=2.0))
        return rows

    @property
    def tree(self) -> Tree:
        """The dependency tree, with the confidence of its edges."""
        return self._found[2]

    @property
    def tables(self) -> list[tuple[tuple[str, ...], list[CellRow]]]:
        """The tables of the pairs of the tree's first edges, raw and smoothed."""
        pairs, found = self._reports.pairs, []
        for edge in self.tree.edges[:MOST_TABLES]:
            place = (edge.first, edge.second)
            both = Both(pairs.raw[place], pairs.smoothed[place])
            found.append((both.attributes, cells_of(both)))
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        found = (*unknown_pairs(self._reports), *constant_attributes(self._reports))
        return (*found, TESTED, CORRELATED, LEARNT)

    def picture(self, kind: str, theme: str, width: int) -> Any:
        """Return the heat map or the tree as a chart."""
        correlations, tests, tree = self._found
        if kind == "tree":
            return tree_chart(tree, theme=theme, width=width, heading=False)
        names = self._reports.record.names
        return heat_chart(names, correlations, tests, theme=theme, width=width, heading=False)

    def described(self, kind: str) -> str:
        """Return what a picture shows, for those who do not see it."""
        names = self._reports.record.names
        if kind == "tree":
            edge = self.tree.edges[0]
            joined = f"{names[edge.first]} and {names[edge.second]}"
            return f"Tree that joins {len(names)} attributes; most is shared by {joined}."
        sure = sum(row.test.holm for row in self.pairs)
        return f"Heat map of correlations of {len(names)} attributes; {sure} pairs are dependent."

"""Pairs and edges as people read them, with what they may be without crafted reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from deniable.marginals.crafted.smoothed import Progress
from deniable.marginals.tree import Tree
from deniable.results.marginals import RecordReports
from deniable.results.marginals_attacked_pairs import (
    EDGES,
    STILL,
    attacked_edges,
    attacked_pairs,
)
from deniable.results.marginals_tables import number, three
from deniable.results.table import p_text
from deniable.results.view import Cell


def still_note(rows: Sequence[Mapping[str, Cell]], attackers: float) -> str:
    """Say how many of the dependent pairs still are without crafted reports."""
    found = [row for row in rows if row["holm"]]
    still = sum(bool(row["attacked_holm"]) for row in found)
    return STILL.format(share=attackers, found=len(found), still=still)


CRAFTED_HEADER = (
    *("first", "second", "raw", "with crafted", "bits", "with crafted"),
    *("p-value", "at most", "dependent"),
)
"""The columns that `crafted_line` fills: few of the usual ones, so that the table stays narrow."""


def crafted_line(row: Mapping[str, Cell]) -> list[str]:
    """Return a pair with what it may be without crafted reports, as people read it."""
    found = "Holm" if row["holm"] else "BH" if row["bh"] else ""
    still = "still" if row["attacked_holm"] else "unsure"
    return [
        *(str(row["first"]), str(row["second"])),
        *(three(row["raw_correlation"]), range_text(row, "attacked_raw")),
        *(three(row["information"]), range_text(row, "attacked_information")),
        *(_p_text(row["p_value"]), _p_text(row["attacked_p_value_high"])),
        f"{found}: {still}" if found else "",
    ]


def _p_text(value: Cell) -> str:
    return p_text(value if isinstance(value, float) else math.nan)


def range_text(row: Mapping[str, Cell], name: str) -> str:
    """Return the two ends of a number; n/a for none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "n/a" if low is None else f"{three(low)} to {three(high)}"


def attack_edges(
    reports: RecordReports,
    tree: Tree,
    attackers: float,
    rows: list[dict[str, Cell]],
    shown: list[list[str]],
    progress: Progress | None = None,
) -> tuple[str, ...]:
    """Add to every edge what it is without crafted reports; return what a reader must know."""
    found, names = attacked_pairs(reports, attackers, progress), reports.record.names
    edges = attacked_edges(tree, found)
    for edge, row, line in zip(edges, rows, shown, strict=True):
        rival = None if edge.rival is None else " and ".join(names[place] for place in edge.rival)
        row["attacked_information_low"] = number(edge.information.low)
        row["attacked_information_high"] = number(edge.information.high)
        row |= {"attacked_stays": edge.stays, "rival": rival}
        stays = "yes" if edge.stays else "unsure"
        line += [range_text(row, "attacked_information"), stays, rival or "none"]
    stay = sum(edge.stays for edge in edges)
    return EDGES.format(share=attackers, stay=stay, edges=len(edges)), *found.notes

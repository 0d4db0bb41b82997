"""Pairs and edges as people read them, with what they may be without crafted reports."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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


def crafted_header(attackers: float) -> tuple[str, ...]:
    """Return the columns that `crafted_line` fills."""
    crafted = f"with {attackers:.3g} crafted"
    return f"raw {crafted}", f"bits {crafted}", f"p at most {crafted}", "still"


def crafted_line(row: Mapping[str, Cell]) -> list[str]:
    """Return what a pair may be without crafted reports, as people read it."""
    p_value = row["attacked_p_value_high"]
    return [
        *(range_text(row, name) for name in ("attacked_raw", "attacked_information")),
        p_text(p_value if isinstance(p_value, float) else math.nan),
        "yes" if row["attacked_holm"] else "not for sure" if row["holm"] else "",
    ]


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
) -> tuple[str, ...]:
    """Add to every edge what it is without crafted reports; return what a reader must know."""
    found, names = attacked_pairs(reports, attackers), reports.record.names
    edges = attacked_edges(tree, found)
    for edge, row, line in zip(edges, rows, shown, strict=True):
        rival = None if edge.rival is None else " and ".join(names[place] for place in edge.rival)
        row["attacked_information_low"] = number(edge.information.low)
        row["attacked_information_high"] = number(edge.information.high)
        row |= {"attacked_stays": edge.stays, "rival": rival}
        stays = "yes" if edge.stays else "not for sure"
        line += [range_text(row, "attacked_information"), stays, rival or "none"]
    stay = sum(edge.stays for edge in edges)
    return EDGES.format(share=attackers, stay=stay, edges=len(edges)), *found.notes

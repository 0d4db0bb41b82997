"""Trees as lists within lists: a label has a line of its own, so that none lies on another."""

from __future__ import annotations

from collections.abc import Callable

from deniable.results.charts.attributes import rooted
from deniable.results.figures.marks import described, grouped, text
from deniable.results.labels import shortened
from deniable.results.table.columns import plain
from deniable.results.table.table import Table

_ROOM = 60
_SURE = 0.9
"""The confidence from which an edge of a dependency tree is called sure."""


def beginnings_figure(table: Table) -> str:
    """Return the beginnings from which strings were grown; chains without a branch are one line."""
    children: list[list[int]] = [[] for _ in table.rows]
    for place, row in enumerate(table.rows):
        if row.parent >= 0:
            children[row.parent].append(place)

    def node(place: int) -> str:
        chain = [place]
        while len(children[chain[-1]]) == 1 and not table.rows[chain[-1]].found:
            chain.append(children[chain[-1]][0])
        row = table.rows[chain[-1]]
        grown = " → ".join(text(shortened(table.rows[one].text, _ROOM)) for one in chain[:-1])
        name = text(shortened(row.text, _ROOM))
        label = (
            f"<strong>{name}</strong> <span>{100 * row.share:.2g}%</span>"
            if row.found
            else f"{name}…"
        )
        before = f"<span>{grown} → </span>" if grown else ""
        return f"{before}{label}{_list(children[chain[-1]], node)}"

    inside = _list(children[0], node) if table.rows else ""
    return grouped(described(table), inside, "tree")


def dependency_figure(table: Table) -> str:
    """Return a dependency tree: under an attribute those that it says most about."""
    order, parents = rooted(table)
    edges = {frozenset((row.first, row.second)): row for row in table.rows}
    children: list[list[int]] = [[] for _ in order]
    for place, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(place)

    def node(place: int) -> str:
        told = ""
        if parents[place] >= 0:
            row = edges[frozenset((order[place], order[parents[place]]))]
            sure = plain(row.confidence)
            rival = "" if sure is None or sure >= _SURE else ", another edge could be as good"
            told = f" <span>information {row.information:.3g}{rival}</span>"
        name = text(shortened(order[place], _ROOM))
        return f"<strong>{name}</strong>{told}{_list(children[place], node)}"

    return grouped(described(table), f"<ul><li>{node(0)}</li></ul>", "tree")


def _list(places: list[int], node: Callable[[int], str]) -> str:
    if not places:
        return ""
    return "<ul>" + "".join(f"<li>{node(place)}</li>" for place in places) + "</ul>"

"""The beginnings that strings were grown from, as a table that a picture can draw."""

from __future__ import annotations

from deniable.discover import Discovery
from deniable.protocol.prefixes import END
from deniable.results.charts.beginnings import CAPTION, beginnings, tree_words
from deniable.results.table import About, Cell, Column, Table

MOST_LEAVES = 40
"""The number of strings that are drawn, the most frequent first."""
COLUMNS = (
    Column("text", "label", "beginning"),
    Column("parent", "count"),
    Column("share", "share", "share"),
    Column("found", "decision", "found", word="string"),
)


def tree_of(about: About, discovery: Discovery, most: int = MOST_LEAVES) -> Table:
    """Return the beginnings of the strings that were found, parents before children.

    `parent` is the place of the row that a row extends, -1 for the root. The share of a whole
    string is that of the verification group, of a beginning that of the level at which it was first
    seen. A level that adds no character to what its beginning determines adds no row.
    """
    rows = [row for row in discovery.rows if row.holm or row.storey][:most]
    shares = _shares(discovery)
    found: list[tuple[Cell, ...]] = [("", -1, 1.0, False)]
    places = {"": 0}
    for row in sorted(rows, key=lambda one: one.value):
        parent = 0
        texts = [t for t in shares if row.value.startswith(t) and t not in ("", row.value)]
        for text in sorted(texts, key=len):
            if text not in places:
                places[text] = len(found)
                found.append((text, parent, shares[text], False))
            parent = places[text]
        found.append((row.value, parent, row.frequency, True))
    drawn = {"picture": beginnings, "described": tree_words, "caption": lambda _: CAPTION}
    return Table.of(about, COLUMNS, found, **drawn)


def _shares(discovery: Discovery) -> dict[str, float]:
    """Return the beginnings that were kept, as text, with their first estimates."""
    shares: dict[str, float] = {}
    for level in discovery.levels:
        for kept in level.kept:
            if kept.symbols[-1:] == (END,):
                continue  # a whole string, not a beginning of others
            shares.setdefault(discovery.branches.text(kept.symbols), kept.estimate)
    return shares

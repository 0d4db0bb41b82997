"""The tree of beginnings from which strings were grown: as data, and as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deniable.discover import Discovery
from deniable.errors import InvalidParameter, MissingExtra
from deniable.protocol.prefixes import END
from deniable.results.chart import FONT, THEMES, WIDE
from deniable.results.labels import shortened

if TYPE_CHECKING:
    from altair import LayerChart

MOST_LEAVES = 40
"""So many of the most frequent strings are drawn."""
_STEP = 20
_LABEL = 24


@dataclass(frozen=True)
class Branch:
    """One beginning, or at last the whole string.

    Attributes:
        text: its characters.
        parent: the place of what it extends in the tree; -1 for the root.
        share: its estimated share of the people: of a whole string by the verification group, of a
            beginning by the level at which it was first seen.
        found: whether it is a string that was found.
    """

    text: str
    parent: int
    share: float
    found: bool

    def as_json(self) -> dict[str, object]:
        """Return the branch as JSON."""
        named: dict[str, object] = {"text": self.text, "parent": self.parent}
        return {**named, "share": self.share, "found": self.found}


def tree_of(discovery: Discovery, most: int = MOST_LEAVES) -> tuple[Branch, ...]:
    """Return the beginnings of the strings that were found, parents before children.

    A level that adds no character to what its beginning determines adds no branch.
    """
    rows = [row for row in discovery.rows if row.holm or row.storey][:most]
    shares = _shares(discovery)
    branches, places = [Branch("", -1, 1.0, False)], {"": 0}
    for row in sorted(rows, key=lambda found: found.value):
        parent = 0
        texts = [t for t in shares if row.value.startswith(t) and t not in ("", row.value)]
        for text in sorted(texts, key=len):
            if text not in places:
                places[text] = len(branches)
                branches.append(Branch(text, parent, shares[text], False))
            parent = places[text]
        branches.append(Branch(row.value, parent, row.frequency, True))
    return tuple(branches)


def _shares(discovery: Discovery) -> dict[str, float]:
    """Return the beginnings that were kept, as text, with their first estimates."""
    shares: dict[str, float] = {}
    for level in discovery.levels:
        for kept in level.kept:
            if kept.symbols[-1:] == (END,):
                continue  # a whole string, not a beginning of others
            shares.setdefault(discovery.branches.text(kept.symbols), kept.estimate)
    return shares


def heights(branches: Iterable[Branch]) -> list[float]:
    """Return the height of each branch: leaves one below the other, parents amid their children."""
    listed = list(branches)
    children: list[list[int]] = [[] for _ in listed]
    for place, branch in enumerate(listed):
        if branch.parent >= 0:
            children[branch.parent].append(place)
    found, leaves = [0.0] * len(listed), 0

    def place_below(place: int) -> float:
        nonlocal leaves
        if not children[place]:
            found[place], leaves = float(leaves), leaves + 1
        else:
            below = [place_below(child) for child in children[place]]
            found[place] = (below[0] + below[-1]) / 2
        return found[place]

    if listed:
        place_below(0)
    return found


def tree_chart(
    branches: tuple[Branch, ...], *, theme: str = "light", width: int = WIDE
) -> LayerChart:
    """Return the tree as a picture: left the first characters, right whole strings.

    Raises:
        InvalidParameter: if there is no such theme.
        MissingExtra: if Altair is not installed.
    """
    alt = _altair()
    if theme not in THEMES:
        raise InvalidParameter(f"A chart's theme must be one of {', '.join(THEMES)}.")
    colours, y = THEMES[theme], heights(branches)
    nodes = [_node(branch, branches, y[i]) for i, branch in enumerate(branches)]
    width_of = max(len(branch.text) for branch in branches) * 1.5 + 4
    across = alt.Scale(domain=[0, width_of], nice=False)
    down = alt.Scale(domain=[max(y) + 1, -1], nice=False)
    lines = _lines(alt, nodes, branches, across, down).mark_rule(color=colours.visible, opacity=0.7)
    base = alt.Chart(alt.Data(values=nodes)).encode(
        x=alt.X("x:Q", axis=None, scale=across), y=alt.Y("y:Q", axis=None, scale=down)
    )
    points = base.mark_circle(size=22, color=colours.visible, opacity=1)
    named = base.encode(text="label:N")
    words = {"align": "left", "font": FONT, "fontSize": 12}
    layers = alt.layer(
        lines,
        points,
        named.transform_filter("datum.found").mark_text(dx=6, color=colours.text, **words),
        named.transform_filter("!datum.found").mark_text(dx=3, dy=-6, color=colours.muted, **words),
    )
    drawn: LayerChart = layers.properties(
        width=width - 28,
        height=max(80, int(_STEP * (max(y) + 2))),
        padding=14,
        background=colours.background,
    ).configure_view(stroke=None)
    return drawn


def _lines(
    alt: Any, nodes: list[dict[str, Any]], branches: tuple[Branch, ...], across: Any, down: Any
) -> Any:
    """Return the lines from every branch to what it extends, wide where many people are."""
    edges = [
        {**nodes[i], "x0": nodes[branch.parent]["x"], "y0": nodes[branch.parent]["y"]}
        for i, branch in enumerate(branches)
        if branch.parent >= 0
    ]
    return alt.Chart(alt.Data(values=edges)).encode(
        x=alt.X("x0:Q", axis=None, scale=across),
        x2="x:Q",
        y=alt.Y("y0:Q", axis=None, scale=down),
        y2="y:Q",
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
    )


def _node(branch: Branch, branches: tuple[Branch, ...], y: float) -> dict[str, Any]:
    """Return a branch as the picture shows it: an inner one by the characters that it adds."""
    parent = branches[branch.parent].text if branch.parent >= 0 else ""
    label = branch.text if branch.found else branch.text[len(parent) :]
    share = f"  {100 * branch.share:.2g}%" if branch.found else ""
    return {
        "x": len(branch.text),
        "y": y,
        "label": shortened(label, _LABEL) + share if label else "",
        "found": branch.found,
        "width": 1 + 12 * max(0.0, min(branch.share, 0.5)),
    }


def tree_words(branches: tuple[Branch, ...]) -> str:
    """Return what the picture shows, for those who cannot see it."""
    leaves = sum(branch.found for branch in branches)
    inner = len(branches) - leaves - 1
    return f"A tree of {inner} beginnings that lead to {leaves} strings."


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise MissingExtra("analysis", "A chart") from None
    return altair

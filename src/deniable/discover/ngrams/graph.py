"""The graph of n-grams: a node for every common n-gram of a place, an edge for a common pair.

Nodes of one place are never joined, so that the graph of P places is P-partite; a string that
people hold is one node of each place, all joined to each other [FPE16, figure 6].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

Edges = NDArray[np.bool_]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Graph:
    """A graph whose nodes lie in parts.

    Attributes:
        parts: the names of the nodes of every part.
        joined: for each pair of parts, the lower one first, which of their nodes are joined: a row
            per node of the first, a column per node of the second.
    """

    parts: tuple[tuple[str, ...], ...]
    joined: Mapping[Pair, Edges]

    def __post_init__(self) -> None:
        for one, other in self.pairs:
            expected = (len(self.parts[one]), len(self.parts[other]))
            if (one, other) not in self.joined or self.joined[one, other].shape != expected:
                raise InvalidParameter(
                    f"A graph needs the edges between parts {one} and {other} as a table of shape "
                    f"{expected}."
                )

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of parts."""
        count = len(self.parts)
        return [(one, other) for one in range(count) for other in range(one + 1, count)]

    @property
    def edges(self) -> int:
        """The number of edges."""
        return sum(int(self.joined[pair].sum()) for pair in self.pairs)

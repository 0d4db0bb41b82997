"""All cliques of a P-partite graph that have a node in every part.

The search takes a node of the part that has the fewest left, strikes from all other parts the
nodes that are not joined to it, goes on if every part has nodes left, and else goes back. It visits
every clique once: each has exactly one node in the part that was taken, and is never struck. A
search that gave up at its first dead end would miss cliques, and one that did not look at all pairs
would return strings that are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from deniable.discover.ngrams.graph import Graph

MOST_STEPS = 5_000_000

Clique = tuple[int, ...]


@dataclass
class Budget:
    """The number of nodes that a search may still take.

    Attributes:
        left: when it is 0 the search ends, whether or not there is more.
    """

    left: int = MOST_STEPS


def cliques(graph: Graph, budget: Budget | None = None) -> Iterator[Clique]:
    """Yield every clique as the places of its nodes, a place per part.

    Guarantees: complete, and each clique once, unless the budget ran out: then it is 0. Within a
    part the first nodes are taken first.

    Cost: memory for one path; time in the worst case exponential in the number of parts, which the
    budget bounds.

    Args:
        graph: the graph.
        budget: the number of nodes that may be taken; five million by default.
    """
    budget = Budget() if budget is None else budget
    if graph.parts and all(graph.parts):
        free = [(1 << len(part)) - 1 for part in graph.parts]
        yield from _extend(_neighbours(graph), free, {}, budget)


Neighbours = list[list[list[int]]]
"""Of node j of part i the nodes of every part that it is joined to, as the bits of a number."""


def _neighbours(graph: Graph) -> Neighbours:
    found = [[[0] * len(graph.parts) for _ in part] for part in graph.parts]
    for one, other in graph.pairs:
        for i, row in enumerate(graph.joined[one, other]):
            for j in row.nonzero()[0].tolist():
                found[one][i][other] |= 1 << j
                found[other][j][one] |= 1 << i
    return found


def _extend(
    neighbours: Neighbours, free: list[int], taken: dict[int, int], budget: Budget
) -> Iterator[Clique]:
    """Yield the cliques that hold the nodes that are taken; `free` are those joined to them all."""
    rest = [part for part in range(len(free)) if part not in taken]
    if not rest:
        yield tuple(taken[part] for part in range(len(free)))
        return
    part = min(rest, key=lambda one: (free[one].bit_count(), one))
    nodes = free[part]
    while nodes:
        if budget.left <= 0:
            return
        budget.left -= 1
        node = (nodes & -nodes).bit_length() - 1
        nodes &= nodes - 1
        joined = neighbours[part][node]
        left = {one: free[one] & joined[one] for one in rest if one != part}
        if all(left.values()):
            going = [left.get(one, nodes_of) for one, nodes_of in enumerate(free)]
            yield from _extend(neighbours, going, {**taken, part: node}, budget)

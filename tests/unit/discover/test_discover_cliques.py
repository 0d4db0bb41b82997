"""Cliques: the example of the paper, brute force, and bounds."""

from __future__ import annotations

from itertools import islice, product

import numpy as np
import pytest

from deniable.discover.ngrams.cliques import Budget, cliques
from deniable.discover.ngrams.graph import Edges, Graph, Pair
from deniable.errors import InvalidParameter


def joined(parts: list[list[str]], edges: list[str]) -> Graph:
    """Return the graph of edges such as "ra-bb"; names tell their part."""
    places = {name: (i, j) for i, part in enumerate(parts) for j, name in enumerate(part)}
    tables: dict[Pair, Edges] = {
        (i, j): np.zeros((len(parts[i]), len(parts[j])), dtype=np.bool_)
        for j in range(len(parts))
        for i in range(j)
    }
    for edge in edges:
        (one, i), (other, j) = (places[name] for name in edge.split("-"))
        tables[one, other][i, j] = True
    return Graph(tuple(map(tuple, parts)), tables)


def spelled(graph: Graph) -> list[str]:
    return [
        "".join(part[node] for part, node in zip(graph.parts, clique, strict=True))
        for clique in cliques(graph)
    ]


def brute_force(graph: Graph) -> set[tuple[int, ...]]:
    every = product(*(range(len(part)) for part in graph.parts))
    return {
        nodes
        for nodes in every
        if all(graph.joined[i, j][nodes[i], nodes[j]] for i, j in graph.pairs)
    }


RABBIT = [["ra", "he"], ["bb", "rm"], ["it"]]
FIGURE_6 = ["ra-bb", "ra-it", "bb-it", "he-rm", "he-it", "rm-it", "he-bb"]


def test_rabbit_hermit_and_hebbit() -> None:
    """[FPE16, figure 6]: noise has joined he and bb, so that there is a third candidate."""
    graph = joined(RABBIT, FIGURE_6)
    assert sorted(spelled(graph)) == ["hebbit", "hermit", "rabbit"]
    assert graph.edges == 7


def test_one_missing_edge_removes_a_string() -> None:
    for edge in ("he-bb", "he-it", "bb-it"):
        graph = joined(RABBIT, [other for other in FIGURE_6 if other != edge])
        assert "hebbit" not in spelled(graph)


@pytest.mark.parametrize("density", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("sizes", [(1,), (3, 4), (3, 2, 4), (4, 3, 3, 2, 3)])
def test_brute_force(sizes: tuple[int, ...], density: float, rng: np.random.Generator) -> None:
    parts = tuple(tuple(f"{i}.{j}" for j in range(size)) for i, size in enumerate(sizes))
    for _ in range(20):
        tables: dict[Pair, Edges] = {
            (i, j): rng.random((sizes[i], sizes[j])) < density
            for j in range(len(sizes))
            for i in range(j)
        }
        graph = Graph(parts, tables)
        found = list(cliques(graph))
        assert len(found) == len(set(found))
        assert set(found) == brute_force(graph)


def test_a_part_without_nodes_has_no_cliques() -> None:
    graph = Graph((("a",), ()), {(0, 1): np.zeros((1, 0), dtype=np.bool_)})
    assert list(cliques(graph)) == []
    assert list(cliques(Graph((), {}))) == []


def full(parts: int, nodes: int) -> Graph:
    """Return the graph in which everything is joined: nodes^parts cliques."""
    names = tuple(tuple(f"{i}.{j}" for j in range(nodes)) for i in range(parts))
    every = np.ones((nodes, nodes), dtype=np.bool_)
    return Graph(names, {(i, j): every for j in range(parts) for i in range(j)})


def test_cliques_are_streamed() -> None:
    found = list(islice(cliques(full(20, 20)), 1_000))  # of 20^20
    assert len(set(found)) == 1_000


def test_the_budget_ends_a_search_without_end() -> None:
    budget = Budget(500)
    found = list(cliques(full(6, 8), budget))
    assert budget.left == 0
    assert 0 < len(found) <= 500
    rest = Budget(10**6)
    assert len(list(cliques(full(3, 3), rest))) == 27
    assert rest.left == 10**6 - (3 + 9 + 27)


def test_edges_must_fit_the_parts() -> None:
    with pytest.raises(InvalidParameter, match="between parts 0 and 1"):
        Graph((("a",), ("b",)), {})
    with pytest.raises(InvalidParameter, match=r"\(1, 2\)"):
        Graph((("a",), ("b", "c")), {(0, 1): np.ones((1, 1), dtype=np.bool_)})

"""The dependency tree of Chow and Liu [1968]: the pairs that say most about each other.

    tree = argmax over spanning trees of  sum over edges of  mutual information

Of all distributions in which every attribute depends on at most one other, the one along this tree
is nearest to the truth in Kullback-Leibler divergence. [CKS18, section 6.2]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.kernels.one_thread import one_thread
from deniable.marginals.independence import interaction
from deniable.marginals.information import information_matrix, mutual_information
from deniable.mechanisms.base import Floats

REDRAWS = 200
"""Redraws of the noise for the confidence of an edge."""
TIE = 1e-12
"""Bits by which pairs that nobody reported about differ in a redraw."""

Edges = NDArray[np.int64]
"""Pairs of places, the last axis of length 2, the smaller place first."""


@dataclass(frozen=True)
class Edge:
    """Two attributes that the tree joins.

    Attributes:
        first, second: their places, the smaller first.
        information: the mutual information of the pair, in bits, from the smoothed table.
        confidence: the share of redraws of the noise whose tree has this edge; NaN if none were
            made.
    """

    first: int
    second: int
    information: float
    confidence: float = float("nan")


@dataclass(frozen=True)
class Tree:
    """A spanning tree over attributes, by their places.

    Attributes:
        attributes: their names.
        edges: one fewer than attributes, the most informative first.
    """

    attributes: tuple[str, ...]
    edges: tuple[Edge, ...]

    @property
    def information(self) -> float:
        """The sum of the edges' mutual information, in bits."""
        return float(sum(edge.information for edge in self.edges))

    def order(self, root: int = 0) -> list[tuple[int, int | None]]:
        """Return every attribute with its parent, parents before children, from the root on."""
        near: dict[int, list[int]] = {i: [] for i in range(len(self.attributes))}
        for edge in self.edges:
            near[edge.first].append(edge.second)
            near[edge.second].append(edge.first)
        found: list[tuple[int, int | None]] = [(root, None)]
        for place, parent in found:
            found.extend((other, place) for other in sorted(near[place]) if other != parent)
        return found


def spanning_trees(weights: Floats) -> Edges:
    """Return the maximum spanning tree of each symmetric matrix of weights (Prim's algorithm).

    Guarantees: among equal weights the attributes that stand first win, so that the same weights
    give the same tree.

    Cost: d^2 per matrix, all matrices at once.

    Args:
        weights: of shape (..., d, d); d at least 2.

    Returns:
        Pairs of shape (..., d - 1, 2).
    """
    w = np.asarray(weights, dtype=np.float64)
    if w.ndim < 2 or w.shape[-1] != w.shape[-2] or w.shape[-1] < 2 or np.isnan(w).any():
        raise InvalidParameter("A tree takes a square matrix of at least two attributes, not NaN.")
    d, flat = w.shape[-1], w.reshape(-1, *w.shape[-2:])
    runs = np.arange(len(flat))
    outside = np.ones((len(flat), d), dtype=np.bool_)
    outside[:, 0] = False
    best, source = flat[:, 0, :].copy(), np.zeros((len(flat), d), dtype=np.int64)
    edges = np.empty((len(flat), d - 1, 2), dtype=np.int64)
    for step in range(d - 1):
        new = np.argmax(np.where(outside, best, -np.inf), axis=1)
        edges[:, step, 0], edges[:, step, 1] = source[runs, new], new
        outside[runs, new] = False
        closer = flat[runs, new] > best
        best = np.where(closer, flat[runs, new], best)
        source = np.where(closer, new[:, None], source)
    return np.sort(edges, axis=-1).reshape(*w.shape[:-2], d - 1, 2)


def chow_liu(attributes: Sequence[str], tables: Mapping[tuple[int, int], Floats]) -> Tree:
    """Return the tree of the smoothed tables of all pairs.

    Args:
        attributes: the names.
        tables: smoothed tables by (i, j), i < j.

    Raises:
        InvalidParameter: if there are fewer than two attributes, or a cell is negative.
    """
    matrix = information_matrix(tables, len(attributes))
    edges = [Edge(int(i), int(j), float(matrix[i, j])) for i, j in spanning_trees(matrix)]
    return Tree(tuple(attributes), tuple(sorted(edges, key=lambda edge: -edge.information)))


@one_thread
def with_confidence(
    tree: Tree,
    tables: Mapping[tuple[int, int], Floats],
    raw: Mapping[tuple[int, int], tuple[Floats, Floats]],
    rng: np.random.Generator,
    redraws: int = REDRAWS,
) -> Tree:
    """Return the tree with a confidence on each edge (parametric bootstrap).

    Model: the smoothed tables are taken for the truth; each pair's interaction gets fresh normal
    noise with the covariance of the raw interaction, and the tree is built again. The margins are
    left as they are: their noise moves all pairs of an attribute alike.

    Guarantees: an edge that noise could exchange for another shows it by a low share; so does one
    of a pair that nobody reported about, which any other such pair could replace. The noise of
    different pairs is drawn independently, which it is where every report is about one pair, and
    nearly so elsewhere.

    Args:
        tree: of `tables`.
        tables: the smoothed tables of all pairs, by (i, j), i < j.
        raw: the unbiased cells and their covariance, by the same pairs.
        rng: the only source of randomness.
        redraws: how many; more than 20.
    """
    redraws = _validate.integer("redraws", "with_confidence", redraws, 20, 100_000)
    d = len(tree.attributes)
    matrix = np.zeros((redraws, d, d))
    for (i, j), table in tables.items():
        _, spread = interaction(*raw[i, j])
        if np.isfinite(spread).all():
            found = mutual_information(_redrawn(table, spread, rng, redraws))
        else:  # nobody reported about this pair: no such pair comes before another, but by chance
            found = TIE * rng.random(redraws)
        matrix[:, i, j] = matrix[:, j, i] = found
    numbers = spanning_trees(matrix) @ np.array([d, 1])
    edges = (
        Edge(e.first, e.second, e.information, _share(numbers, e.first * d + e.second))
        for e in tree.edges
    )
    return Tree(tree.attributes, tuple(edges))


def _share(numbers: Edges, wanted: int) -> float:
    return float(np.mean(np.any(numbers == wanted, axis=1)))


def _redrawn(table: Floats, spread: Floats, rng: np.random.Generator, redraws: int) -> Floats:
    """Return tables with the margins of `table` and freshly noisy interactions."""
    product = np.outer(table.sum(axis=1), table.sum(axis=0))
    variances, directions = np.linalg.eigh(spread)
    # R R' is the covariance, so that R times standard normals has it.
    root = directions * np.sqrt(np.maximum(variances, 0.0))
    noise = rng.standard_normal((redraws, len(root))) @ root.T
    drawn: Floats = np.maximum(table + noise.reshape(redraws, *table.shape), 0.0)
    return np.where(drawn.sum(axis=(-2, -1), keepdims=True) > 0, drawn, product)


def true_information(
    edges: Iterable[tuple[int, int]], tables: Mapping[tuple[int, int], Floats]
) -> float:
    """Return the total mutual information that edges have in the given (true) tables."""
    return float(sum(mutual_information(tables[i, j]) for i, j in edges))

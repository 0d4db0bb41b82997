"""Trees, inference in them and records drawn from them, each against a slow obvious twin."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np
import pytest

from deniable.errors import InvalidParameter
from deniable.marginals.inference import TreeModel
from deniable.marginals.information import information_matrix, mutual_information
from deniable.marginals.synthetic import sample_profiles
from deniable.marginals.tree import (
    Edge,
    Tree,
    chow_liu,
    spanning_trees,
    true_information,
    with_confidence,
)
from deniable.testing.statistics import accept, goodness_of_fit, reject

ANSWERS = (2, 3, 2, 4)
NAMES = ("a", "b", "c", "d")
Tables = Mapping[tuple[int, int], np.ndarray]


def pair_tables(joint: np.ndarray) -> dict[tuple[int, int], np.ndarray]:
    axes = range(joint.ndim)
    return {(i, j): joint.sum(axis=tuple(set(axes) - {i, j})) for i, j in combinations(axes, 2)}


def along_a_tree(rng: np.random.Generator) -> np.ndarray:
    """Return a distribution in which b and d depend on a, and c on b."""
    a = rng.dirichlet(np.ones(2) * 3)
    b = rng.dirichlet(np.ones(3) * 0.5, 2)
    d = rng.dirichlet(np.ones(4) * 0.5, 2)
    c = rng.dirichlet(np.ones(2) * 0.5, 3)
    return np.asarray(np.einsum("a,ab,bc,ad->abcd", a, b, c, d))


def every_tree(d: int) -> list[tuple[tuple[int, int], ...]]:
    """Return all spanning trees, by trying every set of d - 1 pairs."""
    found = []
    for edges in combinations(list(combinations(range(d), 2)), d - 1):
        reached = {0}
        for _ in range(d):
            reached |= {v for edge in edges if reached & set(edge) for v in edge}
        if len(reached) == d:
            found.append(edges)
    return found


def test_the_spanning_tree_is_the_best_of_all() -> None:
    rng = np.random.default_rng(3)
    weights = rng.random((40, 5, 5))
    weights = weights + weights.transpose(0, 2, 1)
    trees = every_tree(5)
    assert len(trees) == 125  # Cayley: d^(d-2)
    for matrix, edges in zip(weights, spanning_trees(weights), strict=True):
        best = max(trees, key=lambda tree: sum(matrix[i, j] for i, j in tree))
        assert {tuple(edge) for edge in edges.tolist()} == set(best)


def test_mutual_information_of_known_tables() -> None:
    assert mutual_information(np.eye(2) / 2) == pytest.approx(1)
    assert mutual_information(np.eye(4)) == pytest.approx(2)  # relative to its own sum
    assert mutual_information(np.outer([0.3, 0.7], [0.2, 0.8])) == pytest.approx(0, abs=1e-12)
    many = np.stack([np.eye(2), np.ones((2, 2))])
    np.testing.assert_allclose(mutual_information(many), [1, 0], atol=1e-12)


def test_information_refuses_raw_cells() -> None:
    with pytest.raises(InvalidParameter, match="Use smoothed tables"):
        mutual_information(np.array([[0.6, -0.1], [0.3, 0.2]]))
    with pytest.raises(InvalidParameter, match="positive sum"):
        mutual_information(np.zeros((2, 2)))


def test_chow_liu_finds_the_tree_that_made_the_data() -> None:
    joint = along_a_tree(np.random.default_rng(2))
    tables = pair_tables(joint)
    tree = chow_liu(NAMES, tables)
    assert {(edge.first, edge.second) for edge in tree.edges} == {(0, 1), (0, 3), (1, 2)}
    assert tree.information == pytest.approx(true_information([(0, 1), (0, 3), (1, 2)], tables))
    matrix = information_matrix(tables, 4)
    assert tree.edges[0].information == pytest.approx(matrix.max())


def test_order_names_parents_before_children() -> None:
    tree = Tree(NAMES, (Edge(1, 3, 0.5), Edge(0, 3, 0.4), Edge(2, 3, 0.1)))
    assert tree.order() == [(0, None), (3, 0), (1, 3), (2, 3)]
    assert tree.order(2)[:2] == [(2, None), (3, 2)]


@pytest.fixture(scope="module")
def model() -> tuple[TreeModel, np.ndarray]:
    joint = along_a_tree(np.random.default_rng(2))
    tables = pair_tables(joint)
    return TreeModel.of(chow_liu(NAMES, tables), tables), joint


def test_every_joint_question_agrees_with_the_whole_table(
    model: tuple[TreeModel, np.ndarray],
) -> None:
    tree, joint = model
    for size in (1, 2, 3, 4):
        for asked in combinations(range(4), size):
            rest = tuple(set(range(4)) - set(asked))
            np.testing.assert_allclose(tree.joint(asked), joint.sum(axis=rest), atol=1e-12)
    np.testing.assert_allclose(
        tree.joint((3, 1)), joint.sum(axis=(0, 2)).T, atol=1e-12
    )  # in the order asked for


def test_every_conditional_question_agrees_with_the_whole_table(
    model: tuple[TreeModel, np.ndarray],
) -> None:
    tree, joint = model
    for known, asked in product(range(4), range(4)):
        if known == asked:
            continue
        for level in range(ANSWERS[known]):
            part = np.moveaxis(joint, known, 0)[level]
            place = asked - (asked > known)
            expected = part.sum(axis=tuple(set(range(3)) - {place})) / part.sum()
            np.testing.assert_allclose(tree.joint([asked], {known: level}), expected, atol=1e-12)
    both = joint[1, :, :, 2].sum(axis=1)
    np.testing.assert_allclose(tree.joint([1], {0: 1, 3: 2}), both / both.sum(), atol=1e-12)


def test_wrong_questions_are_refused(model: tuple[TreeModel, np.ndarray]) -> None:
    tree, _ = model
    with pytest.raises(InvalidParameter, match="asked for or given once"):
        tree.joint([0, 1], {1: 0})
    with pytest.raises(InvalidParameter, match="attributes 0 to 3"):
        tree.joint([4])
    with pytest.raises(InvalidParameter, match="given answer"):
        tree.joint([0], {1: 3})


def test_an_impossible_condition_is_refused_and_an_empty_level_is_bridged() -> None:
    tables = {(0, 1): np.array([[0.3, 0.7], [0.0, 0.0]])}
    tree = TreeModel.of(chow_liu(("a", "b"), tables), tables)
    np.testing.assert_allclose(tree.given[1][1], [0.3, 0.7])
    with pytest.raises(InvalidParameter, match="probability 0 in the tree"):
        tree.joint([1], {0: 1})


def test_a_table_too_large_is_refused() -> None:
    names = tuple(f"x{i}" for i in range(24))
    tables = {(i, i + 1): np.full((2, 2), 0.25) for i in range(23)}
    tree = Tree(names, tuple(Edge(i, i + 1, 0.1) for i in range(23)))
    with pytest.raises(InvalidParameter, match="16,777,216 cells is too large"):
        TreeModel.of(tree, tables).joint(range(24))


def test_records_follow_the_model(model: tuple[TreeModel, np.ndarray]) -> None:
    tree, joint = model
    codes = sample_profiles(tree, 200_000, np.random.default_rng(4))
    cells = np.ravel_multi_index(tuple(codes.T), ANSWERS)
    counts = np.bincount(cells, minlength=joint.size)
    accept(goodness_of_fit(counts, joint.ravel()))
    alone = joint.sum(axis=(1, 2, 3))
    rest = joint.sum(axis=0).ravel()
    reject(goodness_of_fit(counts, np.outer(alone, rest).ravel()), miss=1e-12)
    with pytest.raises(InvalidParameter, match="'profiles'"):
        sample_profiles(tree, 0, np.random.default_rng(4))


def test_confidence_is_high_for_clear_edges_and_low_for_doubtful_ones() -> None:
    sharp = np.array([[0.45, 0.05], [0.05, 0.45]])
    weak = np.array([[0.26, 0.24], [0.24, 0.26]])
    tables = {(0, 1): sharp, (0, 2): weak, (1, 2): weak}
    raw = {pair: (table, 1e-5 * np.eye(4)) for pair, table in tables.items()}
    tree = chow_liu(("a", "b", "c"), tables)
    found = with_confidence(tree, tables, raw, np.random.default_rng(0), 400)
    by_pair = {(edge.first, edge.second): edge.confidence for edge in found.edges}
    assert by_pair[0, 1] == 1
    (other,) = by_pair.keys() - {(0, 1)}
    assert 0.35 < by_pair[other] < 0.65  # both weak pairs would do
    again = with_confidence(tree, tables, raw, np.random.default_rng(0), 400)
    assert again == found


def test_a_pair_that_nobody_reported_about_keeps_no_edge() -> None:
    tables = {pair: np.full((2, 2), 0.25) for pair in ((0, 1), (0, 2), (1, 2))}
    tables[0, 1] = np.array([[0.3, 0.2], [0.2, 0.3]])
    raw = {pair: (table, 1e-6 * np.eye(4)) for pair, table in tables.items()}
    raw[1, 2] = (np.full((2, 2), np.nan), np.full((4, 4), np.nan))
    tree = chow_liu(("a", "b", "c"), tables)
    found = with_confidence(tree, tables, raw, np.random.default_rng(0), 50)
    assert found.edges[0].confidence == 1


def test_where_nobody_reported_no_edge_is_sure() -> None:
    pairs = list(combinations(range(8), 2))
    tables = {pair: np.full((2, 2), 0.25) for pair in pairs}
    raw = {pair: (np.full((2, 2), np.nan), np.full((4, 4), np.nan)) for pair in pairs}
    tree = chow_liu(tuple("abcdefgh"), tables)
    found = with_confidence(tree, tables, raw, np.random.default_rng(0), 200)
    assert max(edge.confidence for edge in found.edges) < 0.5  # 2/8 each, by chance


def test_fewer_than_two_attributes_make_no_tree() -> None:
    with pytest.raises(InvalidParameter, match="at least two attributes"):
        chow_liu(("a",), {})

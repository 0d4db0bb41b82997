from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.decode.design import Design, Shape, design_of
from deniable.errors import InvalidParameter
from deniable.mechanisms import Rappor
from deniable.protocol import ABSENT
from deniable.protocol.domain import ABSENT_KEY
from deniable.protocol.hashing import bloom_bits, fingerprint

RAPPOR = Rappor(bits=8, hashes=3, cohorts=4, p=0.25, q=0.75)
SHAPE = Shape(cohorts=4, bits=8, hashes=3)


def dense(design: Design) -> np.ndarray:
    """The obvious twin of everything sparse: a row of 0 and 1 per candidate."""
    table = np.zeros((len(design), design.rows + 1))
    for row, cells in enumerate(design.cells):
        table[row, cells] = 1
    return table[:, :-1]


def test_the_cells_of_strings_are_those_of_the_protocol(cells_of):
    strings = [f"s{i}" for i in range(50)]
    design = design_of(SHAPE, strings)
    assert np.array_equal(dense(design), cells_of(RAPPOR, strings))


def test_the_absent_answer_is_a_candidate_too():
    design = design_of(SHAPE, ["x", ABSENT])
    words = fingerprint(ABSENT_KEY)
    expected = {8 * j + bit for j in range(4) for bit in bloom_bits(words, j, 3, 8)}
    assert set(design.cells[1]) - {SHAPE.cells} == expected


def test_a_bit_that_hash_functions_share_counts_once():
    design = Shape(1, 4, 3).design(np.array([[[2, 2, 2]], [[0, 3, 0]]]))
    assert np.array_equal(dense(design), [[0, 0, 1, 0], [1, 0, 0, 1]])
    assert (design.cells == 4).sum() == 3  # the repeats stand for no cell
    assert np.array_equal(design.sums(np.ones(4))[0], [1, 2])


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(2, 9), st.integers(1, 4), st.integers(0, 2**32))
def test_sums_and_matrix_agree_with_a_dense_table(cohorts, bits, hashes, seed):
    rng = np.random.default_rng(seed)
    design = Shape(cohorts, bits, hashes).random(17, rng)
    table, values = dense(design), rng.normal(size=design.rows)
    assert np.allclose(design.sums(values, values**2)[0], table @ values)
    assert np.allclose(design.sums(values, values**2)[1], table @ values**2)
    assert np.array_equal(design.matrix().toarray(), table)


def test_sums_in_many_blocks_equal_those_in_one(monkeypatch, rng):
    design = Shape(3, 8, 2).random(101, rng)
    values = rng.normal(size=design.rows)
    whole = design.sums(values)[0]
    monkeypatch.setattr("deniable.decode.design.BLOCK_ENTRIES", 60)
    assert len(list(design.blocks())) == 11
    assert np.array_equal(design.sums(values)[0], whole)


def test_many_candidates_are_hashed_in_blocks_alike(monkeypatch):
    strings = [f"s{i}" for i in range(23)]
    whole = design_of(SHAPE, strings)
    monkeypatch.setattr("deniable.decode.design.BLOCK_ENTRIES", 50)
    assert np.array_equal(design_of(SHAPE, strings).cells, whole.cells)


def test_identical_columns_are_found_and_no_others(rng):
    shape = Shape(2, 4, 2)
    every = np.array(list(itertools.product(range(4), repeat=4))).reshape(-1, 2, 2)
    design = shape.design(every)
    groups = design.identical(np.ones(8, bool))
    slow: dict[bytes, list[int]] = {}
    for place, row in enumerate(dense(design)):
        slow.setdefault(row.tobytes(), []).append(place)
    expected = {tuple(group) for group in slow.values() if len(group) > 1}
    assert {tuple(group) for group in groups} == expected


def test_columns_that_differ_only_where_nobody_reports_are_identical():
    design = Shape(2, 4, 1).design(np.array([[[1], [0]], [[1], [3]], [[2], [0]]]))
    live = np.array([True] * 4 + [False] * 4)
    assert design.identical(np.ones(8, bool)) == []
    assert [list(group) for group in design.identical(live)] == [[0, 1]]


@pytest.mark.parametrize(("bits", "hashes"), [(2, 1), (3, 2), (4, 3)])
def test_the_mean_number_of_distinct_bits_is_that_of_all_draws(bits, hashes):
    draws = list(itertools.product(range(bits), repeat=hashes))
    mean = sum(len(set(draw)) for draw in draws) / len(draws)
    assert Shape(1, bits, hashes).distinct == pytest.approx(mean)


def test_wrong_bits_are_refused():
    with pytest.raises(InvalidParameter, match="from 0 to 7"):
        SHAPE.design(np.full((1, 4, 3), 8))
    with pytest.raises(InvalidParameter, match="from 0 to 7"):
        SHAPE.design(np.full((1, 4, 3), -1))
    with pytest.raises(InvalidParameter, match=r"shape \(candidates, 4, 3\)"):
        SHAPE.design(np.zeros((1, 3, 4), dtype=int))


def test_repeated_candidates_are_refused_by_their_places():
    with pytest.raises(InvalidParameter, match="Candidates 0 and 2 are the same"):
        design_of(SHAPE, ["é", "b", "é"])


def test_shapes_that_32_bits_cannot_number_are_refused():
    with pytest.raises(InvalidParameter, match="Cohorts times bits"):
        Shape(65_536, 65_537, 1)
    with pytest.raises(InvalidParameter, match="hashes"):
        Shape(1, 2, 0)


def test_no_candidates_make_an_empty_design(rng):
    design = SHAPE.random(0, rng)
    assert design.cells.shape == (0, 12)
    assert design.sums(np.ones(32))[0].size == 0

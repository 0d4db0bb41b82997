"""Where coefficients and attributes stand: fast numbering and pooling against the slow ones."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from deniable.mechanisms.moments import along_axes, design, subsets_of
from deniable.mechanisms.profile_numbering import CoefficientNumbers
from deniable.mechanisms.profile_pools import Pools
from deniable.protocol.profile_parameters import cell_of
from deniable.protocol.profile_selection import Selection
from material.profiles_expected import made, people_of


@pytest.mark.parametrize(
    ("functions", "order"), [((1, 1, 1, 1), 3), ((3, 1, 7, 2), 3), ((2, 2), 1)]
)
def test_numbers_are_the_protocols(functions: tuple[int, ...], order: int) -> None:
    selection = Selection(functions)
    fast = CoefficientNumbers(selection, order)
    assert fast.firsts[-1] == sum(selection.counts(order))
    attributes, chosen = fast.listed
    for number in range(fast.firsts[-1]):
        expected = selection.up_to(order, number)
        places = range(len(expected))
        assert tuple((attributes[number, p], chosen[number, p]) for p in places) == expected
        assert (chosen[number, len(expected) :] == -1).all()
        numbers = fast.numbers(tuple(i for i, _ in expected))
        assert numbers[tuple(function for _, function in expected)] == number


def test_pools_add_up_what_a_loop_adds_up(rng: np.random.Generator) -> None:
    answers = (2, 3, 2, 4)
    views = ((0, 1), (1, 2, 3), (0, 3), (0, 1, 3), (2,), (1, 3))
    pools = Pools(views, answers)
    most = int(pools.cells.max())
    table = np.zeros((len(views), most), dtype=np.int64)
    for row, cells in enumerate(pools.cells.tolist()):
        table[row, :cells] = rng.integers(0, 100, size=cells)
    reports = table.sum(axis=1)
    for attributes in subsets_of(range(4)):
        slow: dict[int, np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = {}
        for row, view in enumerate(views):
            if set(attributes) <= set(view):
                size = tuple(answers[i] for i in attributes)
                sums = slow.setdefault(int(pools.cells[row]), np.zeros(size, dtype=np.int64))
                for codes in product(*(range(answers[i]) for i in view)):
                    held = tuple(codes[view.index(i)] for i in attributes)
                    sums[held] += table[row, cell_of(codes, [answers[i] for i in view])]
        fast = pools.summed(table, reports, attributes)
        assert [pool.cells for pool in fast] == sorted(slow)
        for pool in fast:
            assert np.array_equal(pool.observed, slow[pool.cells])
            assert pool.reports == pool.observed.sum()


def test_cells_are_the_protocols(rng: np.random.Generator) -> None:
    mechanism = made("views", (3, 2, 4, 2), size=3)
    codes = people_of(mechanism, 200, rng)
    drawn = rng.integers(0, len(mechanism.pools.views), size=200)
    found = mechanism.pools.cell_of(drawn, codes)
    shape = mechanism.parameters
    expected = [shape.cell(v, tuple(row)) for v, row in zip(drawn, codes, strict=True)]
    assert found.tolist() == expected


def test_marginal_methods_number_tables_as_the_protocol_does(rng: np.random.Generator) -> None:
    mechanism = made("marg_ps", (2, 3, 2, 5), order=2)
    shape = mechanism.parameters
    assert [shape.marginal(number) for number in range(6)] == list(mechanism.pools.views)
    assert mechanism.pools.cells.tolist() == [shape.cells(number) for number in range(6)]
    codes = people_of(mechanism, 100, rng)
    for number in range(6):
        found = mechanism.pools.cell_of(np.full(100, number), codes)
        assert found.tolist() == [shape.cell(number, tuple(row)) for row in codes.tolist()]


def test_axes_are_transformed_as_the_kronecker_product(rng: np.random.Generator) -> None:
    matrices = [rng.normal(size=(3, 2)), rng.normal(size=(2, 2)), rng.normal(size=(4, 3))]
    tables = rng.normal(size=(5, 2, 2, 3))
    fast = along_axes(tables, matrices).reshape(5, -1)
    assert fast == pytest.approx(tables.reshape(5, -1) @ design(matrices).T)


def test_subsets_come_smallest_first() -> None:
    assert subsets_of((1, 4)) == [(1,), (4,), (1, 4)]
    assert len(subsets_of(range(5))) == sum(
        len(list(combinations(range(5), k))) for k in range(1, 6)
    )

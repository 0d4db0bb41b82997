"""The closed form of shifts in tables of k-RR: against the search, and against real attacks."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.associate import Variable, estimate_joint
from deniable.crafted.joint import crafted_shifts
from deniable.crafted.joint_krr import all_krr, krr_shifts
from deniable.mechanisms import KRR, OUE
from material.associate_people import dependent

PEOPLE = 20_000


def fields_of(
    sizes: tuple[int, ...], rng: np.random.Generator, people: int = PEOPLE
) -> list[Variable]:
    """Return fields by k-RR, the first two of which go together."""
    found = []
    for place, size in enumerate(sizes):
        mechanism = KRR(size, epsilon=3.0 + place)
        codes = dependent(rng, people, size)[0] if place else rng.integers(0, size, people)
        reports = mechanism.simulate(codes, rng)
        found.append(Variable("abc"[place], mechanism, reports))
    return found


@pytest.mark.parametrize("sizes", [(2, 3), (2, 2, 2)])
def test_it_is_what_the_search_finds(sizes, rng):
    """The slow twin: tables that are estimated again."""
    variables = fields_of(sizes, rng, 3_000)
    margins = ((0,), (1,)) if len(sizes) == 2 else ((0, 1), (1, 2))
    searched = crafted_shifts(variables, 0.02, margins=margins)
    every = {tuple(range(len(sizes))): searched, **searched.margins}
    for axes, expected in every.items():
        up, down = krr_shifts(variables, 60, axes)
        assert up == pytest.approx(expected.up, abs=1e-6)
        assert down == pytest.approx(expected.down, abs=1e-6)


def test_large_tables_contain_what_liars_do(rng):
    """Liars name the same two answers: as far as they can move that cell."""
    variables, share = fields_of((17, 18), rng), 0.02
    liars = round(share * PEOPLE)
    for variable in variables:
        variable.reports["symbol"][:liars] = 3
    found = crafted_shifts(variables, share, margins=((0,), (1,)))
    assert found.up.shape == (17, 18)
    assert found.margins[(1,)].up.shape == (18,)
    rest = [Variable(v.name, v.mechanism, v.reports[liars:]) for v in variables]
    seen, honest = (_linear(part) for part in (variables, rest))
    assert np.all(seen - honest <= found.up + 1e-9)
    assert np.all(honest - seen <= found.down + 1e-9)
    assert (seen - honest)[3, 3] == pytest.approx(found.up[3, 3])
    # Cells at 0 move the others a little: the likeliest table without the bounds is near.
    assert np.abs(estimate_joint(variables).unbounded - seen).max() < 0.1 * found.up[3, 3]


def _linear(variables: list[Variable]) -> np.ndarray:
    one, two = (
        np.linalg.inv(
            v.mechanism.likelihood(
                v.mechanism.records(np.arange(len(v.categories), dtype="<u4").tobytes())
            )
        )
        for v in variables
    )
    counts = np.zeros((len(one), len(two)))
    np.add.at(counts, tuple(v.reports["symbol"] for v in variables), 1.0)
    return one @ (counts / variables[0].n) @ two.T


def test_nobody_moves_nothing_and_half_everything(rng):
    variables = fields_of((17, 18), rng, 500)
    none, half = (crafted_shifts(variables, share, margins=((0,),)) for share in (0.0, 0.5))
    assert not none.up.any()
    assert not none.margins[(0,)].down.any()
    assert np.all(half.up == 1)
    assert np.all(half.margins[(0,)].down == 1)


def test_only_whole_fields_of_krr_have_it(rng):
    variables = fields_of((3, 3), rng, 200)
    assert all_krr(variables)
    some = Variable("c", variables[0].mechanism, variables[0].reports, ("0", "1"))
    assert not all_krr([variables[0], some])
    bits = OUE(3, epsilon=1.0)
    assert not all_krr([variables[0], Variable("d", bits, bits.simulate(np.zeros(200, int), rng))])

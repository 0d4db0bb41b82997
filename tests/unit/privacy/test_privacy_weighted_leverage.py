"""How far liars move a weighted sum of cells: against the bound of single cells, and real reports.

The attack itself is one report of every kind that is possible, sent by all liars.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.crafted.cells import table_shift
from deniable.crafted.weighted_sums import most_among, weighted_shift
from deniable.errors import InvalidParameter
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Categories,
    CoefficientsParameters,
    Profile,
    ProfileParameters,
)

ANSWERS = (2, 3, 5, 2)
SHARE = 0.01


def parameters_of(mechanism: str, order: int = 2) -> ProfileParameters:
    domains = [Categories(tuple(f"{i}" for i in range(count))) for count in ANSWERS]
    record = Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))
    found = resolve(mechanism, {"epsilon": 1.0, "order": order}, record, False)
    assert isinstance(found, ProfileParameters)
    return found


def shape_of(attributes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(ANSWERS[i] for i in attributes)


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_one_cell_has_the_bound_of_a_cell(mechanism: str) -> None:
    parameters = parameters_of(mechanism)
    for attributes in [(1,), *combinations(range(len(ANSWERS)), 2)]:
        shape = shape_of(attributes)
        each = []
        for cell in np.ndindex(shape):
            weights = np.zeros(shape)
            weights[cell] = 1.0
            each.append(weighted_shift(parameters, attributes, weights, SHARE))
        if len(attributes) == 1 and isinstance(parameters, CoefficientsParameters):
            # There the bound of a level is a little wider than that of the same cell.
            assert max(each) <= table_shift(parameters, attributes, SHARE) * (1 + 1e-9)
            continue
        assert max(each) == pytest.approx(table_shift(parameters, attributes, SHARE))


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_a_sum_moves_less_than_its_cells(mechanism: str, rng: np.random.Generator) -> None:
    """The shift is a norm, but for what no attack moves: it grows with factors and adds up."""
    parameters = parameters_of(mechanism)
    for attributes in combinations(range(len(ANSWERS)), 2):
        shape = shape_of(attributes)
        one, two = rng.normal(size=(2, *shape))
        first, second, both, twice = (
            weighted_shift(parameters, attributes, w, SHARE)
            for w in (one, two, one + two, -2 * one)
        )
        assert both <= first + second + 1e-12
        assert twice == pytest.approx(2 * first)
        cell = table_shift(parameters, attributes, SHARE)
        assert first <= np.abs(one).sum() * cell * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", ["inp_ps", "marg_ps", "inp_ht", "views", "coefficients"])
def test_what_sums_to_1_cannot_be_moved(mechanism: str) -> None:
    parameters = parameters_of(mechanism)
    assert weighted_shift(parameters, (0, 3), np.ones((2, 2)), 0.05) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_more_attackers_move_more_and_nobody_nothing(mechanism: str) -> None:
    parameters, weights = parameters_of(mechanism), np.array([[1.0, -1.0], [-1.0, 1.0]])
    shares = (0, 1e-6, 0.01, 0.1, 0.9, 1)
    shifts = [weighted_shift(parameters, (0, 3), weights, share) for share in shares]
    among = [most_among(parameters, (0, 3), share) for share in shares]
    assert shifts[0] == among[0] == 0
    assert shifts == sorted(shifts)
    assert shifts[1] < shifts[2] < shifts[3]
    assert among == sorted(among)
    assert all(phi >= share for phi, share in zip(among, shares, strict=True))
    assert among[-1] == 1


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan")])
def test_a_share_is_from_0_to_1(share: float) -> None:
    with pytest.raises(InvalidParameter, match="'crafted' parameter"):
        weighted_shift(parameters_of("views"), (0, 1), np.ones((2, 3)), share)
    with pytest.raises(InvalidParameter, match="'crafted' parameter"):
        most_among(parameters_of("views"), (0, 1), share)


def test_weights_must_fit() -> None:
    with pytest.raises(InvalidParameter, match="must have the shape"):
        weighted_shift(parameters_of("views"), (0, 1), np.ones((3, 2)), 0.01)

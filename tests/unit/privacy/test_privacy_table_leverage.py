"""How far liars move a cell of a table: the closed forms against a search, and their ends."""

from __future__ import annotations

from datetime import date
from itertools import combinations

import numpy as np
import pytest

from deniable.authoring import resolve
from deniable.crafted.cells import table_shift, ways
from deniable.crafted.parts import of_one_coefficient
from deniable.crafted.spread import best_spread
from deniable.errors import InvalidParameter
from deniable.protocol import (
    PROFILE_MECHANISMS,
    Attribute,
    Categories,
    CoefficientsParameters,
    Field,
    Profile,
    ProfileParameters,
    Question,
)

ANSWERS = (2, 3, 5, 2)


def parameters_of(mechanism: str, order: int = 2, **wanted: object) -> ProfileParameters:
    domains = [Categories(tuple(f"{i}" for i in range(count))) for count in ANSWERS]
    record = Profile(tuple(Attribute(f"a{i}", domain) for i, domain in enumerate(domains)))
    asked = {"epsilon": 1.0, "order": order, **wanted}
    field = Field("value", record, resolve(mechanism, asked, record, False))
    Question("q", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    assert isinstance(field.parameters, ProfileParameters)
    return field.parameters


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_of_one_attribute_it_is_the_shift_of_its_answers(mechanism: str) -> None:
    parameters = parameters_of(mechanism)
    for i in range(len(ANSWERS)):
        assert table_shift(parameters, (i,), 0.01) == max(
            way.shift(0.01) for way in ways(parameters, (i,))
        )


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_more_attackers_move_more_and_nobody_nothing(mechanism: str) -> None:
    parameters = parameters_of(mechanism)
    for pair in combinations(range(len(ANSWERS)), 2):
        shifts = [table_shift(parameters, pair, share) for share in (0, 1e-6, 0.01, 0.1, 0.9, 1)]
        assert shifts[0] == 0
        assert shifts == sorted(shifts)
        assert shifts[1] < shifts[2] < shifts[3]
        assert np.isfinite(shifts).all()
        assert table_shift(parameters, pair[::-1], 0.01) == shifts[2]


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan")])
def test_a_share_is_from_0_to_1(share: float) -> None:
    with pytest.raises(InvalidParameter, match="'crafted' parameter"):
        table_shift(parameters_of("views"), (0, 1), share)


def test_what_is_known_in_parts_has_no_single_leverage() -> None:
    for mechanism in ("views", "coefficients"):
        with pytest.raises(InvalidParameter, match="no leverage"):
            ways(parameters_of(mechanism), (0, 1))


def test_the_share_of_reports_about_all_the_attributes() -> None:
    parameters = parameters_of("marg_ht", order=3)
    # Of the 4 tables of 3 attributes, 2 have the second and the third: 32 x 2 and 32 x 2 cells.
    (one,) = ways(parameters, (1, 2))
    assert one.about == pytest.approx(31 * 2 / 4 / 63)
    (single,) = ways(parameters, (1,))
    assert single.about == pytest.approx(3 * (2 / 4 / 63 + 1 / 4 / 15))


def test_bits_of_every_attribute_multiply() -> None:
    parameters = parameters_of("inp_em")
    (first,), (second,), (both,) = (ways(parameters, chosen) for chosen in ((0,), (2,), (0, 2)))
    assert both.up == pytest.approx(first.up * second.up)
    assert both.down == pytest.approx(first.up * second.down)


class TestSpread:
    def value(self, worth: np.ndarray, liars: np.ndarray, honest: np.ndarray) -> float:
        return float(np.sum(worth * liars / (liars + honest)))

    @pytest.mark.parametrize("crafted", [1e-4, 0.01, 0.3, 0.9])
    def test_no_other_spread_is_better(self, crafted: float, rng: np.random.Generator) -> None:
        """A slow twin: from the best, and from anywhere, moving liars never helps."""
        for parts in (1, 2, 3, 7, 31):
            worth, about = rng.random(parts), rng.random(parts) * 0.2 + 1e-3
            honest = about * (1 - crafted)
            best = best_spread(worth, about, crafted)
            assert best.sum() == pytest.approx(crafted)
            assert best.min() >= 0
            most = self.value(worth, best, honest)
            for _ in range(200):
                other = rng.dirichlet(np.full(parts, 0.5)) * crafted
                near = 0.99 * best + 0.01 * other
                for tried in (other, near):
                    assert self.value(worth, tried, honest) <= most * (1 + 1e-12)

    def test_alike_parts_are_taken_alike(self) -> None:
        spread = best_spread(np.full(5, 0.2), np.full(5, 0.1), 0.05)
        np.testing.assert_allclose(spread, 0.01)

    def test_few_liars_take_the_best_part_alone(self) -> None:
        spread = best_spread(np.array([1.0, 1.0, 0.5]), np.array([0.2, 0.1, 0.1]), 1e-6)
        np.testing.assert_allclose(spread, [0, 1e-6, 0], atol=1e-15)

    def test_liars_alone_decide_every_part(self) -> None:
        assert best_spread(np.ones(3), np.full(3, 0.1), 1.0).min() > 0


def test_shares_of_coefficients_add_up() -> None:
    parameters = parameters_of("coefficients", order=3)
    assert isinstance(parameters, CoefficientsParameters)
    shares = of_one_coefficient(parameters, (0, 1, 2))
    assert shares @ np.array(parameters.counts) == pytest.approx(1)

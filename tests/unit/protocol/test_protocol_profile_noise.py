"""How good smoothed tables are expected to be: the part of the number of people in it."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto_profile import profile_choices, profile_orders
from deniable.authoring.mechanisms.view_cover import cover
from deniable.authoring.mechanisms.views import best_size
from deniable.authoring.profile_noise import (
    PEOPLE,
    cover_orders,
    expected_people,
    krr_noise,
    left_of,
    smoothed_noise,
    view_orders,
)
from deniable.errors import InvalidParameter
from deniable.protocol import ViewsParameters
from material.profiles import profile_of

MICROS = 1_098_612
HALF = 500_000
MANY = 10**12
NOISES = [10.0**power for power in range(-9, 4)]


def mechanism_for(people: int, attributes: int, order: int, micros: int = HALF) -> str:
    wanted = {"epsilon": micros / 1e6, "order": order, "people": people}
    return profile_choices(profile_of(*(2,) * attributes), wanted)[0].mechanism


@pytest.mark.parametrize("taken", [1, 2, 3, 4])
def test_less_is_left_of_more_noise_but_never_less_in_all(taken: int) -> None:
    shares = [left_of(noise, taken, 28) for noise in NOISES]
    assert all(1 >= one > other > 0 for one, other in pairwise(shares))
    left = [noise * share for noise, share in zip(NOISES, shares, strict=True)]
    assert left == sorted(left)


def test_interactions_of_more_attributes_are_shrunken_more() -> None:
    for noise in NOISES:
        assert left_of(noise, 2, 120) > left_of(noise, 3, 120) > left_of(noise, 4, 120)


def test_few_pairs_are_trusted_less() -> None:
    """From one or two effects nothing can be learned about where effects come from."""
    assert left_of(0.1, 2, 1) == left_of(0.1, 2, 2) == 1
    assert 1 > left_of(0.1, 2, 6) > left_of(0.1, 2, 120)


def test_with_very_many_people_smoothing_takes_nothing_off() -> None:
    orders = view_orders((2,) * 8, 2, 2, MICROS)
    answers = (2,) * 8
    assert smoothed_noise(orders, answers, 10**15) == pytest.approx(sum(orders), rel=2e-3)
    assert smoothed_noise(orders, answers, 1_000) < 0.7 * sum(orders)


def test_covers_count_as_their_views_do() -> None:
    """A slow twin: the weights of every set of attributes, one by one."""
    answers, order = (2, 3, 2, 4, 2), 2
    views = cover(answers, order, 3, 64)
    mean = math.prod(answers) ** (1 / len(answers))
    for taken, found in enumerate(cover_orders(views, answers, order, MICROS), 1):
        noises = []
        for chosen in combinations(range(len(answers)), taken):
            told = 0.0
            for view in views:
                if set(chosen) <= set(view):
                    cells = math.prod(answers[i] for i in view)
                    told += 1 / krr_noise(cells, MICROS) / len(views)
            noises.append(1 / told)
        per_table = math.comb(order, taken) * (mean - 1) ** taken / mean ** (2 * order)
        assert found == pytest.approx(per_table * sum(noises) / len(noises))


def test_a_balanced_cover_is_the_closed_form() -> None:
    answers = (2,) * 8
    for size, order in ((2, 2), (3, 3), (4, 3), (8, 2)):
        views = cover(answers, order, size, 4_096)
        exact = cover_orders(views, answers, order, MICROS)
        assert exact == pytest.approx(view_orders(answers, order, size, MICROS))


def test_the_last_views_of_a_cover_are_small() -> None:
    """Four attributes one by one in views of three: the fourth would have a view of its own."""
    views = cover((2,) * 4, 1, 3, 4_096)
    assert [len(view) for view in views] == [3, 1]
    exact = cover_orders(views, (2,) * 4, 1, 3_000_000)
    assert exact[0] != pytest.approx(view_orders((2,) * 4, 1, 3, 3_000_000)[0], rel=0.01)
    assert best_size((2,) * 4, 1, 3_000_000) == 2


@pytest.mark.parametrize("attributes", [8, 16])
def test_the_choice_depends_on_the_number_of_people(attributes: int) -> None:
    """Coefficients know pairs better and single attributes worse: better for many people."""
    assert mechanism_for(2**12, attributes, 2) == "views"
    assert mechanism_for(2**21, attributes, 2) == "coefficients"


@pytest.mark.parametrize(("attributes", "order"), [(4, 2), (8, 3)])
def test_of_equals_the_one_that_knows_pairs_is_chosen(attributes: int, order: int) -> None:
    """Views would be less than 8% better for few people, and know pairs half as well."""
    chosen = {mechanism_for(2**i, attributes, order) for i in (8, 12, 16, 21)}
    assert chosen == {"coefficients"}


def test_views_grow_with_the_number_of_people() -> None:
    """A large view knows sets of attributes, a small one single attributes."""
    sizes = [best_size((2,) * 4, 2, 3_000_000, people) for people in (2**12, 2**15, 2**21)]
    assert sizes == [3, 4, 4]
    wanted = {"epsilon": 3.0, "order": 2, "people": 2**12}
    written = resolve(ViewsParameters, wanted, profile_of(2, 2, 2, 2), False)
    assert max(map(len, written.views)) == 3


def test_without_a_number_a_million_people_are_expected() -> None:
    assert expected_people("auto", {}) == PEOPLE == 1_000_000
    profile, wanted = profile_of(*(2,) * 8), {"epsilon": 0.5, "order": 3}
    said = profile_choices(profile, {**wanted, "people": PEOPLE})
    assert profile_choices(profile, wanted) == said


@pytest.mark.parametrize("people", [0, -1, 2.5, "many", True, MANY + 1])
def test_refused_numbers_of_people(people: object) -> None:
    with pytest.raises(InvalidParameter, match="'people' parameter of auto must be"):
        profile_choices(profile_of(2, 2), {"epsilon": 1, "people": people})


def test_noise_before_smoothing_does_not_depend_on_people() -> None:
    """What people are shown as n times the variance is the mechanism's, not the choice's."""
    profile = profile_of(*(2,) * 8)
    by_people = [
        {c.mechanism: c.noise for c in profile_choices(profile, {"epsilon": 1, "people": people})}
        for people in (100, MANY)
    ]
    assert by_people[0]["coefficients"] == by_people[1]["coefficients"]


def test_the_numbers_that_tables_are_made_of() -> None:
    """Against a sum over all sets of attributes."""
    answers = (2, 3, 5, 2)
    for order in (1, 2, 3, 4):
        kind = resolve("coefficients", {"epsilon": 1, "order": order}, profile_of(*answers), False)
        listed = sum(
            math.prod(count - 1 for count in chosen)
            for taken in range(1, order + 1)
            for chosen in combinations(answers, taken)
        )
        assert kind.unknowns == listed
        assert len(profile_orders(kind)) == order

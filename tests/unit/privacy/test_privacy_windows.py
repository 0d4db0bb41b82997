"""A budget per window of epochs: never exceeded, and used up where it may be."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.privacy.windows import Window


def slow_allowed(window: Window, spent: dict[int, int], epoch: int) -> int:
    """Every window that holds the epoch, summed one by one."""
    sums = [
        sum(spent.get(start + step, 0) for step in range(window.epochs))
        for start in range(epoch - window.epochs + 1, epoch + 1)
    ]
    return max(0, window.budget - max(sums))


SPENT = st.dictionaries(st.integers(-6, 12), st.integers(0, 40), max_size=10)


@given(SPENT, st.integers(-5, 10), st.integers(1, 6))
def test_what_is_allowed_is_what_every_window_leaves(
    spent: dict[int, int], epoch: int, epochs: int
) -> None:
    window = Window(100, epochs)
    assert window.allowed(spent, epoch) == slow_allowed(window, spent, epoch)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 60)), max_size=30), st.integers(1, 6))
def test_spending_what_is_allowed_keeps_every_window(
    wishes: list[tuple[int, int]], epochs: int
) -> None:
    """In any order of epochs: a clock may be wrong."""
    window, spent = Window(100, epochs), defaultdict[int, int](int)
    for epoch, wish in wishes:
        spent[epoch] += min(wish, window.allowed(spent, epoch))
    assert window.holds(spent)
    assert all(
        sum(spent.get(start + step, 0) for step in range(epochs)) <= 100
        for start in range(-epochs, 14)
    )


def test_a_window_over_its_budget_is_noticed() -> None:
    window = Window(100, 3)
    assert window.holds({0: 50, 2: 50, 3: 50})
    assert not window.holds({0: 51, 2: 50, 3: 50})
    assert window.allowed({0: 51, 2: 50}, 1) == 0


def test_even_spending_can_go_on_for_ever() -> None:
    window = Window(100, 7)
    assert window.even == 14
    assert window.holds(dict.fromkeys(range(50), window.even))


def test_one_epoch_in_w_is_better_by_about_w_for_small_budgets() -> None:
    """n Var of an unary response is 4E/(E - 1)^2: near 4/epsilon^2."""

    def noise(micros: int) -> float:
        grown = math.exp(micros / 1e6)
        return 4 * grown / (grown - 1) ** 2

    found = Window(1_000_000, 10).variances(noise, 1_000)
    assert found["every epoch"] == pytest.approx(noise(100_000) / 1_000)
    assert found["one epoch in w"] == pytest.approx(10 * noise(1_000_000) / 1_000)
    assert 9 < found["every epoch"] / found["one epoch in w"] < 12
    with pytest.raises(InvalidParameter, match="cannot be shared"):
        Window(5, 10).variances(noise, 1_000)


@pytest.mark.parametrize("bad", [{"budget": 0}, {"epochs": 0}, {"epochs": 10**7}])
def test_impossible_windows_are_refused(bad: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter, match="parameter of Window"):
        Window(**{"budget": 100, "epochs": 3, **bad})

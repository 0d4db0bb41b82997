"""A budget per window of epochs: never exceeded, and used up where it may be."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.errors import InvalidParameter
from deniable.protocol.windows import Span, Window


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


SPANS = st.lists(
    st.builds(
        lambda first, length, micros: Span(first, first + length, micros),
        st.integers(-6, 12),
        st.integers(0, 5),
        st.integers(0, 40),
    ),
    max_size=10,
)


def sum_within(spans: list[Span], first: int, last: int) -> int:
    return sum(span.micros for span in spans if span.first <= last and first <= span.last)


@given(SPANS, st.integers(-5, 10), st.integers(0, 4), st.integers(1, 6))
def test_a_report_that_lasts_is_in_every_window_that_it_touches(
    spans: list[Span], first: int, length: int, epochs: int
) -> None:
    window, last = Window(100, epochs), first + length
    touching = range(first - epochs + 1, last + 1)
    sums = [sum_within(spans, start, start + epochs - 1) for start in touching]
    assert window.room(spans, first, last) == max(0, 100 - max(sums))
    everywhere = [sum_within(spans, start, start + epochs - 1) for start in range(-14, 20)]
    assert window.fullest(spans) == max(everywhere)
    # What lies as far away as the window is long does not matter.
    near = [s for s in spans if s.last > first - epochs and s.first < last + epochs]
    assert window.room(near, first, last) == window.room(spans, first, last)


@pytest.mark.parametrize(("epsilon", "micros"), [(1, 1_000_000), (0.1, 100_000), (1e-6, 1)])
def test_an_epsilon_that_people_write(epsilon: float, micros: int) -> None:
    assert Window.of(epsilon, 7) == Window(micros, 7)
    assert Window.of(epsilon + 4e-7, 7) == Window(micros, 7)  # rounded down


@pytest.mark.parametrize(
    "bad", [(0, 7), (-1.0, 7), (math.nan, 7), ("1", 7), (1.0, 0), (1.0, 1.5), (1.0, True)]
)
def test_what_is_no_window_is_refused(bad: tuple[object, object]) -> None:
    with pytest.raises(InvalidParameter, match="parameter of Window"):
        Window.of(*bad)


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

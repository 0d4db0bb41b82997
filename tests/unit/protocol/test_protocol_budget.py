"""A survey beside the ceiling: exact shares, drawn ones, and their words."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.authoring import resolve
from deniable.protocol import Boolean, Field, Question, Survey
from deniable.protocol import budget as module
from deniable.protocol.budget import budget_of, left_out_shares
from deniable.protocol.composition import DEFAULT_CEILING, first_fit
from deniable.protocol.epochs import day_of

TODAY = day_of(date(2026, 3, 15))


def asked(name: str, epsilon: float = 1.0, **changes: object) -> Question:
    parameters = resolve("krr", {"epsilon": epsilon}, Boolean(), False)
    members: dict[str, object] = {
        "id": name,
        "version": 1,
        "description": "?",
        "owner": "o",
        "expires": date(2030, 1, 1),
        "epoch": 1,
        "repeat": "once",
        "send": "recorded",
        "fields": (Field("value", Boolean(), parameters),),
    }
    return Question(**{**members, **changes})  # type: ignore[arg-type]


def by_enumeration(costs: list[int], room: int) -> dict[int, Fraction]:
    """The slow twin: every order, one by one."""
    out, orders = Counter[int](), 0
    for order in itertools.permutations(costs):
        orders += 1
        fits = first_fit(order, room)
        out.update(cost for cost, fit in zip(order, fits, strict=True) if not fit)
    numbers = Counter(costs)
    return {cost: Fraction(out[cost], orders * numbers[cost]) for cost in numbers}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 20))
def test_shares_are_those_of_all_orders(costs: list[int], room: int) -> None:
    assert left_out_shares(costs, room) == (by_enumeration(costs, room), 0)


def test_drawn_orders_agree_with_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The drawn ones are always the same, so that this either holds or does not."""
    costs = [7, 11, 13, 17, 19, 23, 29]
    exact, _ = left_out_shares(costs, 50)
    monkeypatch.setattr(module, "MOST_STATES", 3)
    drawn, orders = left_out_shares(costs, 50)
    assert orders == module.MOST_ORDERS
    assert all(abs(drawn[cost] - exact[cost]) < Fraction(2, 100) for cost in costs)
    assert any(drawn[cost] != exact[cost] for cost in costs)


def test_a_thousand_questions_of_as_many_costs_are_drawn() -> None:
    costs = list(range(1_000, 2_000))
    shares, orders = left_out_shares(costs, 30_000)
    assert orders == module.LEAST_ORDERS
    mean = sum(shares[cost] for cost in costs) / len(costs)
    assert Fraction(97, 100) < mean < Fraction(99, 100)  # some 20 of 1,000 fit


def test_eighty_questions_beyond_the_ceiling() -> None:
    """The survey that nobody was warned of: 80 questions, a sum of 100, a ceiling of 16."""
    epsilons = [2.0 if i % 4 == 0 else 1.0 for i in range(80)]
    survey = Survey("s", "o", tuple(asked(f"q{i}", e) for i, e in enumerate(epsilons)))
    budget = budget_of(survey, TODAY)
    assert (budget.micros, budget.ceiling) == (100_000_000, DEFAULT_CEILING)
    assert not budget.fits
    assert not budget.drawn
    # Whatever the order, 16 is spent to within one question: 80 - 16 <= left out <= 80 - 8.
    assert 64 <= budget.left_out <= 72
    assert budget.lines[-1].sum == 100_000_000
    assert "costs a device epsilon 100 in all; it discloses at most 16" in budget.words()
    assert f"leaves out {budget.left_out:.1f} of 80 questions" in budget.words()


def test_a_survey_that_fits_leaves_nothing_out() -> None:
    survey = Survey("s", "o", (asked("a"), asked("b")), ceiling=2_000_000)
    budget = budget_of(survey, TODAY)
    assert budget.fits
    assert budget.left_out == 0
    assert budget.declared
    assert "Every device can answer every question." in budget.words()


def test_a_question_dearer_than_the_ceiling_is_named() -> None:
    budget = budget_of(Survey("s", "o", (asked("a"), asked("b", 3.0)), ceiling=2_000_000), TODAY)
    assert budget.never == ("b",)
    assert "Nobody answers b." in budget.words()
    assert [line.left_out for line in budget.lines] == [0.0, 1.0]


def test_expired_and_older_versions_set_nothing_aside() -> None:
    questions = (
        asked("a"),
        asked("a", version=2),
        asked("over", expires=date(2026, 3, 14)),
        asked("last", expires=date(2026, 3, 15)),
    )
    survey = Survey("s", "o", questions, earlier=(asked("gone"),))
    lines = {(line.question, line.version): line for line in budget_of(survey, TODAY).lines}
    assert set(lines) == {("a", 2), ("over", 1), ("last", 1)}
    assert (lines["over", 1].micros, lines["over", 1].expired) == (0, True)
    assert lines["last", 1].micros == 1_000_000


def test_where_each_epoch_is_charged_one_epoch_is_set_aside() -> None:
    (line,) = budget_of(Survey("s", "o", (asked("a", repeat="epoch"),)), TODAY).lines
    assert (line.micros, line.each_epoch) == (1_000_000, True)

"""A budget per window, planned: the two ways to spend it, from the forms of single reports."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from deniable.errors import InvalidParameter
from deniable.plan import Setting, of_attributes, of_categories, plan_window, predict
from deniable.plan.window import EVERY, TURNS
from deniable.protocol import Boolean, Strings
from deniable.protocol.windows import Window
from deniable.results.plan.tables import window_table

HUNDRED = Setting(1_000_000, 1.0, of_categories(100))


def test_each_way_is_the_plan_of_one_epoch() -> None:
    plan = plan_window(HUNDRED, 7, "oue")
    ways = {way.name: way for way in plan.ways}
    # Turns are a sample of the same people: errors are of those who report.
    reporters = replace(HUNDRED, of="reporters")
    each = reporters.with_epsilon(0.142857)
    some = reporters.with_people(142_857)
    for name, setting in ((EVERY, each), (TURNS, some)):
        choice = setting.choice("oue")
        assert choice is not None
        assert ways[name].prediction == predict(choice.parameters, setting)
        assert ways[name].people == setting.people
    assert ways[EVERY].error == ways[EVERY].prediction.mean_error
    sample = 0.01 * 0.99 * (1 / 142_857 - 1e-6)
    assert ways[TURNS].error ** 2 == pytest.approx(ways[TURNS].prediction.mean_error ** 2 + sample)
    assert ways[TURNS].margin > ways[TURNS].prediction.margin
    assert ways[TURNS].window_error == ways[TURNS].prediction.mean_error / math.sqrt(7)


def test_without_the_sample_it_is_what_the_window_says() -> None:
    """n Var of OUE for a rare answer, 4E/(E - 1)^2, in both ways."""

    def noise(micros: int) -> float:
        grown = math.exp(micros / 1e6)
        return 4 * grown / (grown - 1) ** 2

    expected = Window(1_000_000, 10).variances(noise, 1_000_000)
    for way in plan_window(HUNDRED, 10, "oue").ways:
        assert way.prediction.rare_error**2 == pytest.approx(expected[way.name], rel=1e-3)


@pytest.mark.parametrize("epochs", [2, 7, 30])
def test_small_budgets_take_turns(epochs: int) -> None:
    plan = plan_window(HUNDRED, epochs)
    assert plan.better.name == TURNS
    assert 0.9 * epochs < plan.ratio < 1.6 * epochs
    assert f"one epoch in {epochs}" in plan.reason


def test_large_budgets_do_not() -> None:
    plan = plan_window(Setting(100_000, 8.0, Boolean()), 2)
    assert plan.better.name == EVERY
    assert plan.ratio > 1
    assert "a part of the people" in plan.reason


def test_epochs_are_pooled_until_one_per_cent_is_seen() -> None:
    for way in plan_window(HUNDRED, 7).ways:
        pooled = way.prediction.smallest / math.sqrt(way.epochs)
        one_less = way.prediction.smallest / math.sqrt(max(1, way.epochs - 1))
        assert pooled <= 0.01 < one_less


@pytest.mark.parametrize(
    "setting", [Setting(10_000, 1.0, Strings(), listed=50), Setting(10_000, 1.0, of_attributes(4))]
)
def test_strings_and_records_have_windows_too(setting: Setting) -> None:
    planned = plan_window(setting, 3)
    assert {way.name for way in planned.ways} == {EVERY, TURNS}
    assert planned.better is planned.ways[0]
    better, other = window_table(planned).rows
    assert better.mean_error <= other.mean_error


@pytest.mark.parametrize(
    ("setting", "epochs", "mechanism", "message"),
    [
        (Setting(5, 1.0, Boolean()), 6, None, "cannot be shared"),
        (Setting(10**7, 1e-6, Boolean()), 2, None, "cannot be shared"),
        (Setting(100, 1.0, Boolean(), 2.0), 2, None, "permanent response"),
        (Setting(100, 1.0, Boolean()), 2, "ngrams", "no form"),
        (Setting(100, 1.0, Boolean()), 2, "nothing", "no mechanism"),
        (Setting(100, 1.0, Boolean()), 0, None, "'epochs'"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    setting: Setting, epochs: int, mechanism: str | None, message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        plan_window(setting, epochs, mechanism)

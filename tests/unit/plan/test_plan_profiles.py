"""Plans of questions about profiles: every mechanism, consistent with "auto"."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date
from itertools import combinations

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto_profile import profile_choices, profile_noise
from deniable.crafted.leverage import leverage
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_of
from deniable.plan import Setting, make_plan, of_attributes, plan_survey, predict
from deniable.plan.costs import words
from deniable.plan.plan import warn
from deniable.plan.profiles.choices import WORK, cells_tested
from deniable.protocol import (
    PROFILE_MECHANISMS,
    CoefficientsParameters,
    Field,
    InpEMParameters,
    ProfileParameters,
    Question,
    Survey,
)
from deniable.results.plan.tables import plan_table

EIGHT = Setting(100_000, 1.1, of_attributes(8))


def test_every_mechanism_of_profiles_is_planned() -> None:
    plan = make_plan(EIGHT)
    assert {prediction.mechanism for prediction in plan.predictions} == set(PROFILE_MECHANISMS)
    assert set(WORK) == set(PROFILE_MECHANISMS)


@pytest.mark.parametrize(
    ("count", "answers", "order"), [(8, 2, 2), (16, 2, 3), (6, 8, 2), (3, 2, 3)]
)
def test_the_recommendation_is_that_of_auto(count: int, answers: int, order: int) -> None:
    setting = Setting(10_000, 1.0, of_attributes(count, answers), order=order)
    first = profile_choices(setting.domain, setting.wanted)[0].mechanism
    plan = make_plan(setting)
    assert plan.recommended == plan.best.mechanism == first
    assert first in plan.reason


def test_the_error_is_that_of_the_closed_form_of_auto() -> None:
    """Where "auto" has one, both must say the same; for yes/no attributes exactly."""
    for name in ("views", "coefficients", "inp_ps"):
        choice = EIGHT.choice(name)
        assert choice is not None
        noise = profile_noise(choice.parameters, choice.parameters.epsilon_once)
        found = predict(choice.parameters, replace(EIGHT, of="reporters")).mean_error
        assert found == pytest.approx(math.sqrt(noise / EIGHT.people), rel=1e-6), name


def test_cells_of_all_tables_are_tested() -> None:
    answers = (2, 3, 4, 5, 9)
    for order in (1, 2, 3):
        listed = sum(math.prod(chosen) for chosen in combinations(answers, order))
        assert cells_tested(answers, order) == listed
    assert (EIGHT.answers, EIGHT.tests) == (4, 112)


def test_words_are_those_of_the_counts() -> None:
    for choice in EIGHT.choices():
        mechanism = mechanism_of(Field("value", EIGHT.domain, choice.parameters), False)
        counts = mechanism.zero()
        assert words(choice.parameters, 77) == counts.table.size, choice.mechanism
    many = resolve("inp_em", {"epsilon": 1.0}, of_attributes(32), False)
    assert isinstance(many, InpEMParameters)
    assert words(many, 77) == 77


def test_the_leverage_is_that_of_a_level() -> None:
    for prediction in make_plan(EIGHT).predictions:
        assert prediction.leverage == leverage(prediction.parameters).most


def test_what_does_not_fit_is_left_out() -> None:
    names = {c.mechanism for c in Setting(1_000, 1.0, of_attributes(32)).choices()}
    assert {"inp_rr", "inp_ps", "inp_olh", "inp_ht_cms"}.isdisjoint(names)
    assert "inp_ht" in names


def test_there_is_no_permanent_response() -> None:
    setting = Setting(1_000, 1.0, of_attributes(4), forever=3.0)
    with pytest.raises(InvalidParameter, match="no permanent response"):
        setting.choices()


@pytest.mark.parametrize(("count", "answers"), [(1, 2), (33, 2), (4, 1)])
def test_attributes_out_of_range(count: int, answers: int) -> None:
    with pytest.raises(InvalidParameter):
        of_attributes(count, answers)


def test_one_mechanism_and_what_an_error_needs() -> None:
    plan = make_plan(EIGHT, "coefficients", error=0.02)
    (prediction,) = plan.predictions
    assert isinstance(prediction.parameters, CoefficientsParameters)
    needed = plan.needed["coefficients"]
    assert needed.people is not None
    choice = EIGHT.choice("coefficients")
    assert choice is not None
    for people, enough in ((needed.people, True), (needed.people - 1, False)):
        margin = predict(choice.parameters, EIGHT.with_people(people)).margin
        assert (margin <= 0.02) is enough


def test_a_plan_as_json_says_attributes_and_order() -> None:
    about = plan_table(make_plan(Setting(1_000, 1.0, of_attributes(5, 3), order=3))).about
    told = about.more["plan"]
    assert (told["attributes"], told["order"], about.domain) == (5, 3, "profile")


def test_a_survey_with_a_profile() -> None:
    domain = of_attributes(6)
    parameters = resolve("views", {"epsilon": 1.0, "order": 3}, domain, False)
    assert isinstance(parameters, ProfileParameters)
    field = Field("value", domain, parameters)
    asked = Question("q", 1, "?", "me", date(2099, 1, 1), 1, "once", "recorded", (field,))
    planned = plan_survey(Survey("s", "me", (asked,)), 200)
    (one,) = planned.fields
    setting = Setting(200, 1.0, domain, order=3)
    assert one.prediction.mean_error == predict(parameters, setting).mean_error
    assert one.prediction.forever == pytest.approx(1.0)
    assert list(one.warnings) == warn(one.prediction, setting) != []

"""Plans: the recommendation is that of "auto", and the inverse questions lead back."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from deniable.authoring import resolve
from deniable.authoring.auto import choices
from deniable.errors import InvalidParameter
from deniable.plan import (
    Setting,
    epsilon_needed,
    make_plan,
    of_categories,
    people_needed,
    plan_survey,
    predict,
)
from deniable.protocol import Boolean, Domain, Field, Question, Strings, Survey
from deniable.protocol.composition import survey_cost
from deniable.results.plan.tables import plan_table, survey_table

SETTINGS = [
    Setting(100_000, 1.0, of_categories(100)),
    Setting(1_000, 0.5, Boolean()),
    Setting(5_000, 1.0, of_categories(50), forever=3.0),
    Setting(1_000_000, 6.0, Strings(), listed=256),
    Setting(200_000, 2.0, Strings()),
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_recommendation_is_what_auto_publishes(setting: Setting) -> None:
    plan = make_plan(setting)
    found = choices(setting.domain, setting.absent, setting.wanted, setting.people, setting.listed)
    assert plan.recommended == found[0].mechanism
    assert [p.mechanism for p in plan.predictions] == [c.mechanism for c in found]
    assert plan.best.parameters == found[0].parameters
    assert plan.reason.startswith(plan.recommended)
    least = min(p.mean_error for p in plan.predictions)
    assert plan.best.mean_error <= 1.04 * least  # 5% of variance, and how strings are fitted


@pytest.mark.parametrize("setting", SETTINGS)
def test_so_many_people_reach_the_error_and_one_less_do_not(setting: Setting) -> None:
    for choice in setting.choices():
        name = choice.mechanism
        wanted = 1.01 * predict(choice.parameters, setting).margin
        needed = people_needed(setting, name, wanted)
        assert needed is not None
        assert needed == pytest.approx(setting.people / 1.01**2, rel=0.05)

        def margin(people: int, name: str = name) -> float:
            asked = setting.with_people(people)
            own = asked.choice(name)
            assert own is not None
            return predict(own.parameters, asked).margin

        assert margin(needed) <= wanted < margin(needed - 1)


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_epsilon_that_is_needed_reaches_the_error(setting: Setting) -> None:
    for choice in setting.choices():
        wanted = 1.000001 * predict(choice.parameters, setting).margin
        needed = epsilon_needed(setting, choice.mechanism, wanted)
        assert needed is not None
        assert needed <= setting.epsilon
        assert needed == pytest.approx(setting.epsilon, rel=0.02)


def test_what_cannot_be_had_is_none() -> None:
    setting = Setting(100, 1.0, of_categories(50))
    assert epsilon_needed(setting, "hadamard", 1e-4) is None
    assert people_needed(Setting(100, 1.0, Strings()), "hcms", 1e-5) is None  # collisions stay
    assert people_needed(setting, "rappor", 0.1) is None  # no choice of "auto" here
    for bad in (0.0, -1.0, float("nan")):
        with pytest.raises(InvalidParameter, match="'error' parameter of plan"):
            people_needed(setting, "krr", bad)


def test_one_mechanism_alone_and_the_recommendation_stays() -> None:
    plan = make_plan(SETTINGS[0], mechanism="krr", error=0.01, delta=1e-6)
    assert [p.mechanism for p in plan.predictions] == ["krr"]
    assert plan.recommended == "pgr"
    assert plan.reason.startswith("pgr")
    assert plan.needed.keys() == {"krr"}
    (row,) = plan_table(plan).rows
    assert row.people_needed == plan.needed["krr"].people
    assert row.central_epsilon < 0.1
    with pytest.raises(InvalidParameter, match="no form"):
        make_plan(SETTINGS[4], mechanism="krr")
    with pytest.raises(InvalidParameter, match="There is no mechanism"):
        make_plan(SETTINGS[0], mechanism="magic")


def test_where_nothing_can_be_learned_the_plan_says_so() -> None:
    assert make_plan(Setting(10**6, 1.0, of_categories(10))).warnings == ()
    (nothing,) = make_plan(Setting(100, 0.5, of_categories(50))).warnings
    assert nothing.startswith("Nothing can be learned")
    (little,) = make_plan(Setting(100_000, 1.0, of_categories(100))).warnings
    assert "of 100 answers the average one is not" in little


def asked(name: str, domain: Domain, mechanism: str, repeat: str, **wanted: object) -> Question:
    field = Field("value", domain, resolve(mechanism, wanted, domain, False))
    fields = (field,)
    return Question(name, 1, "d", "o", date(2099, 1, 1), 7, repeat, "recorded", fields)


def test_a_whole_survey(tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("a\nb\nc\n")
    strings = Field(
        "value",
        Strings(),
        resolve("rappor", {"epsilon": 0.1}, Strings(), False),
        "names.txt",
    )
    questions = (
        asked("yes", Boolean(), "krr", "once", epsilon=1.0),
        asked("often", Boolean(), "krr", "epoch", epsilon=1.0),
        Question("text", 1, "d", "o", date(2099, 1, 1), 1, "once", "recorded", (strings,)),
    )
    survey = Survey("s", "o", questions)
    plan = plan_survey(survey, 200, tmp_path)
    yes, often, text = plan.fields
    assert yes.warnings == ()
    assert yes.prediction.forever == yes.prediction.epsilon == 1.0
    assert often.prediction.forever is None
    assert "53.0 in a year" in often.warnings[0]  # 365 days touch 53 weeks
    assert text.warnings[0].startswith("Nothing can be learned")
    assert plan.epsilon_year == survey_cost(questions, 365) / 1e6
    by_list = predict(strings.parameters, Setting(200, 0.1, Strings(), listed=3))
    assert text.prediction.smallest == by_list.smallest
    assert survey_table(plan).column("question") == ["yes", "often", "text"]

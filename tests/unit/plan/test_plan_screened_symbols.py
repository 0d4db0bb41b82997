"""O-RR's detection limit where a list is fitted at once and where it is screened: one number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable.authoring.survey import read_authored
from deniable.decode import decode
from deniable.errors import InvalidParameter
from deniable.mechanisms import ORR
from deniable.plan import Setting, make_plan, predict
from deniable.plan.listed_strings import fitted_noise, screened
from deniable.plan.survey import plan_survey
from deniable.protocol import Strings
from deniable.results.explain import explain_question

PEOPLE = 200_000
RANK = 256 * 3 + 1
SURVEY = """
name = "limits"
owner = "Team"
people = 200_000
[[questions]]
id = "name"
expires = 2099-12-31
description = "Which one?"
domain = { type = "strings", candidates = "names.txt" }
mechanism = "orr"
parameters = { epsilon = 1.0 }
"""


def _setting(listed: int, epsilon: float = 1.0) -> Setting:
    return Setting(PEOPLE, epsilon, Strings(), listed=listed)


@pytest.mark.parametrize(
    ("epsilon", "listed"),
    [(1.0, m) for m in (300, RANK // 2, RANK // 2 + 1, RANK, RANK + 1, 2_000)] + [(3.0, 6_000)],
)
def test_the_planned_limit_is_the_one_that_reports_show(
    epsilon: float, listed: int, rng: np.random.Generator
) -> None:
    """Ten common strings of a tenth each, as the plan assumes."""
    mechanism = ORR(epsilon=epsilon)
    names = [f"{rng.bytes(4).hex()}/{i}" for i in range(listed)]
    reports = mechanism.simulate(rng.integers(0, 10, PEOPLE), rng, names)
    found = decode(mechanism, mechanism.accumulate(reports), names)
    planned = predict(mechanism.parameters, _setting(listed, epsilon))
    assert found.limit == pytest.approx(planned.smallest, rel=0.08)
    split = found.method == "split cohorts"
    assert split == screened(mechanism.parameters, listed) == bool(planned.assumes)


@pytest.mark.parametrize("listed", [300, 1_024, 1_025, 2_000, 10_000])
def test_plan_and_explain_say_the_same(listed: int, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("".join(f"name{i}\n" for i in range(listed)))
    (tmp_path / "survey.toml").write_text(SURVEY)
    survey = read_authored(tmp_path / "survey.toml").require()
    (question,) = survey.questions
    (field,) = question.fields
    expected = predict(field.parameters, _setting(listed)).smallest
    (planned,) = plan_survey(survey, PEOPLE, tmp_path).fields
    assert planned.prediction.smallest == expected
    explained = explain_question(question, PEOPLE, tmp_path)
    assert explained.numbers["detection_limit"] == {field.name: expected}
    if listed > 1_024:
        plan = make_plan(_setting(listed), mechanism="orr")
        assert plan.best.smallest == expected
        assert plan.recommended == "pgr"


def test_a_longer_list_has_a_larger_limit_until_the_model_is_full() -> None:
    parameters = ORR(epsilon=1.0).parameters
    limits = [predict(parameters, _setting(m)).smallest for m in (386, 769, 2_000, 10_000)]
    assert limits == sorted(limits)
    full, longer = (fitted_noise(parameters, 0.0, m) for m in (10_000, 10**6))
    assert full == longer
    # A fifth of 512 cells are chosen, of 384 numbers that a half of the cohorts gives.
    alone = fitted_noise(parameters, 0.0, 1) * (1 - 1 / 768)
    assert full == pytest.approx(alone / (1 - 0.2 * 512 / 384))


def test_too_few_cohorts_to_split_find_nothing(rng: np.random.Generator) -> None:
    mechanism = ORR(epsilon=1.0, cohorts=2)
    names = [f"name{i}" for i in range(100)]
    reports = mechanism.simulate(rng.integers(0, 10, 2_000), rng, names)
    assert np.isnan(decode(mechanism, mechanism.accumulate(reports), names).limit)
    assert predict(mechanism.parameters, Setting(2_000, 1.0, Strings(), listed=100)).smallest == 1


def test_a_permanent_stage_has_no_form() -> None:
    setting = Setting(PEOPLE, 1.0, Strings(), 4.0, listed=2_000)
    with pytest.raises(InvalidParameter, match="orr has no form"):
        make_plan(setting, mechanism="orr")

"""What plans of budgets over time predict is what simulated crowds give: errors within 5%.

ALPHA is the false-failure probability of each check. Control: a prediction 50% too small, or too
large, is rejected.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_statistical_plan import check

from deniable.mechanisms import mechanism_for
from deniable.plan import Setting, of_categories, plan_reports, plan_window
from deniable.plan.window import EVERY
from deniable.protocol import RapporParameters
from deniable.protocol.thresholds import ONE

ANSWERS, PEOPLE, EPOCHS, RUNS = 4, 4_000, 4, 800


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
@pytest.mark.parametrize("better", [True, False])
def test_both_ways_to_spend_a_window(
    epsilon: float, better: bool, rng: np.random.Generator
) -> None:
    """With much epsilon nearly all of the error of taking turns is that of the sample."""
    plan = plan_window(Setting(PEOPLE, epsilon, of_categories(ANSWERS)), EPOCHS)
    way = plan.ways[0 if better else 1]
    mechanism = mechanism_for(way.prediction.parameters)
    everybody = np.full(ANSWERS, PEOPLE // ANSWERS)
    deviations = np.empty(RUNS)
    for run in range(RUNS):
        counts = everybody
        if way.name != EVERY:
            counts = rng.multivariate_hypergeometric(everybody, way.people)
        codes = np.repeat(np.arange(ANSWERS), counts)
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        deviations[run] = found.frequency[0] - 1 / ANSWERS
    check(deviations, way.error)


@pytest.mark.parametrize("number", [1, 3])
def test_a_report_of_a_schedule(number: int, rng: np.random.Generator) -> None:
    plan = plan_reports(Setting(PEOPLE, 4.0, of_categories(ANSWERS)), number)
    one, zero = plan.schedule.one(number), plan.schedule.zero
    mechanism = mechanism_for(RapporParameters("basic", ANSWERS, 1, 1, ONE, 0, one, zero))
    codes = np.zeros(PEOPLE, dtype=np.int64)
    deviations = np.empty(RUNS)
    for run in range(RUNS):
        found = mechanism.estimate(mechanism.accumulate(mechanism.simulate(codes, rng)))
        deviations[run] = found.frequency[2]
    check(deviations, plan.rows[-1].error)

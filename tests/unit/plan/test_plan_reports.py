"""A schedule, planned: the numbers of `Schedule`, and where reports stop being useful."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy import stats

from deniable.errors import InvalidParameter
from deniable.plan import Setting, of_attributes, of_categories, plan_reports
from deniable.privacy.over_time.schedules import Schedule
from deniable.protocol import Boolean, Strings
from deniable.results.plan.tables import reports_table

TEN = Setting(100_000, 2.0, of_categories(10))


def test_the_rows_are_those_of_the_schedule() -> None:
    plan, schedule = plan_reports(TEN, 8, 0.25), Schedule(2_000_000, Fraction(1, 4))
    assert [row.number for row in plan.rows] == list(range(1, 9))
    for row in plan.rows:
        assert row.epsilon == schedule.epsilon(row.number) / 1e6
        assert row.q == pytest.approx(schedule.one(row.number) / 2**64)
        assert row.error == math.sqrt(schedule.variance(row.number, 100_000))
    assert plan.spent == schedule.spent(8) / 1e6 < 2.0


def test_reports_are_useful_while_every_second_person_is_seen() -> None:
    plan = plan_reports(TEN, 12)
    limit = 0.5 / stats.norm.isf(0.05 / 10)
    assert [row.useful for row in plan.rows] == [row.error <= limit for row in plan.rows]
    assert plan.useful == sum(row.useful for row in plan.rows) == 5


def test_or_while_the_wanted_error_is_kept() -> None:
    plan = plan_reports(TEN, 12, error=0.03)
    limit = 0.03 / stats.norm.isf(0.025)
    assert plan.useful == sum(row.error <= limit for row in plan.rows) == 2
    assert plan_reports(TEN, 1, error=1e-6).useful == 0


def test_a_report_that_says_nothing_has_no_error() -> None:
    last = plan_reports(TEN, 60).rows[-1]
    assert (last.q, last.error, last.useful) == (0.5, math.inf, False)
    assert reports_table(plan_reports(TEN, 60)).rows[-1].error is None


@pytest.mark.parametrize(
    ("setting", "reports", "keep", "message"),
    [
        (Setting(100, 1.0, Boolean(), 2.0), 3, 0.5, "permanent response"),
        (Setting(100, 1.0, Strings()), 3, 0.5, "bit per answer"),
        (Setting(100, 1.0, of_attributes(3)), 3, 0.5, "bit per answer"),
        (TEN, 0, 0.5, "'reports'"),
        (TEN, 3, 1.0, "'keep'"),
        (TEN, 3, math.nan, "'keep'"),
        (Setting(100, 99.0, Boolean()), 3, 0.5, "'epsilon'"),
    ],
)
def test_what_cannot_be_planned_is_refused(
    setting: Setting, reports: int, keep: float, message: str
) -> None:
    with pytest.raises(InvalidParameter, match=message):
        plan_reports(setting, reports, keep)

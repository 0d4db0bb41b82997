"""q towards p: any number of reports stays within the budget, and spends most of it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from deniable.client.encoders import encoder_for
from deniable.errors import InvalidParameter
from deniable.privacy import report_channel, worst_ratio
from deniable.privacy.over_time.schedules import Schedule
from deniable.protocol import Answer, RapporParameters
from deniable.protocol.domain import code_key
from deniable.protocol.epsilon import epsilon_of, within
from deniable.protocol.thresholds import ONE, as_fraction


@pytest.mark.parametrize("hashes", [1, 2])
@pytest.mark.parametrize("keep", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("budget", [10, 1_000_000, 4_394_450])
def test_any_number_of_reports_stays_within_the_budget(
    budget: int, keep: Fraction, hashes: int
) -> None:
    schedule = Schedule(budget, keep, hashes=hashes)
    spent = [schedule.spent(reports) for reports in (0, 1, 2, 5, 50, 400)]
    assert spent[0] == 0
    assert spent == sorted(spent)
    assert spent[-1] <= budget
    if budget >= 1_000_000:
        assert spent[-1] >= 0.999 * budget


def test_q_moves_towards_p_and_ends_there() -> None:
    schedule = Schedule(2_000_000, Fraction(1, 2))
    ones = [schedule.one(report) for report in range(1, 60)]
    assert ones == sorted(ones, reverse=True)
    assert ones[0] > ones[-1] == schedule.zero
    assert schedule.variance(60, 1_000) == math.inf


@pytest.mark.parametrize("report", [1, 2, 5])
def test_the_thresholds_are_the_largest_within_each_epsilon(report: int) -> None:
    """p = 1/2 and h = 1: q/(1 - q) = e^epsilon_i."""
    schedule = Schedule(1_500_000, Fraction(2, 3))
    one, micros = schedule.one(report), schedule.epsilon(report)
    assert micros == int(1_500_000 * (1 / 3) * (2 / 3) ** (report - 1))
    assert within(Fraction(one, ONE - one), micros)
    assert not within(Fraction(one + 1000, ONE - one - 1000), micros)


@pytest.mark.parametrize("report", [1, 3])
def test_the_shipped_encoder_spends_no_more_with_these_thresholds(report: int) -> None:
    """Exact enumeration of basic RAPPOR with q_i and p: its worst ratio is within epsilon_i."""
    schedule = Schedule(3_000_000)
    parameters = RapporParameters("basic", 3, 1, 1, ONE, 0, schedule.one(report), schedule.zero)
    answers = [Answer(code_key(code), code) for code in range(3)]
    ratio = worst_ratio(report_channel(encoder_for(parameters), answers))
    assert ratio is not None
    assert ratio > 1
    assert epsilon_of(ratio) <= schedule.epsilon(report)


def test_the_variance_is_that_of_a_unary_response() -> None:
    schedule = Schedule(3_000_000)
    q, p = as_fraction(schedule.one(2)), Fraction(1, 2)
    assert schedule.variance(2, 1_000) == pytest.approx(float(p * (1 - p) / (1_000 * (q - p) ** 2)))
    assert schedule.useful(1_000_000, 0.01) == next(
        number for number in range(20) if schedule.variance(number + 1, 1_000_000) > 1e-4
    )
    assert schedule.useful(10, 0.001) == 0


@pytest.mark.parametrize(
    "bad", [{"budget": 0}, {"keep": Fraction(1)}, {"keep": Fraction(0)}, {"zero": 0}, {"hashes": 0}]
)
def test_impossible_schedules_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter, match="parameter of Schedule"):
        Schedule(**{"budget": 1_000_000, **bad})

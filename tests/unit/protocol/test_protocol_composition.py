"""Epsilons added up: by hand, and against the ledger of a device that lives the same life."""

from __future__ import annotations

from datetime import date

import pytest

from deniable.authoring import resolve
from deniable.client.ledger import charge_of
from deniable.errors import InvalidParameter
from deniable.protocol import Boolean, Categories, Domain, Field, Question
from deniable.protocol.composition import (
    Cost,
    device_cost,
    field_cost,
    report_cost,
    reports_within,
    survey_cost,
)

LETTERS = Categories(tuple("abcdef"))
SECRET = bytes(32)


def field(name: str, domain: Domain, mechanism: str, **wanted: object) -> Field:
    return Field(name, domain, resolve(mechanism, wanted, domain, False))


PERMANENT = field("kept", LETTERS, "krr", epsilon=1.0, epsilon_forever=3.0)
FRESH = field("fresh", LETTERS, "hadamard", epsilon=0.5)


def question(repeat: str, epoch: int = 1, *fields: Field) -> Question:
    parts = fields or (PERMANENT, FRESH)
    return Question("q", 1, "d", "o", date(2099, 1, 1), epoch, repeat, "recorded", parts)


def test_what_a_field_costs_and_how_often() -> None:
    once, forever = PERMANENT.parameters.epsilon_once, PERMANENT.parameters.epsilon_forever
    fresh = FRESH.parameters.epsilon_once
    assert (once, forever, fresh) == (1_000_000, 3_000_000, 500_000)
    expected = {
        "once": [Cost(once, False), Cost(fresh, False)],
        "epoch": [Cost(3_000_000, True), Cost(fresh, False)],
        "permanent": [Cost(once, True), Cost(fresh, True)],
    }
    for repeat, costs in expected.items():
        asked = question(repeat)
        assert [field_cost(asked, part) for part in asked.fields] == costs


def test_one_report() -> None:
    asked = question("epoch")
    assert report_cost(asked, [True, True]) == 3_500_000
    assert report_cost(asked, [False, True]) == 500_000
    assert report_cost(asked, [False, False]) == 500_000
    assert report_cost(question("permanent"), [False, True]) == 500_000
    with pytest.raises(ValueError, match="zip"):
        report_cost(asked, [True])


@pytest.mark.parametrize("repeat", ["epoch", "permanent"])
@pytest.mark.parametrize("values", [1, 2, 3, 6])
def test_a_device_discloses_what_its_ledger_adds_up(repeat: str, values: int) -> None:
    asked, known, total = question(repeat), set[bytes](), 0
    for report in range(5):
        letter = "abcdef"[report % values]
        answers = asked.answers({"kept": letter, "fresh": letter})
        charge = charge_of(asked, answers, SECRET, known.__contains__)
        known.update(charge.tags)
        total += charge.micros
    assert total == device_cost(asked, reports=5, values=values)
    assert device_cost(asked, 5, values, versions=3) == 3 * total


def test_a_question_that_is_answered_once_has_one_report() -> None:
    assert device_cost(question("once"), reports=100, values=50) == 1_500_000


@pytest.mark.parametrize(
    ("epoch", "days", "reports"), [(1, 1, 1), (1, 7, 7), (7, 1, 1), (7, 2, 2), (7, 8, 2), (7, 9, 3)]
)
def test_the_most_epochs_that_some_days_can_touch(epoch: int, days: int, reports: int) -> None:
    assert reports_within(question("epoch", epoch), days) == reports
    touched = {len({(start + day) // epoch for day in range(days)}) for start in range(epoch)}
    assert max(touched) == reports
    assert reports_within(question("once", epoch), days) == 1


def test_a_survey_is_the_sum_of_its_questions() -> None:
    yes = field("value", Boolean(), "krr", epsilon=2.0)
    asked = [question("once", 1, yes), question("epoch", 7)]
    assert survey_cost(asked, 30) == 2_000_000 + 3_000_000 + 6 * 500_000
    assert survey_cost(asked, 30, values=2) == 2_000_000 + 6_000_000 + 6 * 500_000


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_impossible_numbers_are_refused(bad: int) -> None:
    for name in ("reports", "values", "versions"):
        with pytest.raises(InvalidParameter, match=f"'{name}' parameter of device_cost"):
            device_cost(question("epoch"), **{"reports": 1, name: bad})
    with pytest.raises(InvalidParameter, match="'days'"):
        reports_within(question("epoch"), bad)

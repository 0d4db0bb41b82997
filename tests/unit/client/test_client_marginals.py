"""A device that reports many attributes at once: what it sends, spends, refuses and keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.client import Client
from deniable.errors import RecordRefused
from deniable.protocol import PROFILE_MECHANISMS, Attribute, Boolean, Categories, Numbers, Profile
from material.clients import Clock, Script, files, question, strict, survey

TRIP = Profile(
    (
        Attribute("toll", Boolean()),
        Attribute("town", Categories(("zanzibar", "timbuktu", "samarkand"))),
        Attribute("fare", Numbers(("0", "10"))),
    )
)
VALUE = {"toll": True, "town": "timbuktu", "fare": 12.5}
WANTED = {"epsilon": 1.0, "order": 2}


def _spent(client: Client) -> int:
    return sum(asked.micros for asked in client.disclosed().questions)


def _reason(client: Client, value: object) -> str:
    with pytest.raises(RecordRefused) as caught:
        client.record("trip", value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return caught.value.reason


@pytest.mark.parametrize("mechanism", PROFILE_MECHANISMS)
def test_one_report_is_sent_and_paid_for_once(tmp_path: Path, mechanism: str) -> None:
    asked = question("trip", TRIP, mechanism, WANTED, repeat="once")
    transport = Script()
    client = strict(survey(asked), tmp_path, transport=transport)
    client.record("trip", VALUE)
    assert _reason(client, {**VALUE, "toll": False}) == "answered"
    (report,) = client.pending()
    asked.check_record(report.record)
    assert _spent(client) == asked.epsilon_once
    assert client.flush()
    assert [sent.record for sent in transport.reports] == [report.record]


def test_what_is_no_record_is_refused_and_costs_nothing(tmp_path: Path) -> None:
    client = strict(survey(question("trip", TRIP, "coefficients", WANTED)), tmp_path)
    bad = {
        "missing_field": {"toll": True, "town": "timbuktu"},
        "unknown_field": {**VALUE, "age": 7},
        "unknown_category": {**VALUE, "town": "atlantis"},
        "not_a_number": {**VALUE, "fare": float("nan")},
        "type": "timbuktu",
    }
    assert {reason: _reason(client, value) for reason, value in bad.items()} == dict(
        zip(bad, bad, strict=True)
    )
    assert client.pending() == []
    assert _spent(client) == 0


def test_every_epoch_adds_its_epsilon(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("trip", TRIP, "inp_ht", WANTED, repeat="epoch")
    client = strict(survey(asked), tmp_path, clock=clock)
    for epochs in (1, 2, 3):
        client.record("trip", VALUE)
        assert _spent(client) == epochs * asked.epsilon_once
        clock.forward(days=1)


def test_a_permanent_report_costs_once_and_stays_the_same(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("trip", TRIP, "views", WANTED, repeat="permanent")
    client = strict(survey(asked), tmp_path, clock=clock)
    for _ in range(4):
        client.record("trip", VALUE)
        clock.forward(days=1)
    assert len({report.record for report in client.pending()}) == 1
    assert _spent(client) == asked.epsilon_once
    client.record("trip", {**VALUE, "town": "zanzibar"})
    assert _spent(client) == 2 * asked.epsilon_once


def test_no_value_reaches_a_file(tmp_path: Path) -> None:
    asked = question("trip", TRIP, "coefficients", WANTED, repeat="permanent")
    with strict(survey(asked), tmp_path) as client:
        client.record("trip", VALUE)
    kept = files(tmp_path)
    answer = TRIP.answer(VALUE)
    assert b"timbuktu" not in kept
    assert b"12.5" not in kept
    assert answer.key not in kept
    assert "timbuktu" not in repr(answer)

"""What may be reported, what it costs, and what is refused and counted."""

from __future__ import annotations

import math
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import pytest

from deniable import Client as ExportedClient
from deniable.client import Client, Consent, Limits
from deniable.client.counters import REASONS
from deniable.client.ledger import round_up
from deniable.errors import InvalidParameter, InvalidSurvey, RecordRefused
from deniable.protocol import Boolean, Numbers, Survey
from material.clients import (
    BLOOM,
    COLOURS,
    PERMANENT,
    Clock,
    a_field,
    question,
    strict,
    strings,
    survey,
)

TWO_STAGES = {"epsilon": 1.0, "epsilon_forever": 3.0}


def reason_of(client: Client, name: str, value: object) -> str:
    with pytest.raises(RecordRefused) as caught:
        client.record(name, value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert str(caught.value) == REASONS[caught.value.reason]
    return caught.value.reason


def test_a_report_holds_what_the_wire_wants(tmp_path: Path) -> None:
    asked = strings(epoch=7)
    client = strict(survey(asked), tmp_path)
    client.record("page", "https://example.org/")
    (report,) = client.pending()
    assert (report.question, report.version, report.digest) == ("page", 1, asked.digest)
    assert report.epoch == (date(2026, 3, 2) - date(1970, 1, 1)).days // 7
    assert len(report.id) == 16
    asked.fields[0].parameters.check_record(report.record)


BAD_VALUES = [
    ("flag", 1, "type"),
    ("flag", "true", "type"),
    ("colour", "mauve", "unknown_category"),
    ("colour", "x" * 2**20, "unknown_category"),
    ("colour", None, "type"),
    ("size", math.nan, "not_a_number"),
    ("size", "12", "type"),
    ("page", "x" * 2**20, "too_long"),
    ("page", "é" * 2_049, "too_long"),
    ("page", "\ud800", "bad_unicode"),
    ("page", b"bytes", "type"),
    ("both", "red", "type"),
    ("both", {"one": True}, "missing_field"),
    ("both", {"one": True, "two": "red", "three": 3}, "unknown_field"),
    ("both", {"one": True, "two": "mauve"}, "unknown_category"),
    ("nothing", True, "unknown_question"),
]
ALL = survey(
    question("flag"),
    question("colour", COLOURS),
    question("size", Numbers(("0", "10"))),
    strings("page"),
    question("both", fields=(a_field("one"), a_field("two", COLOURS))),
)


@pytest.mark.parametrize(("name", "value", "reason"), BAD_VALUES)
def test_bad_values_are_refused_by_reason_and_spend_nothing(
    tmp_path: Path, name: str, value: object, reason: str
) -> None:
    client = strict(ALL, tmp_path)
    assert reason_of(client, name, value) == reason
    assert client.counters() == {("" if name == "nothing" else name, reason): 1}
    assert client.pending() == []
    assert client.disclosed().questions == ()


@pytest.mark.parametrize(("name", "value", "reason"), BAD_VALUES)
def test_bad_values_are_counted_and_never_raise(
    tmp_path: Path, name: str, value: object, reason: str
) -> None:
    with Client(ALL, tmp_path, consent=Consent.GRANTED) as client:
        client.record(name, value)
        client.record(name, value)
        client.flush()
        assert client.counters() == {("" if name == "nothing" else name, reason): 2}


class Hostile(dict[str, object]):
    """A value that raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> object:
        raise RuntimeError("the value is 1234567")

    def __len__(self) -> int:
        raise RuntimeError("the value is 1234567")


@pytest.mark.parametrize("name", ["both", "flag", ["not", "hashable"], None, 7])
def test_whatever_a_value_or_a_name_does_it_is_only_counted(tmp_path: Path, name: object) -> None:
    with Client(ALL, tmp_path, consent=Consent.GRANTED) as client:
        client.record(name, Hostile())  # type: ignore[arg-type]
        client.record("flag", True)
        assert client.flush()
        assert len(client.pending()) == 1
        assert sum(client.counters().values()) == 1


@pytest.mark.parametrize("repeat", ["once", "epoch"])
def test_one_report_per_epoch_or_ever(tmp_path: Path, repeat: str) -> None:
    clock = Clock()
    client = strict(survey(question("q", COLOURS, repeat=repeat)), tmp_path, clock=clock)
    client.record("q", "red")
    assert reason_of(client, "q", "blue") == "answered"
    client = strict(survey(question("q", COLOURS, repeat=repeat)), tmp_path, clock=clock)
    assert reason_of(client, "q", "blue") == "answered"  # from the disk, not from memory
    clock.forward(days=1)
    if repeat == "once":
        assert reason_of(client, "q", "blue") == "answered"
    else:
        client.record("q", "blue")
    assert len(client.pending()) == (1 if repeat == "once" else 2)


def test_the_first_value_of_an_epoch_wins(tmp_path: Path) -> None:
    asked = question("q", COLOURS, "rappor", PERMANENT)
    client = strict(survey(asked), tmp_path)
    client.record("q", "red")
    (first,) = client.pending()
    reason_of(client, "q", "blue")
    assert client.pending() == [first]


def test_a_permanent_response_is_permanent_over_restarts(tmp_path: Path) -> None:
    clock, asked = Clock(), survey(strings(parameters={**BLOOM, **PERMANENT}))
    for _ in range(3):
        client = strict(asked, tmp_path, clock=clock)
        client.record("page", "caf\u00e9")
        clock.forward(days=1)
        client.record("page", "cafe\u0301")
        clock.forward(days=1)
        client.close()
    client = strict(asked, tmp_path, clock=clock)
    reports = client.pending()
    assert len(reports) == 6
    assert len({report.record for report in reports}) == 1
    assert len({report.id for report in reports}) == 6
    client.record("page", "another")
    assert len({report.record for report in client.pending()}) == 2


def test_an_account_secret_gives_two_devices_one_permanent_response(tmp_path: Path) -> None:
    asked = survey(strings(parameters={**BLOOM, **PERMANENT}))
    records = []
    for name, account in (("a", b"x" * 16), ("b", b"x" * 16), ("c", b"y" * 16), ("d", None)):
        client = strict(asked, tmp_path / name, account_secret=account)
        client.record("page", "value")
        records.append(client.pending()[0].record)
        assert (tmp_path / name / "secret").exists() == (account is None)
        assert b"x" * 16 not in (tmp_path / name / "client.sqlite3").read_bytes()
    assert records[0] == records[1]
    assert len(set(records)) == 3


def test_what_a_question_asked_once_costs(tmp_path: Path) -> None:
    asked = question("q", COLOURS, "krr", TWO_STAGES, repeat="once")
    client = strict(survey(asked), tmp_path)
    client.record("q", "red")
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers, line.micros) == (1, 1, asked.epsilon_once)


def test_what_a_permanent_response_costs_over_time(tmp_path: Path) -> None:
    clock, asked = Clock(), strings()
    client = strict(survey(asked), tmp_path, clock=clock)
    forever = asked.epsilon_forever
    costs = []
    for value in ("a", "a", "b", "a", "b", "c"):
        client.record("page", value)
        clock.forward(days=1)
        (line,) = client.disclosed().questions
        costs.append((line.reports, line.answers, line.micros // forever))
    assert costs == [(1, 1, 1), (2, 1, 1), (3, 2, 2), (4, 2, 2), (5, 2, 2), (6, 3, 3)]


def test_without_a_permanent_response_every_report_costs(tmp_path: Path) -> None:
    clock, asked = Clock(), question("q", COLOURS)
    client = strict(survey(asked), tmp_path, clock=clock)
    for _ in range(3):
        client.record("q", "red")
        clock.forward(days=1)
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers, line.micros) == (3, 3, 3 * asked.epsilon_once)


def test_fields_are_charged_one_by_one(tmp_path: Path) -> None:
    memoised = a_field("kept", COLOURS, "rappor", TWO_STAGES)
    plain = a_field("plain", Boolean())
    clock = Clock()
    client = strict(survey(question(fields=(memoised, plain))), tmp_path, clock=clock)
    forever, once = memoised.parameters.epsilon_forever, plain.parameters.epsilon_once
    totals = []
    for kept in ("red", "red", "blue"):
        client.record("q", {"kept": kept, "plain": True})
        clock.forward(days=1)
        totals.append(client.disclosed().questions[0].micros)
    assert totals == [forever + once, forever + 2 * once, 2 * forever + 3 * once]


def test_a_new_version_costs_again_and_is_answered_alone(tmp_path: Path) -> None:
    old, new = strings(), strings(version=2)
    client = strict(survey(old), tmp_path)
    client.record("page", "a")
    client = strict(survey(old, new), tmp_path)
    client.record("page", "a")
    assert reason_of(client, "page", "a") == "answered"
    assert sorted(report.version for report in client.pending()) == [1, 2]
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers) == (2, 2)
    assert line.micros == old.epsilon_forever + new.epsilon_forever


def test_a_version_that_changed_is_refused(tmp_path: Path) -> None:
    clock = Clock()
    strict(survey(strings()), tmp_path, clock=clock).record("page", "a")
    clock.forward(days=1)
    changed = survey(strings(parameters={**BLOOM, "q": 0.99}))
    client = strict(changed, tmp_path, clock=clock)
    assert reason_of(client, "page", "a") == "changed"
    assert len(client.pending()) == 1
    strict(survey(strings()), tmp_path, clock=clock).record("page", "a")  # the old one goes on


def test_the_ceiling_stops_what_costs_and_nothing_else(tmp_path: Path) -> None:
    clock, asked = Clock(), strings()
    cost = Fraction(asked.epsilon_forever, 10**6)
    client = strict(survey(asked), tmp_path, clock=clock, ceiling=float(2 * cost))
    for value in ("a", "b"):
        client.record("page", value)
        clock.forward(days=1)
    assert reason_of(client, "page", "c") == "ceiling"
    assert client.counters() == {("page", "ceiling"): 1}
    client.record("page", "a")  # paid for already
    assert client.disclosed().questions[0].reports == 3
    clock.forward(days=1)
    below = strict(survey(asked), tmp_path, clock=clock, ceiling=float(3 * cost) - 1e-6)
    assert reason_of(below, "page", "c") == "ceiling"


def test_the_ceiling_is_over_all_questions(tmp_path: Path) -> None:
    asked = survey(question("a", repeat="once"), question("b", repeat="once"))
    client = strict(asked, tmp_path, ceiling=1.5)
    refused = []
    for name in "ab":
        try:
            client.record(name, True)
        except RecordRefused as refusal:
            refused.append(refusal.reason)
    assert refused == ["ceiling"]
    assert client.disclosed().epsilon == 1.0


@pytest.mark.parametrize("ceiling", [0, -1, math.nan, math.inf, "1"])
def test_the_ceiling_must_be_a_number(tmp_path: Path, ceiling: object) -> None:
    with pytest.raises(InvalidParameter, match="'ceiling'"):
        strict(ALL, tmp_path, ceiling=ceiling)


def test_disclosure_is_readable_and_rounded_up(tmp_path: Path) -> None:
    client = strict(survey(strings()), tmp_path, ceiling=16.0)
    client.record("page", "a")
    told = client.disclosed()
    assert str(told).splitlines() == [
        "page: epsilon 4.395 in 1 report of 1 answer",
        "total: epsilon 4.395 of 16",
    ]
    assert told.questions[0].micros == 4_394_450
    for micros in (0, 1, 999, 1_000, 1_001, 123_456_789):
        assert 0 <= Fraction(str(round_up(micros))) - Fraction(micros, 10**6) < Fraction(1, 1_000)


def test_a_full_outbox_refuses_before_anything_is_spent(tmp_path: Path) -> None:
    asked = survey(question("a"), question("b"), question("c"))
    client = strict(asked, tmp_path, limits=Limits(outbox=2))
    client.record("a", True)
    client.record("b", True)
    assert reason_of(client, "c", True) == "outbox_full"
    assert len(client.pending()) == 2
    assert [line.question for line in client.disclosed().questions] == ["a", "b"]
    larger = strict(asked, tmp_path, limits=Limits(outbox=3))
    larger.record("c", True)  # it was not marked as answered


def test_expiry_is_inclusive(tmp_path: Path) -> None:
    clock = Clock()
    asked = survey(question("q", expires=date(2026, 3, 3)))
    client = strict(asked, tmp_path, clock=clock)
    client.record("q", True)
    clock.forward(days=1)
    client.record("q", True)
    clock.forward(days=1)
    assert reason_of(client, "q", True) == "expired"


def broken_clock() -> datetime:
    raise RuntimeError("no time")


@pytest.mark.parametrize("clock", [broken_clock, lambda: "noon", Clock(datetime(1950, 1, 1))])
def test_a_clock_without_a_day_is_refused(tmp_path: Path, clock: object) -> None:
    client = Client(ALL, tmp_path, consent=Consent.GRANTED, clock=clock)  # type: ignore[arg-type]
    client.record("flag", True)
    assert client.counters()["flag", "clock"] == 1
    assert client.flush()
    client.close()
    strict(ALL, tmp_path, clock=clock).close()


def test_counters_outlive_the_process_that_counted(tmp_path: Path) -> None:
    first = strict(ALL, tmp_path)
    reason_of(first, "flag", "bad")
    first.close()
    second = strict(ALL, tmp_path)
    reason_of(second, "flag", "bad")
    assert second.counters() == {("flag", "type"): 2}
    assert reason_of(first, "flag", True) == "closed"


def test_surveys_come_as_object_bytes_or_path(tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    path.write_bytes(ALL.published())
    for source in (ALL, ALL.published(), path, str(path)):
        client = ExportedClient(source, tmp_path / "state")
        assert client.survey == Survey.from_published(ALL.published())
        client.close()
    with pytest.raises(InvalidSurvey):
        Client(b"{}", tmp_path)
    with pytest.raises(FileNotFoundError):
        Client(tmp_path / "missing.json", tmp_path)


def test_a_repr_shows_no_place_and_no_secret(tmp_path: Path) -> None:
    client = strict(ALL, tmp_path, account_secret=b"very secret bytes")
    assert repr(client) == "Client(survey='test', strict=True)"


@pytest.mark.parametrize(
    "limits", [{"queue": 0}, {"batch": 1_001}, {"outbox": 1.5}, {"timeout_seconds": math.nan}]
)
def test_limits_are_checked(limits: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        Limits(**limits)  # type: ignore[arg-type]

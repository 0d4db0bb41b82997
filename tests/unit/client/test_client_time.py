"""What happens over time: wrong clocks, absent answers, held reports."""

from __future__ import annotations

import time
from datetime import date
from pathlib import Path

import pytest

from deniable.client import Client, Consent, Limits
from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.errors import RecordRefused
from deniable.protocol import ABSENT
from deniable.protocol.epochs import day_number
from material.clients import (
    BLOOM,
    COLOURS,
    PERMANENT,
    START,
    Clock,
    Script,
    question,
    strict,
    strings,
    survey,
)

TODAY = day_number(START)
COLOUR = question("q", COLOURS, "rappor", PERMANENT, send="always")
"""Always sent; each report is the permanent response itself, so that it can be recognised."""


def permanent(directory: Path, value: object) -> bytes:
    return encode(COLOUR, value, (directory / "secret").read_bytes(), SystemDraws())


def epochs(client: Client) -> list[int]:
    return sorted(report.epoch - TODAY for report in client.pending())


def refusal(client: Client, value: object = True) -> str:
    with pytest.raises(RecordRefused) as caught:
        client.record("q", value)
    return caught.value.reason


def test_a_clock_that_goes_back_repeats_nothing(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(question()), tmp_path, clock=clock)
    client.record("q", True)
    clock.forward(days=1)
    client.record("q", True)
    clock.forward(days=-1)
    assert refusal(client) == "answered"
    clock.forward(days=-1)
    client.record("q", True)  # a day that was not answered yet
    assert epochs(client) == [-1, 0, 1]


def test_a_year_ahead_and_back_neither_repeats_nor_silences(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(question()), tmp_path, clock=clock)
    client.record("q", True)
    clock.forward(days=365)
    client.record("q", True)
    clock.forward(days=-365)
    assert refusal(client) == "answered"
    for _ in range(3):
        clock.forward(days=1)
        client.record("q", True)
    assert epochs(client) == [0, 1, 2, 3, 365]


def test_a_report_from_the_future_waits_for_its_day(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    offline = strict(survey(question()), tmp_path, clock=clock)
    clock.forward(days=365)
    offline.record("q", True)
    clock.forward(days=-365)
    client = strict(survey(question()), tmp_path, clock=clock, transport=script)
    client.record("q", True)
    assert client.flush()
    assert [report.epoch - TODAY for report in script.reports] == [0]
    clock.forward(days=365)
    assert client.flush()
    assert [report.epoch - TODAY for report in script.reports] == [0, 365]


@pytest.mark.parametrize("length", [1, 7])
def test_an_always_report_is_held_until_its_epoch_is_over(tmp_path: Path, length: int) -> None:
    clock, script = Clock(), Script()
    asked = question("q", COLOURS, send="always", epoch=length)
    client = strict(survey(asked), tmp_path, clock=clock, transport=script)
    client.record("q", "red")
    last = (TODAY // length + 1) * length - 1
    while day_number(clock()) <= last:
        assert client.flush()
        assert script.requests == []
        clock.forward(days=1)
    assert client.flush()
    assert [report.epoch for report in script.reports] == [TODAY // length]


def test_an_epoch_without_a_value_gets_an_absent_report(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(COLOUR), tmp_path, clock=clock)
    assert client.pending() == []
    clock.forward(days=1)
    client.record("q", "red")
    absent, red = sorted(client.pending(), key=lambda report: report.epoch)
    assert (absent.epoch, red.epoch) == (TODAY, TODAY + 1)
    assert absent.record == permanent(tmp_path, ABSENT)
    assert red.record == permanent(tmp_path, "red")
    (line,) = client.disclosed().questions
    assert (line.reports, line.answers) == (2, 2)  # an absent answer costs like any other
    assert line.micros == 2 * COLOUR.epsilon_forever


def test_absent_and_recorded_reports_leave_in_the_same_way(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    asked = survey(COLOUR, question("other", COLOURS, "rappor", PERMANENT, send="always"))
    client = strict(asked, tmp_path, clock=clock, transport=script)
    client.record("q", "red")
    assert client.flush()
    clock.forward(days=1)
    assert client.flush()
    assert sorted(len(batch) for batch in script.batches) == [1, 1]
    assert {report.question for report in script.reports} == {"other", "q"}
    assert {report.epoch for report in script.reports} == {TODAY}
    assert len({len(request.body or b"") for request in script.requests}) == 1


def test_only_epochs_that_the_app_saw_are_reported(tmp_path: Path) -> None:
    clock = Clock()
    for days in (0, 3, 4):
        clock.moment = START
        clock.forward(days=days)
        strict(survey(COLOUR), tmp_path, clock=clock).close()
    clock.forward(days=6)
    assert epochs(strict(survey(COLOUR), tmp_path, clock=clock)) == [0, 3, 4]


def test_a_year_ahead_and_back_makes_no_flood_of_absent_reports(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(COLOUR), tmp_path, clock=clock)
    clock.forward(days=365)
    client.flush()
    assert client.pending() == []  # today's epoch is stale by that clock: left out, not lost
    clock.forward(days=-365)
    client.record("q", "red")
    clock.forward(days=1)
    client.flush()
    assert epochs(client) == [0]
    assert client.pending()[0].record == permanent(tmp_path, "red")
    assert client.counters() == {("q", "stale"): 1}


def test_absent_reports_end_with_the_question(tmp_path: Path) -> None:
    clock = Clock()
    asked = question("q", COLOURS, send="always", expires=date(2026, 3, 3))
    client = strict(survey(asked), tmp_path, clock=clock)
    for _ in range(10):
        client.flush()
        clock.forward(days=1)
    assert epochs(client) == [0, 1]  # the last epoch's silence must not tell either


def test_a_refused_value_becomes_an_absent_answer(tmp_path: Path) -> None:
    clock, cost = Clock(), COLOUR.epsilon_forever / 1e6
    client = strict(survey(COLOUR), tmp_path, clock=clock, ceiling=1.5 * cost)
    clock.forward(days=1)
    client.flush()  # the absent answer of the first day is paid for
    assert refusal(client, "red") == "ceiling"
    assert refusal(client, "mauve") == "unknown_category"
    clock.forward(days=1)
    client.flush()
    assert epochs(client) == [0, 1]
    assert {report.record for report in client.pending()} == {permanent(tmp_path, ABSENT)}


def test_an_absent_report_beyond_the_ceiling_is_counted_once_per_epoch(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(COLOUR), tmp_path, clock=clock, ceiling=0.001)
    clock.forward(days=1)
    for _ in range(5):
        client.flush()
    assert client.pending() == []
    assert client.counters() == {("q", "ceiling"): 1}


def test_missing_fields_are_absent_where_a_question_is_always_sent(tmp_path: Path) -> None:
    client = strict(survey(COLOUR), tmp_path)
    client.record("q", ABSENT)
    assert client.pending()[0].record == permanent(tmp_path, ABSENT)


ONCE = question("q", COLOURS, send="always", repeat="once")


def test_once_and_always_is_answered_in_the_first_epoch_or_never(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    client = strict(survey(ONCE), tmp_path, clock=clock, transport=script)
    client.record("q", "red")
    assert client.flush()
    assert script.requests == []
    for _ in range(5):
        clock.forward(days=1)
        assert client.flush()
    assert [report.epoch - TODAY for report in script.reports] == [0]


def test_once_and_always_is_absent_if_the_first_epoch_passes(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(ONCE), tmp_path, clock=clock)
    clock.forward(days=2)
    assert refusal(client, "red") == "answered"
    assert epochs(client) == [0]
    for _ in range(5):
        clock.forward(days=1)
        client.flush()
    assert epochs(client) == [0]


def test_once_and_always_survives_a_clock_that_was_ahead(tmp_path: Path) -> None:
    clock = Clock()
    clock.forward(days=365)
    strict(survey(ONCE), tmp_path, clock=clock).close()
    clock.forward(days=-365)
    client = strict(survey(ONCE), tmp_path, clock=clock)
    client.record("q", "red")
    assert epochs(client) == [0]


def test_the_thread_looks_for_closed_epochs_by_itself(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    limits = Limits(cycle_seconds=0.02, delay_seconds=0)
    with Client(
        survey(COLOUR),
        tmp_path,
        consent=Consent.GRANTED,
        clock=clock,
        transport=script,
        limits=limits,
    ) as client:
        assert client.flush()
        clock.forward(days=1)
        deadline = time.monotonic() + 10
        while not script.reports and time.monotonic() < deadline:
            time.sleep(0.01)
    assert [report.epoch - TODAY for report in script.reports] == [0]


def test_older_versions_are_neither_answered_nor_absent(tmp_path: Path) -> None:
    clock = Clock()
    newer = question("q", COLOURS, send="always", version=2)
    client = strict(survey(COLOUR, newer), tmp_path, clock=clock)
    clock.forward(days=1)
    client.flush()
    assert [report.version for report in client.pending()] == [2]


def test_stale_reports_are_dropped_when_two_days_agree(tmp_path: Path) -> None:
    clock, asked = Clock(), survey(strings(parameters=BLOOM))
    client = strict(asked, tmp_path, clock=clock)
    client.record("page", "a")
    clock.forward(days=30)
    client.flush()
    assert len(client.pending()) == 1
    clock.forward(days=1)
    client.flush()
    assert len(client.pending()) == 1  # one day alone could be a wrong clock
    clock.forward(days=1)
    client.flush()
    assert client.pending() == []
    assert client.counters() == {("page", "stale"): 1}


def test_a_clock_that_is_ahead_for_a_day_drops_nothing(tmp_path: Path) -> None:
    clock = Clock()
    client = strict(survey(strings()), tmp_path, clock=clock)
    client.record("page", "a")
    for days in (365, -365, 365, -365, 1):
        clock.forward(days=days)
        client.flush()
    assert len(client.pending()) == 1

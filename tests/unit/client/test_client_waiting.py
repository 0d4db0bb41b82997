"""Reports that are refused for now: they wait for a turn of their own, and hold up nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.client import Client, Limits, Response
from deniable.protocol import Report
from deniable.protocol.epochs import ACCEPT_PAST_DAYS, day_number
from deniable.protocol.reasons import Reason
from material.clients import Clock, Script, accept, acknowledge, question, strict, survey

WAITING = ("unknown_version", "unknown_question", "too_early", "other")
MANY = [f"q{i}" for i in range(30)]
ASKED = survey(*(question(name) for name in MANY))


class Picky:
    """A collector that refuses some questions for now, and accepts the others."""

    def __init__(self, reason: str, *names: str) -> None:
        self.reason = reason
        self.names = set(names)

    def __call__(self, reports: list[Report]) -> Response:
        problems = [
            {"index": index, "reason": self.reason}
            for index, report in enumerate(reports)
            if report.question in self.names
        ]
        return Response(200, {}, acknowledge(reports, problems))


def waiting(client: Client) -> set[str]:
    return {report.question for report in client.pending()}


def count(client: Client, reason: str) -> int:
    return sum(n for (_, why), n in client.counters().items() if why == reason)


@pytest.mark.parametrize("reason", WAITING)
@pytest.mark.parametrize("poisoned", [1, 15, 29])
def test_the_others_leave_in_one_flush(tmp_path: Path, reason: str, poisoned: int) -> None:
    picky = Picky(reason, *MANY[:poisoned])
    script = Script([picky] * 100)
    client = strict(ASKED, tmp_path, transport=script)
    for name in MANY:
        client.record(name, True)
    assert not client.flush()
    assert waiting(client) == set(MANY[:poisoned])
    assert count(client, "uploaded") == 30 - poisoned
    assert len(script.batches) == 30  # each report was tried once, each question by itself
    assert count(client, f"waiting_{reason}") == poisoned


def test_the_background_steps_leave_the_poisoned_ones_alone(tmp_path: Path) -> None:
    clock = Clock()
    script = Script([Picky("unknown_version", *MANY[:20])] * 100)
    limits = Limits(delay_seconds=0, retry_base_seconds=1e9, retry_cap_seconds=1e9)
    client = strict(ASKED, tmp_path, transport=script, limits=limits, clock=clock)
    for name in MANY:
        client.record(name, True)
    while client._device.cycle() == 0.0:
        pass
    assert waiting(client) == set(MANY[:20])
    assert len(script.batches) == 30
    sent = len(script.batches)
    client._device.cycle()
    assert len(script.batches) == sent  # nobody's turn
    other = strict(ASKED, tmp_path, transport=script, limits=limits, clock=clock)
    other._device.cycle()
    assert len(script.batches) == sent  # nor after a restart
    clock.forward(days=2)  # no wait is longer than a day
    client._device.cycle()
    assert len(script.batches) > sent


def test_waits_grow_and_end_at_the_cap(tmp_path: Path) -> None:
    clock = Clock()
    script = Script([Picky("unknown_question", "q0")] * 10_000)
    limits = Limits(retry_base_seconds=60, retry_cap_seconds=14_400)
    client = strict(ASKED, tmp_path, transport=script, limits=limits, clock=clock)
    client.record("q0", True)
    for _ in range(4 * 48):
        client._device.cycle()
        clock.forward(minutes=30)
    # Uniform below four hours once the cap is reached: two hours and a quarter on average, so about
    # 45 in four days. Each wait is at most the cap, or half an hour more by our steps: 21 at least.
    assert 21 <= len(script.batches) <= 120


def test_a_wait_from_a_clock_that_was_ahead_does_not_count(tmp_path: Path) -> None:
    clock = Clock()
    script = Script([Picky("unknown_version", "q0")])
    client = strict(ASKED, tmp_path, transport=script, clock=clock)
    client.record("q0", True)
    clock.forward(days=100)
    assert not client.flush()
    clock.forward(days=-99.5)
    client._device.cycle()
    assert len(script.batches) == 2
    assert waiting(client) == set()


@pytest.mark.parametrize("ahead", [2, 10, 29])
def test_too_early_waits_for_its_day(tmp_path: Path, ahead: int) -> None:
    clock = Clock()
    true_day = day_number(clock())

    def collector(reports: list[Report]) -> Response:
        early = [i for i, report in enumerate(reports) if report.epoch > true_day + 1]
        problems = [{"index": i, "reason": Reason.TOO_EARLY.value} for i in early]
        return Response(200, {}, acknowledge(reports, problems))

    script = Script([collector] * 1_000)
    clock.forward(days=ahead)
    client = strict(ASKED, tmp_path, transport=script, clock=clock)
    client.record("q0", True)
    (made,) = client.pending()
    for _ in range(ahead - 1):
        assert not client.flush()
        assert client.pending() == [made]
        clock.forward(days=1)
        true_day += 1
    assert client.flush()
    assert client.counters()["q0", "uploaded"] == 1


def test_a_clock_that_returns_waits_in_silence(tmp_path: Path) -> None:
    clock = Clock()
    clock.forward(days=10)
    script = Script([Picky("too_early", "q0")])
    client = strict(ASKED, tmp_path, transport=script, clock=clock)
    client.record("q0", True)
    assert not client.flush()
    clock.forward(days=-10)
    for _ in range(10):
        assert client.flush()  # nothing that could be sent today
        assert len(script.batches) == 1
        assert waiting(client) == {"q0"}
        clock.forward(days=1)
    assert client.flush()
    assert waiting(client) == set()


@pytest.mark.parametrize("answer", [*WAITING, "401", "login"])
def test_waiting_ends_when_the_epoch_would_be_too_late(tmp_path: Path, answer: str) -> None:
    def refuse(reports: list[Report]) -> Response:
        if answer == "401":
            return Response(401)
        if answer == "login":
            return Response(200, {"content-type": "text/html"}, b"<html>")
        return Picky(answer, "q0")(reports)

    clock = Clock()
    client = strict(ASKED, tmp_path, transport=Script([refuse] * 10_000), clock=clock)
    client.record("q0", True)
    for _ in range(ACCEPT_PAST_DAYS + 1):  # found stale on one day, dropped on the next
        assert not client.flush()
        assert waiting(client) == {"q0"}
        clock.forward(days=1)
    client.flush()
    assert waiting(client) == {"q0"}
    clock.forward(days=1)
    assert client.flush()
    assert waiting(client) == set()
    assert client.counters()["q0", "stale"] == 1
    assert client.disclosed().questions[0].reports == 1  # what was spent stays spent


def test_opting_out_while_a_batch_is_on_its_way(tmp_path: Path) -> None:
    def meanwhile(reports: list[Report]) -> Response:
        client.opt_out()
        return Picky("unknown_version", "q0")(reports)

    client = strict(ASKED, tmp_path, transport=Script([meanwhile]))
    client.record("q0", True)
    client.flush()
    assert client.pending() == []


def test_an_accepted_report_is_not_held_by_its_earlier_wait(tmp_path: Path) -> None:
    script = Script([Picky("unknown_version", "q0"), accept])
    client = strict(ASKED, tmp_path, transport=script)
    client.record("q0", True)
    assert not client.flush()
    assert client.flush()
    assert script.batches[0] == script.batches[1]

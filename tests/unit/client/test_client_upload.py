"""Uploads: what is retried, split, dropped and counted, and that a retry is bit-identical."""

from __future__ import annotations

import time
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.client import Client, Consent, Limits, Request, Response, outbox
from deniable.client.answer import REFUSALS, Verdict, judge, read_acknowledgement
from deniable.collector.reasons import REPORT_REASONS
from deniable.errors import InvalidParameter
from deniable.protocol import Report
from material.clients import (
    START,
    Clock,
    Script,
    accept,
    acknowledge,
    collector,
    question,
    reports_of,
    status,
    strict,
    strings,
    survey,
)

NAMES = [f"q{i}" for i in range(10)]
ASKED = survey(*(question(name, repeat="once") for name in NAMES))


def filled(directory: Path, script: Script, **more: object) -> Client:
    client = strict(ASKED, directory, transport=script, **more)
    for name in NAMES:
        client.record(name, True)
    return client


def count(client: Client, reason: str) -> int:
    return sum(n for (_, why), n in client.counters().items() if why == reason)


def test_reports_are_sent_deleted_and_counted(tmp_path: Path) -> None:
    script = Script()
    client = filled(tmp_path, script)
    waiting = client.pending()
    assert client.flush()
    assert client.pending() == []
    assert sorted(script.reports, key=lambda r: r.id) == waiting
    assert count(client, "uploaded") == 10
    assert script.requests[0].path == "/v1/reports"
    assert client.flush()
    assert len(script.requests) == 1


def test_batches_are_bounded(tmp_path: Path) -> None:
    script = Script()
    assert filled(tmp_path, script, limits=Limits(batch=4)).flush()
    assert [len(batch) for batch in script.batches] == [4, 4, 2]


def test_batches_are_bounded_in_bytes(tmp_path: Path) -> None:
    wide = {"k": 65_536, "h": 1, "m": 1, "epsilon": 1.0}
    asked = survey(*(strings(f"w{i}", wide, repeat="once") for i in range(100)))
    script = Script()
    client = strict(asked, tmp_path, transport=script)
    record = bytes(asked.questions[0].record_size)
    with client._device.database.transaction() as connection:  # encoding 100 of them is slow
        for i, each in enumerate(asked.questions):
            report = Report(each.id, 1, each.digest, 20_000, bytes([i]) * 16, record)
            outbox.put(connection, each, report)
    assert client.flush()
    assert len(script.reports) == 100
    assert len(script.batches) == 2
    assert all(len(request.body or b"") <= 2**20 for request in script.requests)


def test_the_order_of_sending_is_random(tmp_path: Path) -> None:
    orders = set()
    for run in range(3):  # all three are equal with probability 10!^-2, below 1e-13
        script = Script()
        assert filled(tmp_path / str(run), script).flush()
        orders.add(tuple(report.question for report in script.reports))
    assert len(orders) > 1


@pytest.mark.parametrize("code", [408, 425, 429, 500, 502, 503, 504, 302, 100])
def test_what_is_tried_again(tmp_path: Path, code: int) -> None:
    script = Script([status(code)])
    client = filled(tmp_path, script)
    assert not client.flush()
    assert len(client.pending()) == 10
    assert client.counters() == {("", f"status_{code}"): 1}
    assert client.flush()
    assert count(client, "uploaded") == 10
    first, second = (sorted(batch, key=lambda r: r.id) for batch in script.batches)
    assert first == second  # bit-identical, in another order


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 415, 422])
def test_what_is_dropped(tmp_path: Path, code: int) -> None:
    client = filled(tmp_path, Script([status(code)]))
    assert client.flush()
    assert client.pending() == []
    assert count(client, f"status_{code}") == 10


@given(st.integers(100, 599))
def test_every_status_has_a_verdict(code: int) -> None:
    verdict = judge(code)
    if code == 413:
        assert verdict is Verdict.SPLIT
    elif 200 <= code < 300:
        assert verdict is Verdict.DONE
    elif code in (408, 425, 429) or not 400 <= code < 500:
        assert verdict is Verdict.RETRY
    else:
        assert verdict is Verdict.DROP


def test_a_batch_that_is_too_large_is_split(tmp_path: Path) -> None:
    def at_most_two(reports: list[Report]) -> Response:
        return accept(reports) if len(reports) <= 2 else Response(413)

    script = Script([at_most_two] * 50)
    client = filled(tmp_path, script)
    assert client.flush()
    assert client.pending() == []
    assert count(client, "uploaded") == 10
    done = [report.id for batch in script.batches if len(batch) <= 2 for report in batch]
    assert len(done) == len(set(done)) == 10


def test_a_single_report_that_is_too_large_is_dropped(tmp_path: Path) -> None:
    def not_q3(reports: list[Report]) -> Response:
        return Response(413) if any(r.question == "q3" for r in reports) else accept(reports)

    client = filled(tmp_path, Script([not_q3] * 50))
    assert client.flush()
    assert client.counters()["q3", "too_large"] == 1
    assert count(client, "uploaded") == 9


def test_a_failure_in_the_middle_of_splitting_loses_nothing(tmp_path: Path) -> None:
    script = Script([status(413), accept, status(503)])
    client = filled(tmp_path, script)
    assert not client.flush()
    assert [len(batch) for batch in script.batches] == [10, 5, 5]
    assert len(client.pending()) == 5
    assert client.flush()
    assert count(client, "uploaded") == 10


def test_problems_are_counted_by_question_and_reason(tmp_path: Path) -> None:
    def complain(reports: list[Report]) -> Response:
        problems = [
            {"index": 0, "reason": "digest"},
            {"index": 1, "reason": "invented by the server"},
            {"index": 2},
            {"index": 99, "reason": "digest"},
            {"index": True, "reason": "digest"},
            "not an object",
        ]
        return Response(200, {}, acknowledge(reports, problems))

    script = Script([complain])
    client = filled(tmp_path, script)
    assert client.flush()
    first, second, third = (report.question for report in script.reports[:3])
    counts = client.counters()
    assert counts[first, "refused_digest"] == 1
    assert counts[second, "refused_other"] == counts[third, "refused_other"] == 1
    assert count(client, "uploaded") == 7
    assert client.pending() == []


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>please log in</html>", b"[]", b"{}", b'{"accepted": -1}', b"\xff", b"[" * 10**5],
)
def test_an_answer_that_is_no_acknowledgement_is_tried_again(tmp_path: Path, body: bytes) -> None:
    client = filled(tmp_path, Script([lambda _: Response(200, {}, body)]))
    assert not client.flush()
    assert len(client.pending()) == 10
    assert client.counters() == {("", "bad_response"): 1}
    assert client.flush()


@given(st.binary(max_size=200))
def test_no_answer_breaks_the_reader(body: bytes) -> None:
    report = Report("q", 1, bytes(32), 0, bytes(16), b"")
    counts = read_acknowledgement(Response(200, {}, body), [report])
    assert counts is None or counts.total() == 1


@pytest.mark.parametrize("error", [OSError("down"), ValueError("a bug in the app's transport")])
def test_a_transport_that_fails_is_tried_again(tmp_path: Path, error: Exception) -> None:
    def fail(_: list[Report]) -> Response:
        raise error

    client = filled(tmp_path, Script([fail]))
    assert not client.flush()
    assert client.counters() == {("", "unreachable"): 1}
    assert client.flush()


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed_also_by_flush_and_after_a_restart(tmp_path: Path, form: str) -> None:
    clock = Clock()
    until = START + timedelta(seconds=120)
    header = {"seconds": "120", "date": format_datetime(until, usegmt=True)}[form]
    script = Script([status(503, **{"retry-after": header})])
    client = filled(tmp_path, script, clock=clock)
    assert not client.flush()
    clock.forward(seconds=119)
    assert not client.flush()
    other = strict(ASKED, tmp_path, transport=script, clock=clock)
    assert not other.flush()
    assert len(script.requests) == 1
    clock.forward(seconds=1)
    assert other.flush()
    assert len(script.requests) == 2


def test_retry_after_ends_when_the_clock_turns_out_wrong(tmp_path: Path) -> None:
    clock = Clock()
    clock.forward(days=365)
    script = Script([status(503, **{"retry-after": "60"})])
    client = filled(tmp_path, script, clock=clock)
    assert not client.flush()
    with client._device.database.transaction() as connection:
        connection.execute("UPDATE outbox SET not_before = 0")
    clock.forward(days=-365)
    assert client.flush()


def test_the_thread_waits_between_tries_and_flush_does_not(tmp_path: Path) -> None:
    script = Script([status(503)] * 3)
    limits = Limits(retry_base_seconds=1e9, retry_cap_seconds=1e9, cycle_seconds=0.01)
    with Client(
        ASKED, tmp_path, consent=Consent.GRANTED, transport=script, limits=limits
    ) as client:
        client.record("q0", True)
        deadline = time.monotonic() + 10
        while not script.requests and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.1)  # ten cycles
        assert len(script.requests) == 1
        assert not client.flush()
        assert len(script.requests) == 2


def test_two_processes_do_not_send_the_same_rows_at_once(tmp_path: Path) -> None:
    clock = Clock()
    other_script = Script()

    def meanwhile(reports: list[Report]) -> Response:
        other = strict(ASKED, tmp_path, transport=other_script, clock=clock)
        assert not other.flush()
        other.close()
        return accept(reports)

    client = filled(tmp_path, Script([meanwhile]), clock=clock)
    assert client.flush()
    assert other_script.requests == []


def test_rows_of_a_process_that_died_while_sending_are_sent_later(tmp_path: Path) -> None:
    clock = Clock()

    def die(_: list[Report]) -> Response:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled(tmp_path, Script([die]), clock=clock).flush()
    client = strict(ASKED, tmp_path, transport=Script(), clock=clock)
    assert not client.flush()
    clock.forward(seconds=121)
    assert client.flush()
    assert count(client, "uploaded") == 10


def test_a_lease_from_a_clock_that_was_ahead_does_not_count(tmp_path: Path) -> None:
    clock = Clock()
    client = filled(tmp_path, Script(), clock=clock)
    with client._device.database.transaction() as connection:
        future = (START + timedelta(days=365)).timestamp()
        connection.execute("UPDATE outbox SET leased_until = ?", (future,))
    assert client.flush()


def test_a_retry_over_real_http_is_bit_identical(tmp_path: Path) -> None:
    with collector(503, 500) as served:
        client = strict(
            survey(strings()), tmp_path, endpoint=served.url, write_key="the key", clock=Clock()
        )
        client.record("page", "https://example.org/")
        (waiting,) = client.pending()
        assert not client.flush()
        client.close()  # tries, and fails, once more
        again = strict(survey(strings()), tmp_path, endpoint=served.url + "/", write_key="the key")
        assert again.flush()
    assert len(served.bodies) == 3
    assert len(set(served.bodies)) == 1
    assert reports_of(served.bodies[0]) == [waiting]
    headers = {name.lower(): value for name, value in served.headers[0].items()}
    assert headers.pop("host").startswith("127.0.0.1:")
    assert headers.pop("content-length") == str(len(served.bodies[0]))
    assert headers == {
        "user-agent": "deniable-client/1",
        "content-type": "application/json",
        "authorization": "Bearer the key",
        "accept-encoding": "identity",
        "connection": "close",
    }


def test_the_background_client_sends_over_real_http(tmp_path: Path) -> None:
    with collector() as served:
        with Client(ASKED, tmp_path, served.url, consent=Consent.GRANTED) as client:
            for name in NAMES:
                client.record(name, True)
            assert client.flush()
            assert client.pending() == []
        assert sum(len(reports_of(body)) for body in served.bodies) == 10


@pytest.mark.parametrize("key", ["", "two\nlines", "schlüssel"])
def test_a_write_key_must_fit_a_header(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Client(ASKED, tmp_path, write_key=key)
    assert not key or key not in str(caught.value)


def test_endpoint_and_transport_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="not both"):
        Client(ASKED, tmp_path, "https://example.org", transport=Script())


def test_requests_do_not_print_their_contents() -> None:
    request = Request("POST", "/v1/reports", {"Authorization": "Bearer k3y"}, b"body")
    assert "k3y" not in repr(request)
    assert "body=" not in repr(request)


def test_the_client_knows_the_collectors_reasons() -> None:
    assert {reason.value for reason in REPORT_REASONS} == REFUSALS

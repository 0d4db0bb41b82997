"""Uploads: what is retried, split, dropped and counted, and that a retry is bit-identical."""

from __future__ import annotations

import json
import time
from datetime import timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.client import Client, Consent, Limits, Request, Response, outbox
from deniable.client.acknowledgement import Outcome, Whole, judge
from deniable.errors import InvalidParameter
from deniable.protocol import Report
from deniable.protocol.epochs import day_number
from deniable.protocol.reasons import (
    FINAL_REASONS,
    PROBLEM_MEDIA_TYPE,
    REPORT_REASONS,
    SPLIT_REASONS,
    Reason,
)
from material.clients import (
    START,
    Answer,
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
ASKED = survey(*(question(name) for name in NAMES))
FIRST = day_number(START) - 9
"""The epoch of the oldest of ten reports."""


def filled(directory: Path, script: Script, clock: Clock | None = None, **more: object) -> Client:
    """A client with ten reports to one question, of ten days."""
    clock = clock or Clock()
    client = strict(ASKED, directory, transport=script, clock=clock, **more)
    clock.forward(days=-9)
    for day in range(10):
        clock.forward(days=bool(day))
        client.record("q0", True)
    return client


def meant(reports: list[Report]) -> bool:
    """Tell whether the fourth of the ten is among these."""
    return any(report.epoch == FIRST + 3 for report in reports)


def problem(reason: Reason) -> Answer:
    """A whole request refused, as the collector does it."""
    body = json.dumps({"reason": reason.value, "status": reason.status}).encode()
    return lambda _: Response(reason.status, {"content-type": PROBLEM_MEDIA_TYPE}, body)


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
    asked = survey(each := strings("w", wide))
    script = Script()
    client = strict(asked, tmp_path, transport=script)
    record = bytes(asked.questions[0].record_size)
    with client._device.database.transaction() as connection:  # encoding 100 of them is slow
        for i in range(100):
            report = Report(each.id, 1, each.digest, 20_000 + i, bytes([i]) * 16, record)
            outbox.put(connection, each, report, 0)
    assert client.flush()
    assert len(script.reports) == 100
    assert len(script.batches) == 2  # bounded as JSON, which may be needed
    assert all(len(request.body or b"") <= 2**20 for request in script.requests)


def test_the_order_of_sending_is_random(tmp_path: Path) -> None:
    orders = set()
    for run in range(3):  # all three are equal with probability 10!^-2, below 1e-13
        script = Script()
        client = strict(ASKED, tmp_path / str(run), transport=script)
        for name in NAMES:
            client.record(name, True)
        assert client.flush()
        orders.add(tuple(report.question for report in script.reports))
    assert len(orders) > 1


@pytest.mark.parametrize(
    "code",
    [
        *(100, 201, 204, 206, 301, 302, 303, 304, 307, 308),
        *(400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 415, 418, 421, 422, 425, 429),
        *(431, 451, 499, 500, 502, 503, 504, 511),
    ],
)
def test_a_status_alone_makes_reports_wait(code: int) -> None:
    everything = acknowledge([Report("q", 1, bytes(32), 0, bytes(16), b"")])
    for body in (b"", b"<html>log in</html>", everything, b'{"reason": "digest"}'):
        for kind in ("text/html", "application/json"):
            assert judge(Response(code, {"content-type": kind}, body), 1) is Whole.WAIT


@pytest.mark.parametrize("code", [302, 401, 403, 404, 405, 407, 410, 421, 451, 503])
def test_reports_that_wait_are_sent_again_bit_for_bit(tmp_path: Path, code: int) -> None:
    script = Script([status(code)])
    client = filled(tmp_path, script)
    assert not client.flush()
    assert len(client.pending()) == 10
    assert client.counters() == {("", f"status_{code}"): 1}
    assert client.flush()
    assert count(client, "uploaded") == 10
    first, second = (sorted(batch, key=lambda r: r.id) for batch in script.batches)
    assert first == second  # bit-identical, in another order


WHOLE = [reason for reason in Reason if reason not in (*REPORT_REASONS, *SPLIT_REASONS)]


@pytest.mark.parametrize("reason", WHOLE)
def test_a_problem_with_the_request_makes_reports_wait(reason: Reason) -> None:
    assert [judge(problem(reason)([]), reports) for reports in (1, 2)] == [Whole.WAIT] * 2


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


@pytest.mark.parametrize("reason", sorted({*FINAL_REASONS, *REPORT_REASONS, *SPLIT_REASONS}))
def test_a_problem_about_one_report_is_found_by_halves(tmp_path: Path, reason: Reason) -> None:
    def not_the_fourth(reports: list[Report]) -> Response:
        return problem(reason)(reports) if meant(reports) else accept(reports)

    client = filled(tmp_path, Script([not_the_fourth] * 50))
    assert client.flush() is reason.final
    assert count(client, "uploaded") == 9
    if reason.final:
        assert client.counters()["q0", f"refused_{reason}"] == 1
        assert client.pending() == []
    else:
        assert client.counters()["q0", f"waiting_{reason}"] == 1
        assert meant(client.pending())


def test_a_proxys_413_is_no_word_about_a_report(tmp_path: Path) -> None:
    def proxy(reports: list[Report]) -> Response:
        html = Response(413, {"content-type": "text/html"})
        return html if meant(reports) else accept(reports)

    client = filled(tmp_path, Script([proxy] * 50))
    assert not client.flush()
    assert client.counters()["q0", "waiting_other"] == 1
    assert meant(client.pending())
    assert count(client, "uploaded") == 9


@pytest.mark.parametrize(
    "answer",
    [
        Response(500, {"content-type": PROBLEM_MEDIA_TYPE}, b'{"reason": "digest"}'),
        Response(302, {"content-type": PROBLEM_MEDIA_TYPE}, b'{"reason": "digest"}'),
        Response(409, {"content-type": "application/json"}, b'{"reason": "digest"}'),
        Response(409, {}, b'{"reason": "digest"}'),
        Response(409, {"content-type": PROBLEM_MEDIA_TYPE}, b'{"reason": "invented"}'),
        Response(409, {"content-type": PROBLEM_MEDIA_TYPE}, b'{"reason": ["digest"]}'),
        Response(409, {"content-type": PROBLEM_MEDIA_TYPE}, b'["digest"]'),
        Response(409, {"content-type": PROBLEM_MEDIA_TYPE}, b"digest"),
        Response(200, {"content-type": PROBLEM_MEDIA_TYPE}, b'{"reason": "digest"}'),
    ],
)
def test_what_only_looks_like_a_final_word_is_none(answer: Response) -> None:
    assert judge(answer, 1) is Whole.WAIT


@pytest.mark.parametrize(
    "kind", ["application/problem+json; charset=utf-8", "APPLICATION/Problem+JSON"]
)
def test_the_media_type_is_read_as_http_says(kind: str) -> None:
    answer = Response(409, {"content-type": kind}, b'{"reason": "digest"}')
    assert judge(answer, 1) == [Outcome("refused_digest", leaves=True)]


def test_a_failure_in_the_middle_of_splitting_loses_nothing(tmp_path: Path) -> None:
    script = Script([status(413), accept, status(503)])
    client = filled(tmp_path, script)
    assert not client.flush()
    assert [len(batch) for batch in script.batches] == [10, 5, 5]
    assert len(client.pending()) == 5
    assert client.flush()
    assert count(client, "uploaded") == 10


@pytest.mark.parametrize("reason", Reason)
def test_only_a_final_reason_in_an_acknowledgement_drops(tmp_path: Path, reason: Reason) -> None:
    def complain(reports: list[Report]) -> Response:
        refused = [{"index": 4, "reason": reason.value}, {"index": 0, "reason": reason.value}]
        return Response(200, {}, acknowledge(reports, refused))

    script = Script([complain])
    client = filled(tmp_path, script)
    assert client.flush() is reason.final
    refused = sorted(script.batches[0][index].epoch for index in (0, 4))
    word = "refused" if reason.final else "waiting"
    assert client.counters()["q0", f"{word}_{reason}"] == 2
    assert count(client, "uploaded") == 8
    left = sorted(report.epoch for report in client.pending())
    assert left == ([] if reason.final else refused)
    if not reason.final:  # the next try is the same bytes
        assert client.flush()
        assert {r.id: r for r in script.batches[0]}.items() >= {
            (r.id, r) for r in script.batches[1]
        }
        assert client.pending() == []


def test_what_is_final_is_a_short_list() -> None:
    assert {reason.value for reason in Reason if reason.final} == {
        "schema",
        "record",
        "digest",
        "expired",
        "too_late",
        "oversize",
    }


@pytest.mark.parametrize(
    "problems",
    [
        [{"index": 10, "reason": "digest"}],
        [{"index": -1, "reason": "digest"}],
        [{"index": True, "reason": "digest"}],
        [{"index": "0", "reason": "digest"}],
        [{"reason": "digest"}],
        ["digest"],
        [{"index": 0, "reason": "digest"}, {"index": 0, "reason": "record"}],
        {"0": "digest"},
    ],
)
def test_problems_that_cannot_be_placed_drop_nothing(tmp_path: Path, problems) -> None:
    client = filled(
        tmp_path, Script([lambda reports: Response(200, {}, acknowledge(reports, problems))])
    )
    assert not client.flush()
    assert len(client.pending()) == 10
    assert client.counters() == {("", "bad_response"): 1}
    assert client.flush()


@pytest.mark.parametrize("said", ["invented by the server", None, 7, ["digest"]])
def test_a_reason_that_nobody_knows_waits(tmp_path: Path, said: object) -> None:
    def complain(reports: list[Report]) -> Response:
        return Response(200, {}, acknowledge(reports, [{"index": 0, "reason": said}]))

    script = Script([complain])
    client = filled(tmp_path, script)
    assert not client.flush()
    assert client.counters()[script.reports[0].question, "waiting_other"] == 1
    assert len(client.pending()) == 1
    assert client.flush()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>please log in</html>",
        b"[]",
        b"{}",
        b'{"accepted": -1}',
        b'{"accepted": 10}',
        b'{"accepted": 10, "duplicates": 0}',
        b'{"accepted": 9, "duplicates": 0, "problems": []}',
        b'{"accepted": 10, "duplicates": 1, "problems": []}',
        b'{"accepted": true, "duplicates": 9, "problems": []}',
        b'{"accepted": 10.0, "duplicates": 0, "problems": []}',
        b"\xff",
        b"[" * 10**5,
    ],
)
def test_an_answer_that_is_no_acknowledgement_is_tried_again(tmp_path: Path, body: bytes) -> None:
    client = filled(tmp_path, Script([lambda _: Response(200, {}, body)]))
    assert not client.flush()
    assert len(client.pending()) == 10
    assert client.counters() == {("", "bad_response"): 1}
    assert client.flush()


@given(st.binary(max_size=200), st.integers(100, 599), st.sampled_from(["", PROBLEM_MEDIA_TYPE]))
def test_no_answer_breaks_the_reader(body: bytes, code: int, kind: str) -> None:
    for reports in (1, 2):
        verdict = judge(Response(code, {"content-type": kind}, body), reports)
        assert isinstance(verdict, Whole) or not any(outcome.leaves for outcome in verdict)


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
    client = filled(tmp_path, script, clock)
    assert not client.flush()
    with client._device.database.transaction() as connection:
        connection.execute("UPDATE outbox SET not_before = 0")
    clock.forward(days=-365)
    assert client.flush()


def test_the_thread_waits_between_tries_and_flush_does_not(tmp_path: Path) -> None:
    script = Script([status(503)] * 3)
    never = {"retry_base_seconds": 1e9, "retry_cap_seconds": 1e9}
    limits = Limits(delay_seconds=0, cycle_seconds=0.01, **never)
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
    with collector(503) as served:
        client = strict(
            survey(strings()), tmp_path, endpoint=served.url, write_key="the key", clock=Clock()
        )
        client.record("page", "https://example.org/")
        (waiting,) = client.pending()
        assert not client.flush()
        client.close()  # tries only what is due
        again = strict(survey(strings()), tmp_path, endpoint=served.url + "/", write_key="the key")
        assert again.flush()
        again.close()
    assert len(served.bodies) == 2
    assert len(set(served.bodies)) == 1
    assert reports_of(served.bodies[0]) == [waiting]
    headers = {name.lower(): value for name, value in served.headers[0].items()}
    assert headers.pop("host").startswith("127.0.0.1:")
    assert headers.pop("content-length") == str(len(served.bodies[0]))
    assert headers == {
        "user-agent": "deniable-client/1",
        "content-type": "application/vnd.deniable.reports",
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

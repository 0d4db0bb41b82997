"""Due times: drawn for each report, kept on the disk, one question per request and connection."""

from __future__ import annotations

import math
import socket
import ssl
import threading
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from deniable.client import Client, Consent, HttpTransport, Limits, Request, Response
from deniable.client.outbox import draw_delay
from deniable.client.randomness import SystemDraws
from deniable.errors import InvalidParameter
from deniable.protocol import Report, Survey
from deniable.protocol.compact import MAGIC
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.segments import Segment
from deniable.testing.statistics import accept as accept_statistic
from deniable.testing.statistics import goodness_of_fit, reject
from material.clients import (
    KNOWN,
    START,
    Clock,
    Script,
    accept,
    collector,
    question,
    status,
    strict,
    survey,
)

NAMES = [f"q{i}" for i in range(20)]
ASKED = survey(*(question(name) for name in NAMES))
CERTIFICATE = Path(__file__).with_name("localhost.pem")


def dues(client: Client) -> dict[str, int | None]:
    with client._device.database.reading() as connection:
        assert connection is not None
        return dict(connection.execute("SELECT question, due FROM outbox").fetchall())


def recorded(directory: Path, script: Script, clock: Clock, **more: object) -> Client:
    client = strict(ASKED, directory, transport=script, clock=clock, **more)
    for name in NAMES:
        client.record(name, True)
    return client


def cycles(client: Client) -> None:
    for _ in range(100):
        if client._device.cycle() > 0:
            return


@pytest.mark.parametrize("mean", [0, 1, 60, 600, 3_600])
def test_the_draw_is_the_one_that_is_stated(mean: int) -> None:
    """Exactly, by integers: the coins end it with probability threshold / 2^64 at each step."""
    step = max(1, mean // 60)
    threshold = 2**64 * 2 * step // (2 * mean + step + 1)
    ends = threshold / 2**64
    assert step * (1 - ends) / ends + (step - 1) / 2 == pytest.approx(mean, abs=1e-9)

    class Coins:
        """Fails three coins, and gives the last second of the step."""

        def __init__(self) -> None:
            self.asked: list[int] = []

        def coin(self, asked: int) -> bool:
            self.asked.append(asked)
            return len(self.asked) > 3

        def below(self, bound: int) -> int:
            return bound - 1

    coins = Coins()
    assert draw_delay(mean, coins) == 3 * step + step - 1  # type: ignore[arg-type]
    assert set(coins.asked) == {threshold}


def test_delays_are_geometric_with_a_mean_of_a_minute() -> None:
    draws, cells = SystemDraws(), 40
    counts = Counter(min(draw_delay(60, draws) // 6, cells - 1) for _ in range(4_000))
    observed = [counts[cell] for cell in range(cells)]

    def law(mean: int) -> list[float]:
        stays = (mean / (mean + 1)) ** 6
        inner = [stays**cell * (1 - stays) for cell in range(cells - 1)]
        return [*inner, 1 - math.fsum(inner)]

    accept_statistic(goodness_of_fit(observed, law(60)), alpha=1e-10)
    # Against a mean of 40 the noncentrality is 4,000 (1/3), 17 standard deviations beyond.
    reject(goodness_of_fit(observed, law(40)), alpha=1e-10, miss=1e-10)


def test_each_report_has_a_due_time_of_its_own(tmp_path: Path) -> None:
    client = recorded(tmp_path, Script(), Clock(START + timedelta(microseconds=345_678)))
    drawn = [due for due in dues(client).values() if due is not None]
    assert len(drawn) == 20
    # Whole seconds: what was recorded together shares no fraction of one.
    assert all(isinstance(due, int) and due >= int(START.timestamp()) for due in drawn)
    assert len(set(drawn)) > 3  # 20 draws among 3 seconds: below 1e-20


def test_what_is_due_leaves_and_nothing_else(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    client = recorded(tmp_path, script, clock)
    when = {name: due or 0 for name, due in dues(client).items()}
    for second in sorted(set(when.values())):
        clock.moment = START + timedelta(seconds=second - START.timestamp())
        cycles(client)
        assert {r.question for r in script.reports} == {
            n for n, due in when.items() if due <= second
        }
    assert client.pending() == []


def test_due_times_survive_a_restart_and_closing_sends_only_what_is_due(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    client = recorded(tmp_path, script, clock)
    when = dues(client)
    clock.forward(seconds=30)
    now = clock.moment.timestamp()
    due = {name for name, second in when.items() if second is not None and second <= now}
    client.close()
    assert {report.question for report in script.reports} == due
    again = strict(ASKED, tmp_path, transport=script, clock=clock)
    assert dues(again) == {name: second for name, second in when.items() if name not in due}
    cycles(again)  # a start
    again.close()
    assert {report.question for report in script.reports} == due
    last = strict(ASKED, tmp_path, transport=script, clock=clock)
    assert last.flush()  # the app's word
    assert {report.question for report in script.reports} == set(NAMES)


def test_the_thread_sends_when_a_report_is_due(tmp_path: Path) -> None:
    script, arrived = Script(), threading.Event()

    def take(reports: list[Report]) -> Response:
        arrived.set()
        return accept(reports)

    script.answers.append(take)
    limits = Limits(delay_seconds=1, cycle_seconds=3_600)
    with Client(
        survey(question("q0")), tmp_path, transport=script, consent=Consent.GRANTED, limits=limits
    ) as client:
        client.record("q0", True)
        assert arrived.wait(60)  # by its due time: the next look would be in an hour


def test_one_question_per_request(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    client = strict(ASKED, tmp_path, transport=script, clock=clock)
    for _ in range(3):
        for name in NAMES:
            client.record(name, True)
        clock.forward(days=1)
    assert client.flush()
    assert len(script.batches) == 20
    assert all(len({report.question for report in batch}) == 1 for batch in script.batches)
    assert all(len(batch) == 3 for batch in script.batches)


def test_two_versions_of_a_question_are_two_requests(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    strict(survey(question("q")), tmp_path, clock=clock).record("q", True)
    client = strict(survey(question("q", version=2)), tmp_path, clock=clock, transport=script)
    client.record("q", True)
    assert client.flush()
    assert sorted(report.version for (report,) in script.batches) == [1, 2]


def test_always_draws_its_due_time_when_its_epoch_is_over(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    asked = survey(question("q", send="always"), question("other", send="always"))
    client = strict(asked, tmp_path, transport=script, clock=clock)
    client.record("q", True)
    assert client.flush()  # it is held, also against the app's word
    assert dues(client) == {"q": None}
    clock.forward(days=1)
    midday = int(clock.moment.timestamp())
    cycles(client)
    drawn = {**dues(client), **{report.question: midday for report in script.reports}}
    assert drawn.keys() == {"q", "other"}  # the absent answer waits in the same way
    assert all(due is not None and due >= midday for due in drawn.values())
    clock.forward(hours=2)  # e^-120 remains
    cycles(client)
    assert {report.question for report in script.reports} == {"q", "other"}


def test_a_due_time_of_a_clock_that_was_ahead_does_not_count(tmp_path: Path) -> None:
    clock, script = Clock(), Script()
    client = strict(survey(question("q", epoch=366)), tmp_path, transport=script, clock=clock)
    clock.forward(days=30)
    client.record("q", True)
    clock.forward(days=-30)
    cycles(client)
    assert len(script.reports) == 1


@pytest.mark.parametrize("seconds", [-1, 3_601, 0.5, "60", None, True])
def test_the_mean_is_a_whole_number_of_seconds(seconds: object) -> None:
    with pytest.raises(InvalidParameter, match="'delay_seconds'"):
        Limits(delay_seconds=seconds)  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [400, 415])
def test_a_collector_that_does_not_know_the_compact_form_gets_json(
    tmp_path: Path, code: int
) -> None:
    clock, script = Clock(), Script([status(code)])
    client = recorded(tmp_path, script, clock)
    assert client.flush()
    assert client.pending() == []
    assert sum(n for (_, why), n in client.counters().items() if why == "uploaded") == 20
    first, second, *others = script.requests
    assert (first.headers["Content-Type"], (first.body or b"")[:4]) == (COMPACT, MAGIC)
    assert (second.headers["Content-Type"], (second.body or b"")[:1]) == ("application/json", b"{")
    assert script.batches[0] == script.batches[1]  # the same reports, bit for bit
    # The next ones are as any device's: a server cannot mark one by a single 415.
    assert {request.headers["Content-Type"] for request in others} == {COMPACT}


@pytest.mark.parametrize("reason", ["schema", "record", "digest"])
def test_a_final_reason_under_400_drops_nothing_before_json_was_tried(
    tmp_path: Path, reason: str
) -> None:
    kind = {"content-type": "application/problem+json"}
    word = Response(400, kind, f'{{"reason": "{reason}"}}'.encode())
    script = Script([lambda _: word, status(503)])
    client = strict(survey(question("q")), tmp_path, transport=script)
    client.record("q", True)
    assert not client.flush()
    assert len(client.pending()) == 1


@pytest.mark.parametrize("code", [401, 403, 404, 406, 500, 503])
def test_another_status_keeps_the_compact_form(tmp_path: Path, code: int) -> None:
    script = Script([status(code)])
    client = strict(survey(question("q")), tmp_path, transport=script)
    client.record("q", True)
    assert not client.flush()
    assert client.flush()
    assert [request.headers["Content-Type"] for request in script.requests] == [COMPACT] * 2


def test_every_request_has_a_connection_of_its_own(tmp_path: Path) -> None:
    with collector() as served:
        client = strict(ASKED, tmp_path, endpoint=served.url)
        for name in NAMES[:5]:
            client.record(name, True)
        assert client.flush()
    assert len(served.bodies) == 5
    assert {headers["Connection"] for headers in served.headers} == {"close"}


def test_no_tls_session_is_resumed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over both versions of TLS, with a server that would resume; the control does so."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        context.maximum_version = newest
        listener = socket.create_server(("127.0.0.1", 0))
        resumed: list[bool | None] = []

        def serve(
            context: ssl.SSLContext, listener: socket.socket, seen: list[bool | None]
        ) -> None:
            for _ in range(4):
                accepted, _ = listener.accept()
                with context.wrap_socket(accepted, server_side=True) as connection:
                    seen.append(connection.session_reused)
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        thread = threading.Thread(target=serve, args=(context, listener, resumed))
        thread.start()
        port = listener.getsockname()[1]
        transport = HttpTransport(f"https://localhost:{port}")
        for _ in range(2):
            assert transport.send(Request("GET", "/")).status == 200
        _resume_once(port)
        thread.join(30)
        listener.close()
        assert resumed == [False, False, False, True]


def _serve_four(
    context: ssl.SSLContext, listener: socket.socket, resumed: list[bool | None]
) -> None:
    for _ in range(4):
        accepted, _ = listener.accept()
        with context.wrap_socket(accepted, server_side=True) as connection:
            resumed.append(connection.session_reused)
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")


def _resume_once(port: int) -> None:
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    session = None
    for _ in range(2):
        with context.wrap_socket(
            socket.create_connection(("127.0.0.1", port)),
            server_hostname="localhost",
            session=session,
        ) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            connection.recv(65_536)
            session = connection.session


def test_segments_travel_as_numbers_and_as_names_where_they_have_none(tmp_path: Path) -> None:
    def asked(*values: str) -> Survey:
        return survey(replace(question("q"), segments=(Segment("platform", values),)))

    clock, script = Clock(), Script()
    wide = asked("linux", "mac")
    KNOWN[wide.questions[0].digest] = wide.questions[0]
    client = strict(wide, tmp_path, transport=script, clock=clock, segments={"platform": "mac"})
    client.record("q", True)
    assert client.flush()
    assert script.requests[-1].headers["Content-Type"] == COMPACT
    assert [report.segments for report in script.reports] == ['{"platform":"mac"}']
    clock.forward(days=1)
    client.record("q", True)
    # Another app's survey numbers other values: what waits has no number, and goes by its name.
    other = strict(asked("bsd"), tmp_path, transport=script, clock=clock)
    assert other.flush()
    assert script.requests[-1].headers["Content-Type"] == "application/json"
    assert script.reports[-1].segments == '{"platform":"mac"}'
    KNOWN[wide.questions[0].digest] = other.survey.questions[0]
    clock.forward(days=1)
    other.record("q", True)
    assert other.flush()  # and it knows the compact form still
    assert script.requests[-1].headers["Content-Type"] == COMPACT

"""The proxies of deploy/ hide senders: from the collector, and from their own logs."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector.keyring import utc_date
from deniable.collector.keys_file import Purpose, make_key
from material.collector_process import JSON, SURVEY, batch
from material.proxies import (
    DEPLOY,
    NAME,
    SENDER,
    Recorder,
    changed,
    free_port,
    front,
    make_certificate,
    nginx,
    relayed,
    running,
    send,
)
from material.served import Serving
from material.tools import tool

ALLOWED = {"host", "content-type", "content-length", "authorization", "origin"}
TALKATIVE = {
    "Content-Type": "application/json",
    "Authorization": "Bearer sesame",
    "Origin": "https://www.example.org",
    "User-Agent": "someone in particular",
    "Cookie": "id=7",
    "Referer": "https://www.example.org/private",
    "Accept-Language": "de-CH",
    "X-Forwarded-For": SENDER,
    "X-Real-IP": SENDER,
    "Forwarded": f"for={SENDER}",
    "Via": "1.1 home",
    "If-None-Match": '"known"',
    "X-Anything": "else",
    "Sec-CH-UA": "x",
    "DNT": "1",
}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.close()


def check_heard(recorder: Recorder, body: bytes) -> None:
    """Fail if the backend learned more than it may, or less than it needs."""
    ((address, said),) = recorder.heard
    head, _, rest = said.partition(b"\r\n\r\n")
    lines = [line.partition(b": ") for line in head.split(b"\r\n")[1:]]
    headers = {name.decode().lower(): value.decode() for name, _, value in lines}
    assert headers == {
        "host": NAME,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "authorization": "Bearer sesame",
        "origin": "https://www.example.org",
    }
    assert set(headers) == ALLOWED
    assert rest == body
    assert (address, SENDER.encode() in said) == ("127.0.0.1", False)
    recorder.heard.clear()


def check_silent(folder: Path, said: Path) -> None:
    """Fail if the proxy wrote down anything about anybody."""
    assert said.read_text() == ""
    kept = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    for path in kept:
        text = path.read_bytes()
        for trace in (SENDER.encode(), b"someone in particular", b"sesame", b"/v1/reports?"):
            assert trace not in text, path


def test_nginx_passes_five_headers_and_writes_nothing_down(
    tmp_path: Path, certificate: Path, recorder: Recorder
) -> None:
    folder = tmp_path / "nginx"
    with nginx(folder, "nginx.conf", front(recorder.port, certificate)) as (port, said):
        long = batch(range(1_000))
        for body in (b"{}", long):  # a long body goes to no temporary file either
            answer = send(port, certificate, "POST", "/v1/reports", body, TALKATIVE)
            assert (answer.status, answer.body) == (200, b"{}")
            check_heard(recorder, body)
        answer = send(port, certificate, "GET", "/v1/survey", None, {"Cookie": "id=7"})
        assert answer.status == 200
        ((_, said_by_get),) = recorder.heard
        assert [line.split(b":")[0] for line in said_by_get.split(b"\r\n")[1:-2]] == [b"Host"]
        # What goes wrong is not written down either: no backend, too much, nonsense.
        recorder.close()
        assert send(port, certificate, "POST", "/v1/reports?x", b"{}", TALKATIVE).status == 502
        huge = b"x" * (2**20 + 1)
        assert send(port, certificate, "POST", "/v1/reports?x", huge, TALKATIVE).status == 413
        with socket.create_connection(("127.0.0.1", port), 5, (SENDER, 0)) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nUser-Agent: someone in particular\r\n\r\n")
            raw.recv(1_000)
        check_silent(folder, said)


def test_nginx_limits_each_sender_and_names_none(
    tmp_path: Path, certificate: Path, recorder: Recorder
) -> None:
    slow = {"rate=20r/s": "rate=1r/m", "burst=100": "burst=5"}
    changes = {**front(recorder.port, certificate), **slow}
    folder = tmp_path / "nginx"
    with nginx(folder, "nginx.conf", changes) as (port, said):
        answers = [send(port, certificate, "GET", "/v1/survey", None, TALKATIVE) for _ in range(9)]
        assert [answer.status for answer in answers] == [200] * 6 + [429] * 3
        check_silent(folder, said)


@pytest.mark.parametrize("token", [False, True])
def test_behind_nginx_reports_are_taken_and_results_need_a_token(
    tmp_path: Path, certificate: Path, token: bool
) -> None:
    (tmp_path / "survey.json").write_bytes(SURVEY.published())
    keys = tmp_path / "keys.json"
    secret = make_key(keys, Purpose.ANALYST, "maria", today=utc_date())[1] if token else ""
    options = ["--behind-proxy", *(["--keys", keys] if token else [])]
    with (
        Serving(tmp_path, *options) as serving,
        nginx(tmp_path / "nginx", "nginx.conf", front(serving.port, certificate)) as (port, said),
    ):
        answer = send(port, certificate, "POST", "/v1/reports", batch(range(50)), JSON)
        assert json.loads(answer.body)["accepted"] == 50
        assert send(port, certificate, "GET", "/v1/survey").body == SURVEY.published()
        for path in ("/", "/questions/words", "/v1/counters", "/metrics", "/health"):
            closed = send(port, certificate, "GET", path, None, {"Authorization": "Bearer no"})
            assert closed.status == (401 if token else 403), path
        if token:
            shown = {"Authorization": f"Bearer {secret}"}
            assert send(port, certificate, "GET", "/", None, shown).status == 200
        page = {**JSON, "Origin": "https://www.example.org"}
        asked = send(port, certificate, "OPTIONS", "/v1/reports", None, page)
        assert asked.headers["access-control-allow-origin"] == "*"
        check_silent(tmp_path / "nginx", said)


def test_the_relay_passes_bytes_on_and_no_address(
    tmp_path: Path, certificate: Path, recorder: Recorder
) -> None:
    (tmp_path / "survey.json").write_bytes(SURVEY.published())
    folder = tmp_path / "relay"
    with nginx(folder, "relay.conf", relayed(recorder.port)) as (port, said):
        # The recorder stands where the collector's TLS would end: the relay adds nothing.
        assert send(port, None, "POST", "/v1/reports", b"{}").status == 200
        ((address, heard),) = recorder.heard
        assert address == "127.0.0.1"
        assert SENDER.encode() not in heard
        assert b"PROXY" not in heard
        recorder.close()
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            send(port, None, "GET", "/")
        check_silent(folder, said)
    with (
        Serving(tmp_path, "--behind-proxy") as serving,
        nginx(tmp_path / "nginx", "nginx.conf", front(serving.port, certificate)) as (tls, _),
        nginx(tmp_path / "second", "relay.conf", relayed(tls)) as (port, said),
    ):
        # TLS ends behind the relay: the certificate is the collector's.
        answer = send(port, certificate, "POST", "/v1/reports", batch(range(30)), JSON)
        assert json.loads(answer.body)["accepted"] == 30
        again = send(port, certificate, "POST", "/v1/reports", batch(range(30)), JSON)
        assert json.loads(again.body)["duplicates"] == 30
        assert send(port, certificate, "GET", "/").status == 403
        check_silent(tmp_path / "second", said)


def test_caddy_passes_five_headers_and_writes_nothing_down(
    tmp_path: Path, recorder: Recorder
) -> None:
    port = free_port()
    text = changed(
        DEPLOY / "Caddyfile",
        {
            f"{NAME} {{": f"http://{NAME}:{port} {{\n\tbind 127.0.0.1",
            "127.0.0.1:8000": f"127.0.0.1:{recorder.port}",
        },
    )
    (tmp_path / "Caddyfile").write_text(text)
    words = [tool("caddy"), "run", "--config", str(tmp_path / "Caddyfile")]
    with running(tmp_path, words, port) as said:
        began = said.read_text()
        assert send(port, None, "POST", "/v1/reports", b"{}", TALKATIVE).status == 200
        check_heard(recorder, b"{}")
        assert send(port, None, "GET", "/v1/survey", None, {"Cookie": "id=7"}).status == 200
        ((_, heard),) = recorder.heard
        assert [line.split(b":")[0] for line in heard.split(b"\r\n")[1:-2]] == [b"Host"]
        recorder.close()
        assert send(port, None, "POST", "/v1/reports?x", b"{}", TALKATIVE).status == 502
        after = said.read_text()
        assert after == began
        assert SENDER not in after

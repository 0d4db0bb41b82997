"""Real sockets: long heads, slow senders, huge bodies, and a polite end."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector import Settings
from deniable.collector.serve import address_of, listen
from deniable.errors import InvalidParameter
from deniable.store import STORE_FILE, SqliteStore
from material.collector_process import JSON, Running, batch

HEAD = b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("sockets")
    with Running(folder, head_seconds=1, body_seconds=1) as running:
        yield running


def exchange(collector: Running, *parts: bytes, pause: float = 0) -> bytes:
    """Send parts and return everything that comes back until the collector closes."""
    received = b""
    with socket.create_connection(("127.0.0.1", collector.port), timeout=15) as connection:
        try:
            for part in parts:
                connection.sendall(part)
                time.sleep(pause)
            while data := connection.recv(65_536):
                received += data
        except (ConnectionResetError, BrokenPipeError):
            pass
    return received


@pytest.mark.parametrize("line", [b"x-more: " + b"a" * 30_000 + b"\r\n", b"a" * 30_000])
def test_a_head_without_end_is_cut_off(collector: Running, line: bytes) -> None:
    received = exchange(collector, HEAD + b"x-first: ", *[line] * 3, pause=0.05)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert b'"reason":"http"' in received
    assert b"The head of the request is too large." in received
    assert b"content-security-policy: default-src 'none'" in received


@pytest.mark.parametrize(
    "parts", [(), (HEAD,), (b"P",)], ids=["nothing", "half a head", "a letter"]
)
def test_a_sender_that_never_finishes_its_head_is_let_go(
    collector: Running, parts: tuple[bytes, ...]
) -> None:
    start = time.monotonic()
    assert exchange(collector, *parts) == b""
    assert 0.5 < time.monotonic() - start < 10


def test_a_sender_that_never_finishes_its_body_is_told(collector: Running) -> None:
    received = exchange(collector, HEAD + b'content-length: 100\r\n\r\n{"repo')
    assert received.startswith(b"HTTP/1.1 408 ")
    assert b'"reason":"slow"' in received


def test_a_body_without_end_is_cut_off(collector: Running) -> None:
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    received = exchange(collector, HEAD + b"transfer-encoding: chunked\r\n\r\n", *[chunk] * 400)
    assert received == b"" or b'"reason":"oversize"' in received  # it may be reset while sending
    declared = exchange(collector, HEAD + b"content-length: 99999999999\r\n\r\n")
    assert declared.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in declared


def test_a_body_that_is_a_little_too_large_gets_its_answer(collector: Running) -> None:
    for size in (2**20 + 1, 2**21):
        status, problem = collector.post(b" " * size)
        assert (status, problem["reason"]) == (413, "oversize")


def test_a_sender_that_hangs_up_in_the_middle_disturbs_nobody(collector: Running) -> None:
    with socket.create_connection(("127.0.0.1", collector.port), timeout=10) as connection:
        connection.sendall(HEAD + b'content-length: 100\r\n\r\n{"repo')
    assert collector.get("/healthz") == (200, {"status": "ok"})


def test_a_connection_serves_many_requests(collector: Running) -> None:
    connection = collector.connect()
    sockets = set()
    for number in range(3):
        connection.request("POST", "/v1/reports", batch([number]), JSON)
        answer = connection.getresponse()
        assert answer.status == 200
        answer.read()
        sockets.add(connection.sock.getsockname())
    connection.close()
    assert len(sockets) == 1


def test_nothing_of_all_that_is_logged(collector: Running) -> None:
    collector.get("/healthz")
    assert (collector.folder / "output").read_text() == ""


def test_a_polite_end_answers_and_keeps_what_was_sent(tmp_path: Path) -> None:
    with Running(tmp_path, commit_window_ms=500) as collector:
        answers: list[tuple[int, object]] = []
        sender = threading.Thread(target=lambda: answers.append(collector.post(batch(range(7)))))
        sender.start()
        time.sleep(0.2)  # the reports wait for company when the end comes
        collector.terminate()
        sender.join(timeout=20)
    assert answers == [(200, {"accepted": 7, "duplicates": 0, "problems": []})]
    with SqliteStore(tmp_path / "data" / STORE_FILE) as store:
        assert [tally.reports for tally in store.tallies()] == [7]


def test_a_port_in_use_is_said_plainly(collector: Running, tmp_path: Path) -> None:
    settings = Settings(tmp_path, tmp_path, port=collector.port)
    with pytest.raises(InvalidParameter, match=r"cannot listen on 127\.0\.0\.1:.*another address"):
        listen(settings)


def test_an_address_is_shown_as_a_link(tmp_path: Path) -> None:
    with listen(Settings(tmp_path, tmp_path, host="127.0.0.1", port=0)) as listener:
        assert address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"

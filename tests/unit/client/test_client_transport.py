"""The way to the collector: which addresses, no redirects, bounded answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from deniable.client import HttpTransport, Request
from deniable.errors import InvalidParameter
from material.clients import collector

GET = Request("GET", "/v1/survey", largest_answer=1_000)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "telemetry.example.org",
        "ftp://example.org",
        "file:///etc/passwd",
        "https://",
        "https://example.org/?query=1",
        "https://example.org/#part",
        "https://user:word@example.org",
        "http://example.org",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://[::1",
        "https://example.org:port",
        7,
    ],
)
def test_addresses_that_are_refused(endpoint: str) -> None:
    with pytest.raises(InvalidParameter, match="'endpoint'"):
        HttpTransport(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://example.org",
        "https://example.org:8443/prefix/",
        "http://localhost:1",
        "http://127.0.0.1",
        "http://127.8.9.10:80",
        "http://[::1]:80",
    ],
)
def test_addresses_that_are_taken(endpoint: str) -> None:
    assert endpoint.rstrip("/") in repr(HttpTransport(endpoint))


def test_plain_http_elsewhere_only_if_asked_for() -> None:
    HttpTransport("http://collector.internal", allow_plain_http=True)


@contextmanager
def raw_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """Answer one connection by hand."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            with suppress(OSError):  # the client hangs up, as it should
                serve(connection)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join()
        listener.close()


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(code: int) -> None:
    with collector() as elsewhere, collector(code, Location=elsewhere.url + "/v1/reports") as here:
        answer = HttpTransport(here.url).send(Request("POST", "/v1/reports", {}, b"{}"))
        assert answer.status == code
        assert elsewhere.bodies == []


def test_cookies_are_not_kept() -> None:
    with collector(500, 500, Set_Cookie="who=you; Path=/") as served:
        transport = HttpTransport(served.url)
        for _ in range(2):
            transport.send(Request("POST", "/v1/reports", {}, b"{}"))
    assert len(served.headers) == 2
    assert not any(name.lower() == "cookie" for headers in served.headers for name in headers)


def test_header_names_are_in_lower_case() -> None:
    with collector(503, Retry_After="7") as served:
        answer = HttpTransport(served.url).send(Request("POST", "/", {}, b"{}"))
    assert answer.headers["retry-after"] == "7"


def test_a_proxy_does_not_see_what_stays_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody answers there
    with collector(404) as served:
        assert HttpTransport(served.url).send(Request("POST", "/", {}, b"{}")).status == 404


def test_an_endless_answer_is_cut_off() -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(100_000):
            connection.sendall(b"x" * 1_000)

    with raw_server(serve) as url, pytest.raises(OSError, match="too long"):
        HttpTransport(url).send(GET)


def test_an_answer_in_drops_is_cut_off() -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.05)

    started = time.monotonic()
    with raw_server(serve) as url, pytest.raises(OSError, match="too slow"):
        HttpTransport(url, timeout=0.3).send(GET)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_not_http_is_a_network_error(answer: bytes) -> None:
    with (
        raw_server(lambda connection: connection.sendall(answer)) as url,
        pytest.raises(OSError, match=r"not HTTP|closed|reset"),
    ):
        HttpTransport(url).send(GET)


def test_nobody_at_home_is_a_network_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        HttpTransport(f"http://127.0.0.1:{port}").send(GET)

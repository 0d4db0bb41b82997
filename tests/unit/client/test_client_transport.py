"""The way to the collector: which addresses, no redirects, bounded answers."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from deniable.client import HttpTransport, Request
from deniable.errors import InvalidParameter
from material.clients import collector

CERTIFICATE = Path(__file__).with_name("localhost.pem")
"""A key and a certificate for this machine's name that nobody vouches for, made for these tests."""
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
def raw_server(serve: Callable[[socket.socket, bytes], object], tls: bool = False) -> Iterator[str]:
    """Answer one connection by hand."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        connection, _ = listener.accept()
        with suppress(OSError):  # the client hangs up, as it should
            if tls:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(CERTIFICATE)
                connection = context.wrap_socket(connection, server_side=True)
            with connection:
                first = connection.recv(65_536)
                serve(connection, first)
        connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"http{'s' * tls}://127.0.0.1:{listener.getsockname()[1]}"
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
    def serve(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        for _ in range(100_000):
            connection.sendall(b"x" * 1_000)

    with raw_server(serve) as url, pytest.raises(OSError, match="too long"):
        HttpTransport(url).send(GET)


HEAD = b"HTTP/1.1 200 OK\r\nX-Long: "
DROPS = {
    "head": b"",
    "header": HEAD,
    "body": b"HTTP/1.1 200 OK\r\n\r\n",
    "chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3E8\r\n",
    "continue": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 ",
}


def dripping(first: bytes) -> Callable[[socket.socket, bytes], None]:
    """A server that sends a byte now and then: it would be done after a minute."""

    def serve(connection: socket.socket, _: bytes) -> None:
        connection.sendall(first)
        for byte in (HEAD + b"x" * 600)[len(first) if HEAD.startswith(first) else len(HEAD) :]:
            connection.sendall(bytes([byte]))
            time.sleep(0.1)

    return serve


@pytest.mark.parametrize("place", DROPS)
@pytest.mark.parametrize("tls", [False, True])
def test_an_answer_in_drops_is_cut_off(
    place: str, tls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    started = time.monotonic()
    with raw_server(dripping(DROPS[place]), tls) as url, pytest.raises(TimeoutError):
        HttpTransport(url, timeout=0.5).send(GET)
    assert time.monotonic() - started < 20


def test_a_handshake_that_never_comes_is_cut_off() -> None:
    started = time.monotonic()
    with raw_server(lambda *_: time.sleep(1)) as url, pytest.raises(TimeoutError):
        HttpTransport(url.replace("http:", "https:"), timeout=0.3).send(GET)
    assert time.monotonic() - started < 20


def test_a_body_that_nobody_reads_is_cut_off() -> None:
    gate = threading.Event()
    large = Request("POST", "/", {}, bytes(2**25))
    with raw_server(lambda *_: gate.wait(30)) as url:
        with pytest.raises(TimeoutError):
            HttpTransport(url, timeout=0.5).send(large)
        gate.set()


def test_an_answer_over_tls(monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with raw_server(serve, tls=True) as url:
        answer = HttpTransport(url, timeout=30).send(GET)
    assert (answer.status, answer.body) == (200, b"hello")


def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    with raw_server(lambda *_: None, tls=True) as url, pytest.raises(ssl.SSLError):
        HttpTransport(url, timeout=30).send(GET)


@pytest.mark.parametrize("user", ["", "me:w%20rd@"])
def test_an_https_endpoint_behind_a_proxy(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def serve(connection: socket.socket, first: bytes) -> None:
        asked.append(first)
        connection.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with raw_server(serve) as url:
        monkeypatch.setenv("https_proxy", url.replace("://", f"://{user}"))
        monkeypatch.setenv("no_proxy", "")
        with pytest.raises(OSError, match="proxy answered 407"):
            HttpTransport("https://example.org", timeout=30).send(GET)
    assert asked[0].startswith(b"CONNECT example.org:443 HTTP/1.1\r\n")
    assert (b"Proxy-Authorization: Basic bWU6dyByZA==" in asked[0]) is bool(user)
    assert b"/v1/survey" not in asked[0]


def test_a_plain_endpoint_behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector(503) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        transport = HttpTransport("http://collector.internal:81/a", allow_plain_http=True)
        assert transport.send(Request("POST", "/v1/reports", {}, b"{}")).status == 503
    assert proxy.headers[0]["Host"] == "collector.internal:81"
    assert proxy.paths == ["http://collector.internal:81/a/v1/reports"]


def test_a_tunnel_leads_to_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    def serve(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(65_536)
            secure.sendall(b"HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n")

    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with raw_server(serve) as url:
        monkeypatch.setenv("https_proxy", url)
        monkeypatch.setenv("no_proxy", "")
        # Not the name of this machine for the client, but the name in the certificate.
        monkeypatch.setattr("deniable.client.transport._is_loopback", lambda host: False)
        assert HttpTransport("https://localhost", timeout=30).send(GET).status == 418


@pytest.mark.parametrize("answer", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n"])
def test_what_is_not_http_is_a_network_error(answer: bytes) -> None:
    with (
        raw_server(lambda connection, _: connection.sendall(answer)) as url,
        pytest.raises(OSError, match=r"not HTTP|closed|reset"),
    ):
        HttpTransport(url).send(GET)


def test_nobody_at_home_is_a_network_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        HttpTransport(f"http://127.0.0.1:{port}").send(GET)

"""One HTTP exchange under one deadline: connecting, TLS, sending, the head and the body.

The standard library's time limits hold for each call of a socket: a server that sends a byte now
and then would hold the caller for as long as it likes. Here every call gets what is left of one.

Imported with the first upload: `ssl` and `urllib.request` take longer than the rest of the client.
"""

from __future__ import annotations

import base64
import io
import socket
import ssl
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from http.client import HTTPConnection, HTTPResponse
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PORTS = {"http": 80, "https": 443}


class Deadline:
    """A moment, by the clock that nobody turns, after which nothing is waited for."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            TimeoutError: if none are.
        """
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("The exchange took too long.")
        return seconds


class _Incoming(io.RawIOBase):
    """The receiving side of a socket, as a file that never waits beyond the deadline."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._connected = connected
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        self._connected.settimeout(self._deadline.left())
        return self._connected.recv_into(buffer)


class _Line:
    """A connected socket in the shape that `http.client` uses, under a deadline.

    It is closed by whoever opened it, not by `http.client`, which does so before the body is read.
    """

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._connected = connected
        self._deadline = deadline

    def sendall(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._connected.settimeout(self._deadline.left())
            rest = rest[self._connected.send(rest) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._connected, self._deadline))

    def close(self) -> None:
        pass


class Exchange:
    """The way to one endpoint.

    Args:
        endpoint: the collector's address.
        direct: never by the system's proxy, as for this machine.
    """

    def __init__(self, endpoint: str, direct: bool) -> None:
        self._parts = urlsplit(endpoint)
        self._direct = direct

    @contextmanager
    def open(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None, seconds: float
    ) -> Iterator[HTTPResponse]:
        """Send a request and yield the answer; its body is read under the same deadline.

        Edge cases: looking up a name is the system's affair and cannot be cut off; what it takes
        is not given to the rest.

        Raises:
            OSError: if nobody answers in time.
            HTTPException, ValueError: if what answers does not speak HTTP.
        """
        deadline = Deadline(seconds)
        parts, proxy = self._parts, self._proxy()
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        headers = {"Host": parts.netloc, "Connection": "close", **headers}
        target = f"{parts.path}{path}"
        with ExitStack() as opened:
            if proxy is None:
                connected = opened.enter_context(_reach(host, port, deadline))
            else:
                connected = opened.enter_context(
                    _reach(proxy.hostname or "", proxy.port or _PORTS["http"], deadline)
                )
                if parts.scheme == "https":
                    _tunnel(connected, host, port, proxy, deadline)
                else:
                    target = f"http://{parts.netloc}{target}"
                    headers |= _proxy_authorization(proxy)
            if parts.scheme == "https":
                connected.settimeout(deadline.left())  # the whole handshake has one limit
                connected = opened.enter_context(
                    self._tls.wrap_socket(connected, server_hostname=host)
                )
            yield _asked(connected, deadline, method, target, headers, body)

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        # A ticket that comes back links two connections. None is asked for, and none is ever given
        # to `wrap_socket`, which alone would resume a session.
        context.options |= ssl.OP_NO_TICKET
        return context

    def _proxy(self) -> SplitResult | None:
        """Return the system's proxy for the endpoint, asked each time: networks change."""
        if self._direct or urllib.request.proxy_bypass(self._parts.netloc):
            return None
        address = urllib.request.getproxies().get(self._parts.scheme)
        if not address:
            return None
        return urlsplit(address if "://" in address else f"http://{address}")


def _reach(host: str, port: int, deadline: Deadline) -> socket.socket:
    """Connect to the first of a name's addresses that answers.

    Each gets its share of the time, so that one that is silent leaves some to the next.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    failure: OSError = OSError("The name has no address.")
    for tried, (family, kind, protocol, _, address) in enumerate(found):
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(deadline.left() / (len(found) - tried))
            connected.connect(address)
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connected.close()
            failure = error
        else:
            return connected
    raise failure


def _tunnel(
    connected: socket.socket, host: str, port: int, proxy: SplitResult, deadline: Deadline
) -> None:
    """Ask a proxy for a way through to the endpoint."""
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    headers = {"Host": place, **_proxy_authorization(proxy)}
    answer = _asked(connected, deadline, "CONNECT", place, headers)
    if answer.status != 200:
        raise OSError(f"The proxy answered {answer.status}.")


def _asked(
    connected: socket.socket,
    deadline: Deadline,
    method: str,
    target: str,
    headers: dict[str, str],
    body: bytes | None = None,
) -> HTTPResponse:
    """Send a request over a connected socket and return the answer, its head read."""
    connection = HTTPConnection("unused")  # it is connected, and the Host header is ours
    connection.sock = _Line(connected, deadline)
    connection.request(method, target, body, headers)
    return connection.getresponse()


def _proxy_authorization(proxy: SplitResult) -> dict[str, str]:
    if proxy.username is None:
        return {}
    words = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(words.encode()).decode()}"}

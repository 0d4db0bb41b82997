"""One collector twice: with plain requests answered by the HTTP server, and without.

Everything else is the same, so that a difference between the two is one of the plain path.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from deniable.collector import create_app
from deniable.collector.http_limits import LimitedHttp
from deniable.collector.plain import PlainReports
from deniable.collector.serve import listen, server_for
from deniable.collector.surveys import Surveys
from deniable.store import SqliteStore, Store
from material.collector import SURVEY, TODAY, settings

_DATE = re.compile(rb"date: [^\r]*\r\n")
_LENGTH = re.compile(rb"content-length: ([0-9]+)\r\n")
PATIENCE = 30.0


class Served:
    """A collector in a thread, on a port of 127.0.0.1."""

    def __init__(self, folder: Path, store: Store, *, plain: bool, **options: Any) -> None:
        self.store = store
        chosen = settings(folder, port=0, **options)
        app = create_app(chosen, store, SURVEY.published(), today=lambda: TODAY)
        if chosen.name:
            app = Surveys(chosen, [app]).app
        started = threading.Event()
        self._server = server_for(app, started.set)
        if not plain:
            self._server.config.http = LimitedHttp
        listener = listen(chosen)
        self.port = int(listener.getsockname()[1])
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        assert started.wait(PATIENCE)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def talk(self, *parts: bytes) -> bytes:
        """Send a request in parts, and return its answer; then whether more are answered."""
        with self.connect() as link:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with suppress(BrokenPipeError, ConnectionResetError):
                for part in parts:
                    link.sendall(part)
            first, second = read_answer(link), b""
            with suppress(BrokenPipeError, ConnectionResetError):
                link.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
                second = read_answer(link)
            return first + b"|" + second


def read_answer(link: socket.socket) -> bytes:
    """Return one answer without its date; empty if the connection ends before."""
    got = b""
    while b"\r\n\r\n" not in got:
        more = link.recv(65_536)
        if not more:
            return got
        got += more
    head, _, rest = got.partition(b"\r\n\r\n")
    found = _LENGTH.search(head + b"\r\n")
    length = int(found[1]) if found else 0
    while len(rest) < length:
        more = link.recv(65_536)
        assert more, "the body is cut"
        rest += more
    assert len(rest) == length, "more than one answer"
    return _DATE.sub(b"", head + b"\r\n\r\n") + rest


@contextmanager
def both(folder: Path, make_store: Any = SqliteStore, **options: Any) -> Iterator[list[Served]]:
    """Serve with plain requests and without, each with a store of its own."""
    with ExitStack() as stack:
        served = []
        for name, plain in (("plain", True), ("app", False)):
            (folder / name).mkdir()
            store = stack.enter_context(make_store(folder / name / "reports.sqlite3"))
            served.append(Served(folder / name, store, plain=plain, **options))
            stack.callback(served[-1].stop)
        yield served


@contextmanager
def counted() -> Iterator[list[bytes]]:
    """Collect the bodies that are taken as plain ones."""
    taken: list[bytes] = []
    take = PlainReports.take

    def note(self: PlainReports, plain: Any, body: bytes, sender: Any) -> None:
        taken.append(body)
        take(self, plain, body, sender)

    PlainReports.take = note  # type: ignore[method-assign]
    try:
        yield taken
    finally:
        PlainReports.take = take  # type: ignore[method-assign]


def request(
    body: bytes = b"",
    *headers: str,
    method: str = "POST",
    path: str = "/v1/reports",
    version: str = "1.1",
    host: Iterable[str] = ("localhost",),
    length: str | None = "",
    kind: str | None = "application/json",
) -> bytes:
    """Return a request; `length` is the body's unless another is told, None for none."""
    lines = [f"{method} {path} HTTP/{version}", *(f"host: {name}" for name in host)]
    lines += [f"content-type: {kind}"] if kind is not None else []
    lines += [f"content-length: {length or len(body)}"] if length is not None else []
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def chunked(body: bytes, *headers: str, trailer: bytes = b"") -> bytes:
    """Return a request with a chunked body."""
    head = request(b"", "transfer-encoding: chunked", *headers, length=None)
    return head + b"%x\r\n%b\r\n0\r\n%b\r\n" % (len(body), body, trailer)

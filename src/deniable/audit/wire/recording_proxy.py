"""A real collector on this machine, and a proxy before it that records every request."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from deniable.audit.wire.captured_requests import Exchange
from deniable.collector import Settings, create_app
from deniable.collector.serve import address_of, listen, server_for
from deniable.errors import DeniableError
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number
from deniable.store import Store, open_store

SECONDS = 20.0
"""The longest wait for a server to start, or for a socket."""


@dataclass
class Tape:
    """A proxy's recording, and the fates of the next requests; answered when they run out."""

    sender: str = ""
    fates: list[str] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)


@contextmanager
def running_collector(
    survey: Survey, directory: Path, today: Callable[[], int] = day_number
) -> Iterator[tuple[str, Store]]:
    """Run a collector in a thread of this process; yield its address and its store.

    Raises:
        DeniableError: if it does not start.
    """
    settings = Settings(data=directory, survey_path=directory / "survey.json", port=0)
    started = threading.Event()
    with open_store(directory) as store, listen(settings) as listener:
        app = create_app(settings, store, survey.published(), today=today)
        server = server_for(app, started.set)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            if not started.wait(SECONDS):
                raise DeniableError("The collector under audit did not start.")
            yield address_of(listener), store
        finally:
            server.should_exit = True
            thread.join(SECONDS)


@contextmanager
def recording_proxy(collector: str, tape: Tape) -> Iterator[str]:
    """Stand between clients and a collector, keep every request, and yield the address to use."""
    host, _, port = collector.removeprefix("http://").partition(":")

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(SECONDS)
            head, body = _read_request(self.request)
            if not head:
                return
            fate = tape.fates.pop(0) if tape.fates else "answered"
            tape.exchanges.append(Exchange(head, body, tape.sender, fate))
            if fate == "dropped":
                return
            answer = _forward((host, int(port)), head + b"\r\n\r\n" + body)
            if fate == "answered":
                self.request.sendall(answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(SECONDS)


def _read_request(connection: socket.socket) -> tuple[bytes, bytes]:
    """Return head and body of one request; empty if the client has gone."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65_536)
        if not part:
            return b"", b""
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    while len(body) < length and (part := connection.recv(65_536)):
        body += part
    return head, body


def _forward(address: tuple[str, int], request: bytes) -> bytes:
    """Return the whole answer of the collector; clients ask it to close the connection."""
    with socket.create_connection(address, SECONDS) as connection:
        connection.sendall(request)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
        return b"".join(parts)

"""A second port, on loopback only, that serves the metrics to programs of this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

from deniable.collector.auth import is_local_name
from deniable.collector.metrics_page import MEDIA_TYPE
from deniable.errors import InvalidParameter

HOST = "127.0.0.1"
_AT_ONCE = 8
_SECONDS = 10.0
_MAX_HEAD_BYTES = 16 * 2**10

Text = Callable[[], Awaitable[bytes]]


def listen_for_metrics(port: int) -> socket.socket:
    """Return a socket of this machine's own address.

    Raises:
        InvalidParameter: if the port cannot be listened on.
    """
    try:
        return socket.create_server((HOST, port), backlog=_AT_ONCE)
    except OSError as error:
        raise InvalidParameter(
            f"Metrics cannot be served on {HOST}:{port}: {error.strerror}.", "Choose another port."
        ) from error


async def serve_metrics(listener: socket.socket, text: Text) -> None:
    """Answer GET /metrics, one request per connection, until cancelled."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS), room:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await _answer(head, text))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked has gone, or does not ask for metrics
        finally:
            writer.close()

    server = await asyncio.start_server(answer, sock=listener, limit=_MAX_HEAD_BYTES)
    async with server:
        await server.serve_forever()


async def _answer(head: bytes, text: Text) -> bytes:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    path = rest.partition(" ")[0].partition("?")[0]
    hosts = [line[5:].strip() for line in lines if line.lower().startswith("host:")]
    if len(hosts) != 1 or not is_local_name(hosts[0]):  # a web page under a name of its own
        return _written("421 Misdirected Request", b"This is 127.0.0.1.\n")
    if (method, path) != ("GET", "/metrics"):
        return _written("404 Not Found", b"There is GET /metrics.\n")
    return _written("200 OK", await text())


def _written(status: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n"
        "x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body

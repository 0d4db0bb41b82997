"""The load of a collector and its bounds: connections, requests by kind, bytes of bodies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from deniable.collector.bodies import LARGE_ROOM, SMALL_BODY
from deniable.collector.connections import Connections
from deniable.collector.headers import OPEN_PATHS, inner_path
from deniable.collector.health import HEALTH, READINESS, Health
from deniable.collector.lanes import Lane
from deniable.collector.memory import give_back
from deniable.collector.plain import PlainReports
from deniable.collector.refusals import Refusals

CHEAP_AT_ONCE = 8
READING_AT_ONCE = 8
"""Pages at once. They run in a few threads; the others are ready for the next free one."""

READING_PATIENCE = 10.0
"""A page takes seconds, and a person waits for it."""

LARGE_BODIES = 64 * 2**20
"""The most bytes of larger bodies that are held at once, read or not."""

LARGE_AT_ONCE = LARGE_ROOM // SMALL_BODY + 4
"""More large bodies at once than `Bodies` has room for, so that somebody waits for slow ones."""

MANY_BYTES = 16 * 2**20
RETURN_SECONDS = 10.0

REPORTS = "/v1/reports"
_CHEAP = frozenset({HEALTH, READINESS, "/openapi.json", "/v1/survey"})


@dataclass
class Load:
    """The connections, requests and bytes in flight. The event loop is its only thread.

    Questions about health are answered without the application, where `health` is there to do so.
    Reports in small bodies have no lane: each is bounded by its bytes, by the turn in which batches
    are parsed, and by the queue before the store (`Bodies`, `Turn`, `GroupCommit`). So are those in
    large bodies; their lane lets hundreds wait, and be refused, without the application's work.

    Attributes:
        refusals: where refusals are counted.
        body_seconds: the time within which a body must have arrived.
        web_pages: whether web pages may read the answers on open paths.
        health: what answers about health; None leaves that to the application.
        plain: what answers plain requests with reports, by their target.
    """

    refusals: Refusals = field(default_factory=Refusals)
    body_seconds: float = 30.0
    web_pages: bool = False
    health: Health | None = None
    plain: Mapping[bytes, PlainReports] = field(default_factory=dict)
    connections: Connections = field(default_factory=Connections)
    cheap: Lane = field(default_factory=lambda: Lane(CHEAP_AT_ONCE))
    large: Lane = field(default_factory=lambda: Lane(LARGE_AT_ONCE))
    reading: Lane = field(default_factory=lambda: Lane(READING_AT_ONCE, READING_PATIENCE))
    held: int = 0
    _returning: bool = False
    _written: tuple[Sequence[tuple[bytes, bytes]], bytes] = ((), b"")

    def lines(self, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
        """Return the server's own headers as they are written, once for each list of them.

        The server makes a new list every second, of the date.
        """
        of, written = self._written
        if of is not headers:
            written = b"".join([name + b": " + value + b"\r\n" for name, value in headers])
            self._written = headers, written
        return written

    def lane(self, path: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> Lane | None:
        """Return the lane of a request; None for reports in a small body."""
        path = inner_path(path)
        if path == REPORTS:
            return self.large if _is_large(headers) else None
        return self.cheap if path in _CHEAP else self.reading

    def open_to_pages(self, path: str) -> bool:
        """Tell whether a web page of any origin may read an answer on this path."""
        return self.web_pages and inner_path(path) in OPEN_PATHS

    @property
    def stopping(self) -> bool:
        """True if the collector is about to end: each answer is its connection's last."""
        return self.health is not None and self.health.stopping

    def hold(self, size: int) -> bool:
        """Count bytes of a large body (fewer, when it is done with); False if there are too many.

        After many were held, memory goes back to the system some seconds later.
        """
        self.held += size
        if self.held > MANY_BYTES and not self._returning:
            self._returning = True
            asyncio.get_running_loop().call_later(RETURN_SECONDS, self._give_back)
        return self.held <= LARGE_BODIES

    def _give_back(self) -> None:
        give_back()
        self._returning = self.held > MANY_BYTES
        if self._returning:
            asyncio.get_running_loop().call_later(RETURN_SECONDS, self._give_back)


def _is_large(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether a body may be larger than a small one; a chunked one may."""
    for name, value in headers:
        if name == b"content-length":
            return not value.isdigit() or int(value[:12]) > SMALL_BODY
        if name == b"transfer-encoding":
            return True
    return False

"""Room for connections: when there are too many, those that wait for their sender must go."""

from __future__ import annotations

from typing import Protocol

from deniable.collector.descriptors import descriptors

MAX_CONNECTIONS = 900
SPARE_CONNECTIONS = 2_000
"""Connections beyond the maximum that are answered about health only."""
_OTHER_DESCRIPTORS = 74
"""Descriptors for files, threads, and connections that are about to go."""


def spare_connections() -> int:
    """Return how many connections beyond the maximum the process has descriptors for."""
    left = descriptors() - MAX_CONNECTIONS - _OTHER_DESCRIPTORS
    return max(0, min(SPARE_CONNECTIONS, left))


class Connection(Protocol):
    """A connection that can be asked to go."""

    def give_way(self) -> None:
        """Close now; tell the sender if it had begun a request."""


class Connections:
    """All open connections, and the order in which those that wait for their sender must go.

    A connection waits for its sender from its last answer (or its beginning) until a whole request
    is there; trickling bytes do not make it younger. The one that has waited longest goes first.
    Connections that ask about health take no room from the others, and have room where these have
    none.
    """

    def __init__(self, most: int = MAX_CONNECTIONS, spare: int | None = None) -> None:
        self._most = most
        self._spare = spare_connections() if spare is None else spare
        self._open: set[Connection] = set()
        self._idle: dict[Connection, None] = {}
        self._asking: set[Connection] = set()

    def __len__(self) -> int:
        return len(self._open)

    @property
    def crowded(self) -> bool:
        """True if further connections get answers about health only."""
        return len(self._open) - len(self._asking) > self._most

    @property
    def _full(self) -> bool:
        return len(self._open) > self._most + self._spare

    def arrive(self, connection: Connection) -> bool:
        """Make room for a new connection; False if there is none, and it must go itself."""
        self._open.add(connection)
        self._make_room()
        if self._full:
            self.leave(connection)
            return False
        self._idle[connection] = None
        return True

    def idle(self, connection: Connection) -> None:
        """Note that the connection waits for its sender from now on."""
        if connection in self._open:
            self._idle.pop(connection, None)
            self._idle[connection] = None
            if len(self._open) > self._most:
                self._make_room()

    def busy(self, connection: Connection) -> None:
        """Note that a whole request is there: the connection waits for us."""
        self._idle.pop(connection, None)

    def asking(self, connection: Connection) -> None:
        """Note that the connection waits for an answer about health."""
        if connection in self._open:
            self._asking.add(connection)

    def told(self, connection: Connection) -> None:
        """Note that the answer about health is there."""
        self._asking.discard(connection)

    def _make_room(self) -> None:
        while self._idle and (self.crowded or self._full):
            oldest = next(iter(self._idle))
            self.leave(oldest)
            oldest.give_way()

    def leave(self, connection: Connection) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        self._idle.pop(connection, None)
        self._asking.discard(connection)

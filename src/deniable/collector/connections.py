"""Room for connections: when there are too many, those that wait for their sender must go."""

from __future__ import annotations

from typing import Protocol

MAX_CONNECTIONS = 900
SPARE_CONNECTIONS = 50
"""Connections beyond the maximum that are answered about the process's health only.

Together with files and threads they stay below the 1,024 descriptors of an ordinary process.
"""


class Connection(Protocol):
    """A connection that can be asked to go."""

    def give_way(self) -> None:
        """Close now; tell the sender if it had begun a request."""


class Connections:
    """All open connections, and the order in which those that wait for their sender must go.

    A connection waits for its sender from its last answer (or its beginning) until a whole request
    is there; trickling bytes do not make it younger. The one that has waited longest goes first.
    """

    def __init__(self, most: int = MAX_CONNECTIONS, spare: int = SPARE_CONNECTIONS) -> None:
        self._most = most
        self._spare = spare
        self._open: set[Connection] = set()
        self._idle: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self._open)

    @property
    def crowded(self) -> bool:
        """True if further connections get answers about health only."""
        return len(self._open) > self._most

    def arrive(self, connection: Connection) -> bool:
        """Make room for a new connection; False if there is none, and it must go itself."""
        self._open.add(connection)
        if self.crowded and self._idle:
            oldest = next(iter(self._idle))
            self.leave(oldest)
            oldest.give_way()
        if len(self._open) > self._most + self._spare:
            self.leave(connection)
            return False
        self._idle[connection] = None
        return True

    def idle(self, connection: Connection) -> None:
        """Note that the connection waits for its sender from now on."""
        if connection in self._open:
            self._idle.pop(connection, None)
            self._idle[connection] = None

    def busy(self, connection: Connection) -> None:
        """Note that a whole request is there: the connection waits for us."""
        self._idle.pop(connection, None)

    def leave(self, connection: Connection) -> None:
        """Forget a closed connection."""
        self._open.discard(connection)
        self._idle.pop(connection, None)

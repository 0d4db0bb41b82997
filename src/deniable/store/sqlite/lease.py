"""One closer at a time: a row that says who is at work, and how its neighbours see that it lives.

Model. The holder adds one to `beats` in each of its transactions. Whoever finds the row taken
remembers what it saw; if the same holder has the same beats a minute later, by the looker's own
monotonic clock, the holder is dead and its row is taken over. No time is written, so no wrong clock
can keep a row alive or end one.

Guarantees: only efficiency rests on the lease. A holder that was thought dead and lives on finds at
its next transaction that the row is another's, and stops; what it wrote is then a leftover.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from deniable.errors import StoreError
from deniable.store.shuffle import RandomBytes
from deniable.store.tabled import CLOSER_SECONDS

LEASE_SECONDS = CLOSER_SECONDS

_CLOSING = "closing"


class Lease:
    """A claim to closing epochs. Every method but the first runs inside a write transaction.

    Args:
        random_bytes: where the holder's token comes from.
        monotonic: the clock of this process.
    """

    def __init__(
        self, random_bytes: RandomBytes, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._random_bytes = random_bytes
        self._monotonic = monotonic
        self._token = b""
        self._seen: tuple[bytes, int] | None = None
        self._since = 0.0

    def take(self, connection: sqlite3.Connection) -> bool:
        """Take the row if it is free, or its holder is dead; False if somebody is at work."""
        found = connection.execute(
            "SELECT holder, beats FROM lease WHERE work = ?", (_CLOSING,)
        ).fetchone()
        now = self._monotonic()
        if found is not None and found != self._seen:
            self._seen, self._since = found, now
        if found is not None and now - self._since < LEASE_SECONDS:
            return False
        self._seen, self._token = None, self._random_bytes(16)
        connection.execute("INSERT OR REPLACE INTO lease VALUES (?, ?, 0)", (_CLOSING, self._token))
        return True

    def beat(self, connection: sqlite3.Connection) -> None:
        """Show that the holder lives.

        Raises:
            StoreError: if the row was taken over.
        """
        changed = connection.execute(
            "UPDATE lease SET beats = beats + 1 WHERE work = ? AND holder = ?",
            (_CLOSING, self._token),
        )
        if changed.rowcount != 1:
            raise StoreError("Another process has taken over closing epochs; nothing is lost.")

    def release(self, connection: sqlite3.Connection) -> None:
        """Free the row, if it is still ours."""
        connection.execute(
            "DELETE FROM lease WHERE work = ? AND holder = ?", (_CLOSING, self._token)
        )

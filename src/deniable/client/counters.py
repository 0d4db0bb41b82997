"""Counters of refusals by reason, in memory at once and on disk when possible."""

from __future__ import annotations

import logging
import threading
from collections import Counter

from deniable.client.database import Database
from deniable.errors import StoreError

LOGGER = logging.getLogger("deniable.client")

Counts = dict[tuple[str, str], int]
"""Keyed by (question id, or "" where it has none or is unknown, and reason)."""


class Counters:
    """Counters per question and reason.

    Guarantees: adding never blocks on the disk and never fails; the names of unknown questions
    are not kept, since a value handed over in the wrong place would be among them.
    """

    def __init__(self) -> None:
        # Re-entrant: a signal handler may record while its own thread is counting.
        self._lock = threading.RLock()
        self._unsaved: Counter[tuple[str, str]] = Counter()
        self._saved: Counts = {}

    def add(self, question: str, reason: str, count: int = 1) -> None:
        """Count something in memory."""
        with self._lock:
            self._unsaved[question, reason] += count
        LOGGER.debug("%s: %s", question or "-", reason)

    def read(self, database: Database) -> Counts:
        """Return all counts: those on disk (as last known, if it cannot be read) and in memory."""
        try:
            with database.reading() as connection:
                if connection is not None:
                    rows = connection.execute("SELECT question, reason, count FROM counters")
                    self._saved = {(question, reason): count for question, reason, count in rows}
        except StoreError:
            pass  # counted by whoever needs the disk; counts in memory are still true
        with self._lock:
            return dict(Counter(self._saved) + self._unsaved)

    def save(self, database: Database) -> None:
        """Move the counts in memory to the disk.

        Raises:
            StoreError: if that fails; the counts stay in memory.
        """
        with self._lock:
            moving = dict(self._unsaved)
        if not moving:
            return
        with database.transaction() as connection:
            connection.executemany(
                "INSERT INTO counters VALUES (?, ?, ?) "
                "ON CONFLICT (question, reason) DO UPDATE SET count = count + excluded.count",
                [(*key, count) for key, count in moving.items()],
            )
        with self._lock:
            self._unsaved -= Counter(moving)
            self._saved = dict(Counter(self._saved) + Counter(moving))

    def forget(self) -> None:
        """Start again with empty counts and a new lock, as a forked child must."""
        self._lock = threading.RLock()
        self._unsaved = Counter()

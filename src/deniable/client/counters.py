"""The reasons for which a value is not reported, and how often each was met.

The reasons are a closed set, each with its sentence. The sentences are fixed, so that no message
can ever hold a value. Counts are in memory at once, and on disk when possible.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections import Counter
from typing import TYPE_CHECKING

from deniable.errors import LedgerLost, RecordRefused, StoreError

if TYPE_CHECKING:
    from deniable.client.database import Database

LOGGER = logging.getLogger("deniable.client")

REASONS = {
    "no_consent": "There is no consent: call opt_in() after the person has agreed.",
    "unknown_question": "The survey has no such question: check the id against survey.json.",
    "type": "The value has the wrong type for the question's domain.",
    "not_a_number": "The value must be a number, not NaN.",
    "unknown_category": "The value is not one of the question's categories.",
    "too_long": "A string must have at most 4,096 bytes of UTF-8.",
    "too_many": "The set has more members than the question allows.",
    "bad_unicode": "A string must not hold unpaired surrogates.",
    "alphabet": "The string has a character outside of the question's alphabet.",
    "missing_field": "The value must have every field of the question.",
    "unknown_field": "The value has a field that the question has not.",
    "expired": "The question's last day of collection is past.",
    "answered": "This question was answered already in this epoch (or for ever, if asked once).",
    "changed": "The question changed without a new version: publish it with a higher version.",
    "not_asked": "The survey asks only some devices this question, and not this one.",
    "level": "Another process chose another level: the next value is reported at that one.",
    "fetched": "Another version of this question was answered, and one of the two came from a "
    "server: together they would cost more epsilon than the app's survey does.",
    "ceiling": "The report would exceed the client's ceiling of epsilon.",
    "window": "The report would exceed the client's budget of epsilon per window of days.",
    "outbox_full": "Too many reports wait to be sent: nothing was reported, nothing was spent.",
    "queue_full": "Too many values wait for the client's thread: call record less often.",
    "storage": "The client's directory cannot be read or written: check the disk and the modes.",
    "lost": "The client's database is missing or empty, though this directory has had one. It held "
    "what the device has disclosed, so it is not begun anew. Put it back, or delete the whole "
    "directory to begin as a new device.",
    "secret": "The secret file is damaged: opt out and in again to make a new one.",
    "clock": "The clock does not give a day that a report can carry.",
    "closed": "The client is closed.",
    "internal": "Something unexpected happened in the client.",
}
"""Reasons that strict clients raise and all clients count, per question (or "" without one)."""

FITTED = "fitted"
"""Counted on the device, per question: a string was reported, but cut off or with other characters
replaced, as its domain declares. No report tells."""

LARGER = "larger"
"""Counted on the device, per question: a set of strings had more members than places, so that each
of them is reported less often than the table says."""

UPLOAD_REASONS = {
    "uploaded": "The collector answered for the report.",
    "stale": "The report waited until its epoch had ended too long ago to be accepted.",
    "unreachable": "The collector could not be reached; the upload is tried again.",
    "bad_response": "The collector's answer was not understood; the upload is tried again.",
    "bad_survey": "The fetched survey was refused and the old one kept.",
    "asks_more": "The fetched survey asks a question that it may not, which is left out.",
}
"""Reasons that uploads count besides.

Also by the words of `deniable.protocol.reasons`: `refused_REASON` for a report that the collector
refused for good, and which was dropped; `waiting_REASON` for each time that it refused one for now
(`waiting_other` for a reason that this version does not know); and `status_NNN` for an upload that
was answered with another HTTP status than 200 and is tried again.
"""

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
            write(connection, moving)
        with self._lock:
            self._unsaved -= Counter(moving)
            self._saved = dict(Counter(self._saved) + Counter(moving))

    def forget(self) -> None:
        """Start again with empty counts and a new lock, as a forked child must."""
        self._lock = threading.RLock()
        self._unsaved = Counter()


def write(connection: sqlite3.Connection, counts: Counts) -> None:
    """Add counts on the disk, within the caller's transaction."""
    connection.executemany(
        "INSERT INTO counters VALUES (?, ?, ?) "
        "ON CONFLICT (question, reason) DO UPDATE SET count = count + excluded.count",
        [(*key, count) for key, count in counts.items()],
    )


def refused(reason: str) -> RecordRefused:
    """Return the error for a reason of the closed set, ready to be raised."""
    return RecordRefused(reason, REASONS[reason])


def reason_of(error: StoreError) -> str:
    """Return the word by which a failure of the client's directory is counted."""
    return "lost" if isinstance(error, LedgerLost) else "storage"

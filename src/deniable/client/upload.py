"""Uploads: one batch of due reports at a time, tried again until the collector has answered."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain

from deniable.client import outbox
from deniable.client.acknowledgement import Outcome, Whole, judge
from deniable.client.consent import ConsentBook
from deniable.client.counters import Counters
from deniable.client.database import Database
from deniable.client.limits import Limits
from deniable.client.randomness import SystemDraws
from deniable.client.retry import LONGEST_RETRY_AFTER, Backoff, retry_after
from deniable.client.transport import Request, Response, Transport
from deniable.protocol import Report, batch_bytes
from deniable.protocol.epochs import day_number
from deniable.protocol.report import MEDIA_TYPE

PATH = "/v1/reports"


class Uploader:
    """Moves reports from the outbox to the collector.

    Guarantees: a report leaves the outbox only when the collector has accepted it or refused it
    for good, or when it is stale; every such end is counted. A report that is refused for now
    waits for a turn of its own and holds up no other. Nothing is sent without consent. The order
    of sending is random.

    Edge cases: Retry-After is stored, so that it holds for other processes and after a restart;
    our own back-off is kept in memory, and `hurry` skips it. A status is no word to a report: a
    login page, a wrong route or a rotated key makes all of them wait.
    """

    def __init__(
        self,
        database: Database,
        transport: Transport,
        consent: ConsentBook,
        counters: Counters,
        limits: Limits,
        clock: Callable[[], datetime],
        headers: dict[str, str],
    ) -> None:
        self._database = database
        self._transport = transport
        self._consent = consent
        self._counters = counters
        self._clock = clock
        self._headers = {"Content-Type": MEDIA_TYPE, **headers}
        self._draws = SystemDraws()
        self._backoff = Backoff(limits.retry_base_seconds, limits.retry_cap_seconds, self._draws)
        self._not_before = 0.0
        self._batch = limits.batch
        self._tried: set[bytes] = set()
        self._lock = threading.Lock()

    def begin_round(self) -> None:
        """Begin a round of hurried steps, in which every report is tried at most once."""
        with self._lock:
            self._tried.clear()

    def step(self, hurry: bool = False) -> bool:
        """Send one batch; True if the collector answered for it and there may be another.

        Raises:
            StoreError: if the outbox cannot be read or written.
        """
        with self._lock:
            if not hurry and time.monotonic() < self._not_before:
                return False
            now = self._clock()
            tried = self._tried if hurry else None
            with self._database.transaction() as connection:
                if not self._consent.granted(connection) or _told_to_wait(connection, now):
                    return False
                reports = outbox.lease(
                    connection, day_number(now), now.timestamp(), self._batch, self._draws, tried
                )
            return bool(reports) and self._deliver(reports)

    def seconds_to_wait(self) -> float:
        """Return the seconds until our own back-off ends; infinity if there is none."""
        seconds = self._not_before - time.monotonic()
        return seconds if seconds > 0 else math.inf

    def unlock(self) -> None:
        """Use a new lock, as a forked child must."""
        self._lock = threading.Lock()

    def _deliver(self, reports: list[Report]) -> bool:
        """Send a batch, in halves where it is too large; False if all of it must wait."""
        waiting = [reports]
        while waiting:
            batch = waiting.pop()
            response = self._send(batch)
            verdict = Whole.WAIT if response is None else judge(response, len(batch))
            if verdict is Whole.SPLIT:
                middle = len(batch) // 2
                self._batch = min(self._batch, middle)
                waiting += [batch[middle:], batch[:middle]]
            elif isinstance(verdict, Whole):
                self._count_whole(response)
                return self._wait([*batch, *chain.from_iterable(waiting)], response)
            else:
                self._settle(batch, verdict)
        return True

    def _settle(self, reports: Sequence[Report], outcomes: Sequence[Outcome]) -> None:
        """Take the reports that leave out of the outbox, postpone the others, and count each."""
        self._backoff.succeeded()
        self._not_before = 0.0
        pairs = list(zip(reports, outcomes, strict=True))
        refused_for_now = [report for report, outcome in pairs if not outcome.leaves]
        self._tried.update(report.id for report in refused_for_now)
        with self._database.transaction() as connection:
            outbox.delete(connection, [report for report, outcome in pairs if outcome.leaves])
            outbox.postpone(
                connection, refused_for_now, self._clock().timestamp(), self._backoff.after
            )
        for report, outcome in pairs:
            self._counters.add(report.question, outcome.counter)

    def _send(self, reports: Sequence[Report]) -> Response | None:
        request = Request("POST", PATH, self._headers, batch_bytes(reports))
        try:
            return self._transport.send(request)
        except Exception:
            # The transport may be the app's own; whatever it raises, the collector did not answer.
            return None

    def _count_whole(self, response: Response | None) -> None:
        """Count an answer that says nothing about the single reports."""
        if response is None:
            reason = "unreachable"
        else:
            reason = "bad_response" if response.status == 200 else f"status_{response.status}"
        self._counters.add("", reason)

    def _wait(self, reports: Sequence[Report], response: Response | None) -> bool:
        now, asked = self._clock(), None
        if response is not None:
            asked = retry_after(response.headers.get("retry-after"), now)
        self._not_before = time.monotonic() + (asked or 0.0) + self._backoff.failed()
        with self._database.transaction() as connection:
            outbox.release(connection, reports)
            if asked is not None:
                _tell_to_wait(connection, now.timestamp() + asked)
        return False


def _told_to_wait(connection: sqlite3.Connection, now: datetime) -> bool:
    """Tell whether a Retry-After still holds; one further off than any could be does not."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'retry_at'").fetchone()
    return row is not None and 0 < float(row[0]) - now.timestamp() <= LONGEST_RETRY_AFTER


def _tell_to_wait(connection: sqlite3.Connection, until: float) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('retry_at', ?)", (repr(until),))

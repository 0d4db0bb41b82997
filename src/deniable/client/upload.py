"""Sending what is due: one batch at a time, tried again until the collector has answered for it."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import chain

from deniable.client import outbox
from deniable.client.answer import Verdict, judge, read_acknowledgement
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

    Guarantees: a report leaves the outbox only when the collector has answered for it, when it
    will never be accepted, or when it is stale; every such end is counted. Nothing is sent
    without consent. The order of sending is random.

    Edge cases: Retry-After is stored, so that it holds for other processes and after a restart;
    our own back-off is kept in memory, and `hurry` skips it.
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
        self._lock = threading.Lock()

    def step(self, hurry: bool = False) -> bool:
        """Send one batch; True if it went well and there may be another.

        Raises:
            StoreError: if the outbox cannot be read or written.
        """
        with self._lock:
            if not hurry and time.monotonic() < self._not_before:
                return False
            now = self._clock()
            with self._database.transaction() as connection:
                if not self._consent.granted(connection) or _told_to_wait(connection, now):
                    return False
                reports = outbox.lease(
                    connection, day_number(now), now.timestamp(), self._batch, self._draws
                )
            return bool(reports) and self._deliver(reports)

    def seconds_to_wait(self) -> float:
        """Return how long our own back-off still lasts; infinity where it does not."""
        seconds = self._not_before - time.monotonic()
        return seconds if seconds > 0 else math.inf

    def unlock(self) -> None:
        """Use a new lock, as a forked child must."""
        self._lock = threading.Lock()

    def _deliver(self, reports: list[Report]) -> bool:
        """Send a batch, in halves where it is too large; False if some must be tried again."""
        waiting = [reports]
        while waiting:
            batch = waiting.pop()
            response = self._send(batch)
            verdict = Verdict.RETRY if response is None else judge(response.status)
            if response is None or verdict is Verdict.RETRY:
                return self._wait([*batch, *chain.from_iterable(waiting)], response)
            if verdict is Verdict.SPLIT and len(batch) > 1:
                middle = len(batch) // 2
                self._batch = min(self._batch, middle)
                waiting += [batch[middle:], batch[:middle]]
                continue
            counts = _ends(verdict, response, batch)
            if counts is None:
                self._counters.add("", "bad_response")
                return self._wait([*batch, *chain.from_iterable(waiting)], response)
            self._finish(batch, counts)
        return True

    def _finish(self, reports: Sequence[Report], counts: Counter[tuple[str, str]]) -> None:
        """Take reports out of the outbox, and count how each of them ended."""
        self._backoff.succeeded()
        self._not_before = 0.0
        with self._database.transaction() as connection:
            outbox.delete(connection, reports)
        for (question, reason), count in counts.items():
            self._counters.add(question, reason, count)

    def _send(self, reports: Sequence[Report]) -> Response | None:
        request = Request("POST", PATH, self._headers, batch_bytes(reports))
        try:
            response = self._transport.send(request)
        except Exception:
            # The transport may be the app's own; whatever it raises, the collector did not answer.
            self._counters.add("", "unreachable")
            return None
        if judge(response.status) is Verdict.RETRY:
            self._counters.add("", f"status_{response.status}")
        return response

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


def _ends(
    verdict: Verdict, response: Response, reports: Sequence[Report]
) -> Counter[tuple[str, str]] | None:
    """Return how each report of an answered batch ended; None if the answer cannot be read."""
    if verdict is Verdict.DONE:
        return read_acknowledgement(response, reports)
    reason = "too_large" if verdict is Verdict.SPLIT else f"status_{response.status}"
    return Counter((report.question, reason) for report in reports)


def _told_to_wait(connection: sqlite3.Connection, now: datetime) -> bool:
    """Tell whether a Retry-After still holds; one further off than any could be does not."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'retry_at'").fetchone()
    return row is not None and 0 < float(row[0]) - now.timestamp() <= LONGEST_RETRY_AFTER


def _tell_to_wait(connection: sqlite3.Connection, until: float) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('retry_at', ?)", (repr(until),))

"""Uploads: due reports to one question at a time, tried again until the collector has answered."""

from __future__ import annotations

import math
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import chain

from deniable.client import outbox
from deniable.client.acknowledgement import Outcome, Whole, judge
from deniable.client.consent import ConsentBook
from deniable.client.counters import Counters
from deniable.client.database import Database
from deniable.client.limits import Limits
from deniable.client.randomness import SystemDraws
from deniable.client.transport import Request, Response, Transport
from deniable.protocol import Question, Report, batch_bytes
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.protocol.compact import compact_bytes, in_groups
from deniable.protocol.epochs import day_number
from deniable.protocol.report import MEDIA_TYPE

PATH = "/v1/reports"
_NOT_UNDERSTOOD = (400, 415)
"""The answers to the compact form of a collector, or a proxy, that does not know it."""

_LONGEST_RETRY_AFTER = 86_400.0
"""A day. A server that asks for more may be mistaken, or may want to silence a device."""

_UNIT = 2**32


class Backoff:
    """Waiting times after failures in a row.

    Model: the n-th (from 0) is uniform on 0 .. min(cap, base 2^n), which spreads a crowd of
    devices that failed at the same moment.
    """

    def __init__(self, base: float, cap: float, draws: SystemDraws) -> None:
        self._base = base
        self._cap = cap
        self._draws = draws
        self._failures = 0

    def failed(self) -> float:
        """Note a failure and return the seconds to wait."""
        self._failures += 1
        return self.after(self._failures - 1)

    def after(self, failures: int) -> float:
        """Return the seconds to wait after a failure that follows `failures` earlier ones."""
        highest = min(self._cap, self._base * 2.0 ** min(failures, 64))
        return highest * self._draws.below(_UNIT) / _UNIT

    def succeeded(self) -> None:
        """Note a success: the next failure waits briefly again."""
        self._failures = 0


class Uploader:
    """Moves reports from the outbox to the collector.

    Guarantees: a report leaves the outbox only when the collector has accepted it or refused it
    for good, or when it is stale; every such end is counted. A report that is refused for now
    waits for a turn of its own and holds up no other. Nothing is sent without consent. A request
    holds reports to one question only, and the order of sending is random.

    Edge cases: a collector that answers 400 or 415 to the compact form gets the same reports in
    JSON, and the next ones in the compact form again; one that finds a batch too large gets halves
    of it. Neither is remembered, since a server could know a device again by what it remembers.
    Retry-After is stored, so that it holds for other processes and after a restart; our own
    back-off is kept in memory, and `hurry` skips it. A status is no word to a report: a login
    page, a wrong route or a rotated key makes all of them wait.
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
        question: Callable[[bytes], Question | None],
    ) -> None:
        self._database = database
        self._transport = transport
        self._consent = consent
        self._counters = counters
        self._clock = clock
        self._headers = headers
        self._question = question
        self._draws = SystemDraws()
        self._backoff = Backoff(limits.retry_base_seconds, limits.retry_cap_seconds, self._draws)
        self._not_before = 0.0
        self._batch = limits.batch
        self._mean = limits.delay_seconds
        self._round: outbox.Round | None = None
        self._lock = threading.Lock()

    def begin_round(self, everything: bool) -> None:
        """Begin a round of hurried steps, in which every report is tried at most once.

        It has the reports that are due, or `everything` that may be sent today.
        """
        with self._lock:
            self._round = outbox.Round(everything, set())

    def step(self, hurry: bool = False) -> bool:
        """Send one batch; True if the collector answered for it and there may be another.

        Raises:
            StoreError: if the outbox cannot be read or written.
        """
        with self._lock:
            if not hurry and time.monotonic() < self._not_before:
                return False
            now = self._clock()
            day, second = day_number(now), now.timestamp()
            with self._database.transaction() as connection:
                if not self._consent.granted(connection) or _told_to_wait(connection, now):
                    return False
                outbox.draw_due(connection, day, second, self._delay)
                reports = outbox.lease(
                    connection,
                    day,
                    second,
                    self._batch,
                    self._draws,
                    self._round if hurry else None,
                )
            return bool(reports) and self._deliver(reports)

    def seconds_to_wait(self) -> float:
        """Return the seconds until our own back-off ends, else until a report is due.

        Raises:
            StoreError: if the outbox cannot be read.
        """
        seconds = self._not_before - time.monotonic()
        if seconds > 0:
            return seconds
        now = self._clock()
        with self._database.reading() as connection:
            if connection is None:
                return math.inf
            due = outbox.next_due(connection, day_number(now), now.timestamp())
        return math.inf if due is None else due

    def _delay(self) -> int:
        return outbox.draw_delay(self._mean, self._draws)

    def unlock(self) -> None:
        """Use a new lock, as a forked child must."""
        self._lock = threading.Lock()

    def _deliver(self, reports: list[Report]) -> bool:
        """Send a batch, in halves where it is too large; False if all of it must wait."""
        waiting = [in_groups(reports)]
        while waiting:
            batch = waiting.pop()
            response = self._send(batch)
            verdict = Whole.WAIT if response is None else judge(response, len(batch))
            if verdict is Whole.SPLIT:
                middle = len(batch) // 2
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
        if self._round is not None:
            self._round.tried.update(report.id for report in refused_for_now)
        with self._database.transaction() as connection:
            outbox.delete(connection, [report for report, outcome in pairs if outcome.leaves])
            outbox.postpone(
                connection, refused_for_now, self._clock().timestamp(), self._backoff.after
            )
        for report, outcome in pairs:
            self._counters.add(report.question, outcome.counter)

    def _send(self, reports: Sequence[Report]) -> Response | None:
        """Send a batch in the compact form, or in JSON where that is not understood."""
        question = self._question(reports[0].digest) if reports[0].segments else None
        packed = compact_bytes(reports, question)
        if packed is not None:
            response = self._post(COMPACT, packed)
            if response is None or response.status not in _NOT_UNDERSTOOD:
                return response
        return self._post(MEDIA_TYPE, batch_bytes(reports))

    def _post(self, media_type: str, body: bytes) -> Response | None:
        headers = {"Content-Type": media_type, **self._headers}
        try:
            return self._transport.send(Request("POST", PATH, headers, body))
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
    return row is not None and 0 < float(row[0]) - now.timestamp() <= _LONGEST_RETRY_AFTER


def _tell_to_wait(connection: sqlite3.Connection, until: float) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('retry_at', ?)", (repr(until),))


def retry_after(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for; None if it asks for nothing clear.

    Both forms of RFC 9110 are read: seconds, and a date. At most a day is granted.
    """
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"[0-9]{1,12}", text):
        seconds = float(text)
    else:
        from email.utils import parsedate_to_datetime  # with a first answer, not with the app

        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER)

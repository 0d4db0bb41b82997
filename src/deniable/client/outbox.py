"""Reports that wait on the disk until the collector has answered for them.

A row holds exactly what goes over the wire, so that a retry is bit-identical, and the moment from
which it may leave: each report draws its own, so that the time of sending says neither when a value
was recorded nor which reports come from one device. Every function works within the caller's
transaction.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from deniable.client.randomness import SystemDraws, falls
from deniable.protocol import Question, Report
from deniable.protocol.epochs import days_of
from deniable.protocol.frozen import frozen
from deniable.protocol.report import MAX_BATCH_BYTES

_LEASE_SECONDS = 120.0
"""The time for which processes leave a row alone that another one is sending."""

_LONGEST_WAIT = 86_400.0
"""A day: the most that a report waits for its next turn after the collector refused it for now."""


@frozen
class Round:
    """Sending on the app's word: each report is tried once.

    Attributes:
        everything: also reports that are not due yet.
        tried: the ids of those that were refused for now.
    """

    everything: bool
    tried: set[bytes]


_OVERHEAD = 300
"""More than the bytes of a report in a batch apart from its question and record."""


WAITING = "SELECT COUNT(*) FROM outbox"
"""Asks how many reports wait."""


def draw_delay(mean: int, draws: SystemDraws) -> int:
    """Return the whole seconds that a report waits: geometric, `mean` on average.

    Model: steps of s = max(1, mean // 60) seconds. A coin ends the wait before each step with
    probability p, and the last step is cut at a uniformly random second:

        s (1 - p) / p + (s - 1) / 2 = mean    for p = 2 s / (2 mean + s + 1)

    The due time is a whole second, so that two reports recorded together share no fraction of one.

    Cost: about 60 coins, whatever the mean; they are looked at together.
    """
    step = max(1, mean // 60)
    threshold = 2**64 * 2 * step // (2 * mean + step + 1)
    return falls(draws, threshold) * step + draws.below(step)


def put(
    connection: sqlite3.Connection, question: Question, report: Report, due: int | None
) -> None:
    """Let a report wait, until the second `due` or longer.

    A question that is always sent is held until its epoch is over, and draws its due time then:
    the time of sending says nothing about whether, or when, a value was recorded. Any other report
    may go from the first day of its epoch; only a clock that was ahead and returned makes that a
    wait.
    """
    first, last = days_of(report.epoch, question.epoch)
    not_before = last + 1 if question.absent else first
    connection.execute(
        "INSERT INTO outbox"
        " (question, version, digest, epoch, id, record, segments, not_before, last_day, due)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            report.question,
            report.version,
            # For bytes, sqlite3 first looks for an adapter, and fails; for bytearrays it does not.
            bytearray(report.digest),
            report.epoch,
            bytearray(report.id),
            bytearray(report.record),
            report.segments,
            not_before,
            last,
            None if question.absent else due,
        ),
    )


def draw_due(
    connection: sqlite3.Connection, day: int, now: float, delay: Callable[[], int]
) -> None:
    """Give a due time to reports whose epoch is over, and which have none yet."""
    rows = connection.execute("SELECT id FROM outbox WHERE due IS NULL AND not_before <= ?", (day,))
    for (identity,) in rows.fetchall():
        connection.execute("UPDATE outbox SET due = ? WHERE id = ?", (int(now) + delay(), identity))


def next_due(connection: sqlite3.Connection, day: int, now: float) -> float | None:
    """Return the seconds until the next report is due; None if none will be today."""
    row = connection.execute(
        "SELECT MIN(due) FROM outbox WHERE not_before <= ? AND due > ?", (day, now)
    ).fetchone()
    return None if row[0] is None else float(row[0]) - now


def pending(connection: sqlite3.Connection) -> list[Report]:
    """Return all reports that wait, held ones included, in the order of their random ids."""
    rows = connection.execute(
        "SELECT question, version, digest, epoch, id, record, segments FROM outbox"
    )
    return [Report(*row) for row in rows]


def count_due(connection: sqlite3.Connection, day: int) -> int:
    """Return the number of reports that may be sent on `day`, whoever is sending them."""
    row = connection.execute("SELECT COUNT(*) FROM outbox WHERE not_before <= ?", (day,)).fetchone()
    return int(row[0])


def lease(
    connection: sqlite3.Connection,
    day: int,
    now: float,
    limit: int,
    draws: SystemDraws,
    round_: Round | None = None,
) -> list[Report]:
    """Return due reports to one question, drawn at random, and reserve them for the caller.

    Reports that were refused for now wait for their turn; in a round each is tried once instead.

    Edge cases: a lease, a wait or a due time further in the future than any lasts was made by a
    wrong clock and does not count.
    """
    place = {"day": day, "now": now, "lease": _LEASE_SECONDS, "wait": _LONGEST_WAIT}
    rows = connection.execute(
        "SELECT retry_at BETWEEN :now AND :now + :wait, due > :now AND due <= :now + :wait,"
        " question, version, digest, epoch, id, record, segments FROM outbox"
        " WHERE not_before <= :day AND leased_until NOT BETWEEN :now AND :now + :lease",
        place,
    )
    found = [(refused, early, Report(*row)) for refused, early, *row in rows]
    if round_ is None:
        due = [report for refused, early, report in found if not refused and not early]
    else:
        due = [
            report
            for _, early, report in found
            if report.id not in round_.tried and (round_.everything or not early)
        ]
    draws.shuffle(due)
    batch = _fitting([report for report in due if report.digest == due[0].digest][:limit])
    connection.executemany(
        "UPDATE outbox SET leased_until = ? WHERE id = ?",
        [(now + _LEASE_SECONDS, report.id) for report in batch],
    )
    return batch


def postpone(
    connection: sqlite3.Connection,
    reports: Iterable[Report],
    now: float,
    wait: Callable[[int], float],
) -> None:
    """Give back reports that were refused for now; each waits for a turn of its own.

    So they stand in nobody's way: batches are filled with the others meanwhile.

    Args:
        connection: within the caller's transaction.
        reports: the refused ones.
        now: the time, in seconds.
        wait: seconds to wait, given how often the report was refused before.
    """
    for report in reports:
        row = connection.execute("SELECT tries FROM outbox WHERE id = ?", (report.id,)).fetchone()
        if row is not None:  # else the person opted out meanwhile
            connection.execute(
                "UPDATE outbox SET leased_until = 0, tries = tries + 1, retry_at = ? WHERE id = ?",
                (now + min(wait(row[0]), _LONGEST_WAIT), report.id),
            )


def release(connection: sqlite3.Connection, reports: Iterable[Report]) -> None:
    """Give back reports that could not be sent."""
    connection.executemany(
        "UPDATE outbox SET leased_until = 0 WHERE id = ?", [(report.id,) for report in reports]
    )


def delete(connection: sqlite3.Connection, reports: Iterable[Report]) -> None:
    """Remove reports for which the collector has answered, or that it will never accept."""
    connection.executemany("DELETE FROM outbox WHERE id = ?", [(report.id,) for report in reports])


def drop_stale(connection: sqlite3.Connection, day: int, days: int) -> Counter[str]:
    """Drop reports whose epoch ended more than `days` days ago; return how many per question.

    Edge cases: a report must be found stale on two different days, so that a clock that is a
    year ahead for a day loses nothing. Until then it is still sent: the collector knows better.
    """
    connection.execute(
        "UPDATE outbox SET stale_since = CASE WHEN last_day + ? >= ? THEN NULL"
        " ELSE COALESCE(stale_since, ?) END",
        (days, day, day),
    )
    rows = connection.execute("SELECT question FROM outbox WHERE stale_since < ?", (day,))
    dropped = Counter(str(row[0]) for row in rows)
    connection.execute("DELETE FROM outbox WHERE stale_since < ?", (day,))
    return dropped


def _fitting(reports: Sequence[Report]) -> list[Report]:
    """Return the first reports whose batch stays below the collector's limit; at least one."""
    batch: list[Report] = []
    room = MAX_BATCH_BYTES
    for report in reports:
        text = len(report.question) + len(report.segments)
        room -= _OVERHEAD + text + len(report.record) * 4 // 3
        if batch and room < 0:
            break
        batch.append(report)
    return batch

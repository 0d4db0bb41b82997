"""A device's history: pinned question digests, used epochs, seen epochs, the chosen level.

Used epochs are a set, not a maximum: a clock that goes a year ahead and returns neither repeats an
epoch nor silences the ones between. They are kept for ever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Set

from deniable.client.counters import refused
from deniable.protocol import Question

_FETCHED = "fetched "
"""Stands before the id of a question whose fetched version was answered."""

ANY_FETCHED = f"SELECT 1 FROM meta WHERE name BETWEEN '{_FETCHED}' AND '{_FETCHED}\x7f'"  # noqa: S608
"""Asks whether a fetched version of any question was answered, beside whichever survey."""


PINNED = "SELECT digest FROM pins WHERE question = ? AND version = ?"
"""Asks for the digest of a version, by `pin_name`."""

USED_EVER = "SELECT 1 FROM used WHERE question = ? AND version = ? LIMIT 1"
USED_IN = "SELECT 1 FROM used WHERE question = ? AND version = ? AND epoch = ?"
"""Ask whether a version has a report, ever or of an epoch."""


def pin_name(question: Question) -> str:
    """Return the name under which a question is pinned: each level is a contract of its own."""
    return f"{question.id} {question.level}" if question.level else question.id  # ids have no space


def check_pin(connection: sqlite3.Connection, question: Question, pinned: bytes | None) -> None:
    """Bind a version to its digest at first use, and refuse any other digest from then on.

    Args:
        connection: within the caller's transaction.
        question: the one to answer.
        pinned: what `PINNED` finds; None before the first use.

    Raises:
        RecordRefused: with reason "changed".
    """
    if pinned is None:
        key = (pin_name(question), question.version, question.digest)
        connection.execute("INSERT INTO pins VALUES (?, ?, ?)", key)
    elif pinned != question.digest:
        raise refused("changed")


def check_versions(
    connection: sqlite3.Connection,
    question: Question,
    own: Set[bytes],
    base: bytes,
    fetched: frozenset[str],
) -> frozenset[str]:
    """Let a device answer what the app bundles of a question, or one fetched version, never both.

    So epsilon, summed over all versions of an id, is never more than under the app's survey alone.

    Args:
        connection: within the caller's transaction.
        question: the one to answer.
        own: the digests that the app bundles.
        base: the hash of the app's survey: another one begins anew.
        fetched: what `fetched_ones` returns.

    Returns:
        What `fetched_ones` does from now on.

    Raises:
        RecordRefused: with reason "fetched".
    """
    if not may_answer(connection, question, own, base, fetched):
        raise refused("fetched")
    if question.digest in own:
        return fetched
    mark = (_FETCHED + question.id, base.hex())
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", mark)
    return fetched | {question.id}


def may_answer(
    connection: sqlite3.Connection,
    question: Question,
    own: Set[bytes],
    base: bytes,
    fetched: Set[str] | None = None,
) -> bool:
    """Tell whether `check_versions` would let the device answer a version; nothing is written.

    `fetched` is what `fetched_ones` returns, for a caller that asks about many questions.
    """
    if question.digest in own:
        return question.id not in (fetched_ones(connection, base) if fetched is None else fetched)
    other = connection.execute(
        "SELECT 1 FROM used WHERE question = ? AND version != ? LIMIT 1",
        (question.id, question.version),
    ).fetchone()
    return other is None


def fetched_ones(connection: sqlite3.Connection, base: bytes) -> frozenset[str]:
    """Return the questions of which a fetched version was answered beside the app's survey."""
    rows = connection.execute(
        "SELECT name FROM meta WHERE name BETWEEN ? AND ? AND value = ?",
        (_FETCHED, _FETCHED + "\x7f", base.hex()),  # ids are plain ASCII
    )
    return frozenset(row[0].removeprefix(_FETCHED) for row in rows)


def is_used(connection: sqlite3.Connection, question: Question, epoch: int) -> bool:
    """Tell whether the question has its report: in this epoch, or ever if it is asked once."""
    if question.repeat == "once":
        row = connection.execute(USED_EVER, (question.id, question.version)).fetchone()
    else:
        row = connection.execute(USED_IN, (question.id, question.version, epoch)).fetchone()
    return row is not None


def mark_used(connection: sqlite3.Connection, question: Question, epoch: int) -> None:
    """Enter an epoch as used; a second time is an error, and the transaction fails."""
    connection.execute("INSERT INTO used VALUES (?, ?, ?)", (question.id, question.version, epoch))
    if question.absent:  # of no other one any epoch is noted as seen
        forget_seen(connection, question, epoch)


def mark_seen(connection: sqlite3.Connection, question: Question, epoch: int) -> None:
    """Note that the app ran in an epoch for which there is no report yet."""
    if not is_used(connection, question, epoch):
        connection.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (question.id, question.version, epoch)
        )


def forget_seen(connection: sqlite3.Connection, question: Question, epoch: int) -> None:
    """Remove a seen epoch, or all of them if the question is asked once."""
    connection.execute(
        "DELETE FROM seen WHERE question = ? AND version = ? AND (epoch = ? OR ?)",
        (question.id, question.version, epoch, question.repeat == "once"),
    )


def seen_before(connection: sqlite3.Connection, question: Question, epoch: int) -> list[int]:
    """Return the seen epochs without a report that lie before `epoch`, earliest first."""
    rows = connection.execute(
        "SELECT epoch FROM seen WHERE question = ? AND version = ? AND epoch < ? ORDER BY epoch",
        (question.id, question.version, epoch),
    )
    return [row[0] for row in rows]


def awaits(connection: sqlite3.Connection, question: Question) -> bool:
    """Tell whether some epoch was seen for which there is no report yet."""
    row = connection.execute(
        "SELECT 1 FROM seen WHERE question = ? AND version = ? LIMIT 1",
        (question.id, question.version),
    ).fetchone()
    return row is not None


def chosen_level(connection: sqlite3.Connection | None) -> str:
    """Return the level that the person chose last; empty before any choice."""
    if connection is None:
        return ""
    row = connection.execute("SELECT value FROM meta WHERE name = 'level'").fetchone()
    return "" if row is None else str(row[0])


def choose_level(connection: sqlite3.Connection, level: str) -> None:
    """Keep the person's choice of a level; it outlives opting out."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('level', ?)", (level,))


def wipe(connection: sqlite3.Connection) -> None:
    """Delete what would still be sent or recognised; what was spent or used stays."""
    for statement in ("DELETE FROM outbox", "DELETE FROM tags", "DELETE FROM seen"):
        connection.execute(statement)

"""The facts in the database that a report depends on, read by one statement.

A statement costs about as much as what it looks up here, and a report asks for six such facts.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from deniable.client import consent, history, ledger, outbox
from deniable.protocol import Question


class Standing(NamedTuple):
    """The facts about a question and an epoch.

    Attributes:
        consent: the stored word about consent; None if there is none.
        fetched: 1 if a fetched version of any question was ever answered, else 0.
        pinned: the digest to which the question's version is bound; None before its first report.
        used: 1 if the question has its report, in this epoch or ever, else 0.
        waiting: the number of reports in the outbox.
        spent: the micros disclosed so far, over all questions.
    """

    consent: str | None
    fetched: int
    pinned: bytes | None
    used: int
    waiting: int
    spent: int


def _statement(used: str) -> str:
    facts = (
        consent.STORED,
        f"EXISTS ({history.ANY_FETCHED})",
        history.PINNED,
        f"EXISTS ({used})",
        outbox.WAITING,
        ledger.TOTAL,
    )
    return f"SELECT {', '.join(f'({fact})' for fact in facts)}"


# Two statements: with `epoch = ? OR ?` SQLite would look at every epoch that was ever used.
_IN_EPOCH = _statement(history.USED_IN)
_EVER = _statement(history.USED_EVER)


def standing_of(connection: sqlite3.Connection, question: Question, epoch: int) -> Standing:
    """Return the facts, within the caller's transaction."""
    version = question.version
    key = (history.pin_name(question), version, question.id, version)
    if question.repeat == "once":
        row = connection.execute(_EVER, key).fetchone()
    else:
        row = connection.execute(_IN_EPOCH, (*key, epoch)).fetchone()
    return Standing(*row)

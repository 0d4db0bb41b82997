"""What this device has disclosed: epsilon per question, added up and never forgotten.

What a report costs follows from `protocol/composition.py`: every field pays either once per
distinct answer, which a tag remembers, or in every report.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deniable.client import memo
from deniable.protocol import Answer, Question, composition
from deniable.protocol.epsilon import MICRO


@dataclass(frozen=True)
class Charge:
    """What a report costs: epsilon in micros, the answers paid for, and tags to remember them."""

    micros: int
    answers: int
    tags: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class QuestionDisclosed:
    """What was disclosed about one question, all its versions together.

    Attributes:
        question: its id.
        reports: reports made.
        answers: answers paid for: distinct ones where there is a permanent response; elsewhere
            every report counts, since nothing is kept that could tell two answers apart.
        micros: epsilon in millionths, exact.
    """

    question: str
    reports: int
    answers: int
    micros: int

    @property
    def epsilon(self) -> float:
        """Epsilon, rounded up to thousandths."""
        return round_up(self.micros)


@dataclass(frozen=True)
class Disclosed:
    """What a device has disclosed, and the most it ever will."""

    questions: tuple[QuestionDisclosed, ...]
    ceiling: float

    @property
    def epsilon(self) -> float:
        """The sum over all questions, rounded up to thousandths."""
        return round_up(sum(question.micros for question in self.questions))

    def __str__(self) -> str:
        lines = [
            f"{q.question}: epsilon {q.epsilon:.3f} in {q.reports} reports of {q.answers} answers"
            for q in self.questions
        ]
        return "\n".join([*lines, f"total: epsilon {self.epsilon:.3f} of {self.ceiling:g}"])


def round_up(micros: int) -> float:
    """Return micros as a number of at most three decimals, never below the true one."""
    return -(-micros // 1_000) * 1_000 / MICRO


def charge_of(
    question: Question,
    answers: Sequence[Answer],
    secret: bytes,
    known: Callable[[bytes], bool],
) -> Charge:
    """Return what a report of these answers costs, given which tags are known already."""
    new, tags = [], []
    for field, answer in zip(question.fields, answers, strict=True):
        if not composition.field_cost(question, field).per_value:
            new.append(True)
            continue
        tag = memo.tag(secret, question, field, answer)
        new.append(not known(tag))
        if new[-1]:
            tags.append(tag)
    return Charge(composition.report_cost(question, new), sum(new), tuple(tags))


def is_known(connection: sqlite3.Connection, tag: bytes) -> bool:
    """Tell whether the answer with this tag was paid for."""
    row = connection.execute("SELECT 1 FROM tags WHERE tag = ?", (tag,)).fetchone()
    return row is not None


def total(connection: sqlite3.Connection) -> int:
    """Return the micros disclosed so far, over all questions."""
    row = connection.execute("SELECT COALESCE(SUM(micros), 0) FROM ledger").fetchone()
    return int(row[0])


def add(connection: sqlite3.Connection, question: Question, charge: Charge) -> None:
    """Enter a report and its charge."""
    connection.executemany("INSERT INTO tags VALUES (?)", [(tag,) for tag in charge.tags])
    connection.execute(
        "INSERT INTO ledger VALUES (?, 1, ?, ?) ON CONFLICT (question) DO UPDATE"
        " SET reports = reports + 1, answers = answers + excluded.answers,"
        " micros = micros + excluded.micros",
        (question.id, charge.answers, charge.micros),
    )


def disclosed(connection: sqlite3.Connection | None, ceiling: float) -> Disclosed:
    """Return the whole ledger, readable."""
    if connection is None:
        return Disclosed((), ceiling)
    rows = connection.execute("SELECT question, reports, answers, micros FROM ledger")
    return Disclosed(tuple(QuestionDisclosed(*row) for row in rows), ceiling)

"""The ledger of disclosed epsilon: a sum per question that is never forgotten.

The cost of a report follows from `protocol/composition.py`: every field pays either once per
distinct answer, which a tag remembers, or in every report.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from deniable.client.encode import tag
from deniable.protocol import Answer, Question, composition
from deniable.protocol.epochs import days_of
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen

if TYPE_CHECKING:
    from deniable.protocol.windows import Window


TOTAL = "SELECT COALESCE(SUM(micros), 0) FROM ledger"
"""Asks for the micros disclosed so far, over all questions."""

KNOWN = "SELECT 1 FROM tags WHERE tag = ?"
"""Asks whether the answer with a tag was paid for."""

_ORIGIN = 1 << 40
"""The number from which the sums of `spent` are counted: see schema_2.sql."""

_ONTO = (
    " ON CONFLICT (question, first, last) DO UPDATE SET reports = reports + 1,"
    " answers = answers + excluded.answers - (1 << 40),"
    " micros = micros + excluded.micros - (1 << 40)"
)
_ADD_FREE = f"INSERT INTO spent VALUES (?, 0, 0, ?, ?, ?){_ONTO}"  # noqa: S608 - constants alone
# The days first: after the row of a new question, theirs would say that it was the first to pay.
_ADD_CHARGED = _ADD_FREE.replace("VALUES", "VALUES ('', ?, ?, NULL, NULL, ?),")


@frozen
class Charge:
    """The cost of a report: epsilon in micros, the answers paid for, and tags to remember them."""

    micros: int
    answers: int
    tags: tuple[bytes, ...] = ()


@frozen
class QuestionDisclosed:
    """The disclosed epsilon of one question, all its versions together.

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


@frozen
class Disclosed:
    """The disclosed epsilon of a device, and the most that it will ever disclose.

    Attributes:
        questions: one line per question.
        ceiling: the most epsilon of all questions, ever.
        window: the budget per consecutive days; None without such a budget.
        fullest: micros of the window that has spent the most so far.
    """

    questions: tuple[QuestionDisclosed, ...]
    ceiling: float
    window: Window | None = None
    fullest: int = 0

    @property
    def epsilon(self) -> float:
        """The sum over all questions, rounded up to thousandths."""
        return round_up(sum(question.micros for question in self.questions))

    def __str__(self) -> str:
        from deniable._words import epsilon_text, plural  # here: few clients print

        lines = [
            f"{q.question}: epsilon {epsilon_text(q.epsilon)} in {plural(q.reports, 'report')} of "
            f"{plural(q.answers, 'answer')}"
            for q in self.questions
        ]
        lines.append(f"total: epsilon {epsilon_text(self.epsilon)} of {epsilon_text(self.ceiling)}")
        if self.window is not None:
            lines.append(
                f"any {plural(self.window.epochs, 'day')}: epsilon "
                f"{epsilon_text(round_up(self.fullest))} at most so "
                f"far, of {epsilon_text(self.window.budget / MICRO)}"
            )
        return "\n".join(lines)


def round_up(micros: int) -> float:
    """Return micros as a number of at most three decimals, never below the true one."""
    return -(-micros // 1_000) * 1_000 / MICRO


def charge_of(
    question: Question,
    answers: Sequence[Answer],
    secret: bytes,
    known: Callable[[bytes], bool],
) -> Charge:
    """Return the cost of a report of these answers; answers with a known tag are paid already."""
    new, tags = [], []
    costs = [composition.field_cost(question, field) for field in question.fields]
    for field, answer, cost in zip(question.fields, answers, costs, strict=True):
        if not cost.per_value:
            new.append(True)
            continue
        own = tag(secret, question, field, answer)
        new.append(not known(own))
        if new[-1]:
            tags.append(own)
    return Charge(composition.cost_of(costs, new), sum(new), tuple(tags))


def is_known(connection: sqlite3.Connection, tag: bytes) -> bool:
    """Tell whether the answer with this tag was paid for."""
    # For bytes, sqlite3 first looks for an adapter, and fails; for bytearrays it does not.
    row = connection.execute(KNOWN, (bytearray(tag),)).fetchone()
    return row is not None


def fits(
    connection: sqlite3.Connection,
    window: Window | None,
    question: Question,
    epoch: int,
    micros: int,
) -> bool:
    """Tell whether a report of an epoch leaves every window of days within its budget.

    Edge cases: a report that costs nothing always fits, and all do without a budget.
    """
    if window is None or not micros:
        return True
    from deniable.protocol.windows import Span

    first, last = days_of(epoch, question.epoch)
    near = connection.execute(
        "SELECT first, last, micros FROM charges WHERE last > ? AND first < ?",
        (first - window.epochs, last + window.epochs),
    )
    return micros <= window.room((Span(*row) for row in near), first, last)


def add(connection: sqlite3.Connection, question: Question, epoch: int, charge: Charge) -> None:
    """Enter a report and its charge, for ever and for the days of its epoch."""
    for own in charge.tags:
        connection.execute("INSERT INTO tags VALUES (?)", (own,))
    entry = (question.id, _ORIGIN + 1, _ORIGIN + charge.answers, _ORIGIN + charge.micros)
    if charge.micros:
        days = (*days_of(epoch, question.epoch), _ORIGIN + charge.micros)
        connection.execute(_ADD_CHARGED, (*days, *entry))
    else:
        connection.execute(_ADD_FREE, entry)


def mark_paid(connection: sqlite3.Connection, mark: bytes) -> None:
    """Enter that a value of a question was paid for, so that it sets nothing aside any more."""
    connection.execute("INSERT OR IGNORE INTO tags VALUES (?)", (mark,))


def disclosed(
    connection: sqlite3.Connection | None, ceiling: float, window: Window | None = None
) -> Disclosed:
    """Return the whole ledger, readable."""
    if connection is None:
        return Disclosed((), ceiling, window)
    rows = connection.execute("SELECT question, reports, answers, micros FROM ledger")
    questions = tuple(QuestionDisclosed(*row) for row in rows)
    if window is None:
        return Disclosed(questions, ceiling)
    spans = connection.execute("SELECT first, last, micros FROM charges")
    from deniable.protocol.windows import Span

    return Disclosed(questions, ceiling, window, window.fullest(Span(*row) for row in spans))

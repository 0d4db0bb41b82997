"""Reservations: the questions that a device can pay for follow from its secret, not from the calls.

The rule (`spec/protocol.md`, section Time, point 7). A device draws an order of the survey's
questions from its secret. Of the ceiling, what is spent is spent. From the rest every question, in
that order, sets aside what one unchanged value of it costs, unless that was paid already. One whose
share does not fit sets nothing aside and is refused; later ones may still fit. Only what is left
then pays for further epochs, changed values and questions that set nothing aside.

Guarantees: no sum exceeds the ceiling. While survey, ceiling and secret stay, who pays first makes
no difference: paying takes the same amount off the room and from the list, and `first_fit` then
lets the same others in (see there).

Which questions set something aside: the newest version of each that is asked and has not expired;
and, until it is reported, any version for which a report of the absent answer is due. Not one that
the device is not asked, nor a version that it may not answer beside another (`check_versions`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deniable.client import history
from deniable.client.encode import TAG_BYTES, is_asked
from deniable.protocol import Question, Survey
from deniable.protocol.composition import first_cost, first_fit
from deniable.protocol.epochs import day_of
from deniable.protocol.frozen import frozen
from deniable.protocol.prf import derive_key

_AT_ONCE = 500
"""The most tags in one statement; SQLite may allow no more than 999."""


def order_word(secret: bytes, question_id: str) -> int:
    """Return the number by which a device puts a question into its order."""
    return int.from_bytes(derive_key(secret, b"order", question_id.encode())[:8], "little")


def in_order(secret: bytes, questions: Iterable[Question]) -> list[Question]:
    """Return questions in the order of a device: of all of them, the one that its secret draws.

    Versions of one question stand together, and a question that joins leaves the others in order.
    """
    return sorted(questions, key=lambda q: (order_word(secret, q.id), q.id.encode(), q.version))


def paid_mark(secret: bytes, question: Question) -> bytes:
    """Return the 16 bytes that say, among the tags, that a value of the question was paid for.

    It goes with the tags at an opt-out: a new secret has new permanent responses, which cost anew.
    """
    version = question.version.to_bytes(4, "little")
    key = derive_key(secret, b"paid", question.id.encode(), version, question.digest)
    return key[:TAG_BYTES]


@frozen
class Terms:
    """The terms at the moment of a report.

    Attributes:
        survey: the questions.
        ceiling: the most micros that are ever disclosed.
        day: the number of the UTC day.
        own: the digests that the app bundles.
        base: the hash of the app's survey.
    """

    survey: Survey
    ceiling: int
    day: int
    own: frozenset[bytes]
    base: bytes


@frozen
class Reservations:
    """The micros that questions have set aside and not paid yet, by (id, version).

    Attributes:
        held: those that fit.
        refused: those that do not; they are not answered.
    """

    held: dict[tuple[str, int], int]
    refused: frozenset[tuple[str, int]]

    def room(self, question: Question, free: int) -> int:
        """Return the most micros that a report to a question may cost; `free` are unspent."""
        key = (question.id, question.version)
        if key in self.refused:
            return 0
        return free - sum(micros for other, micros in self.held.items() if other != key)


class _Place(NamedTuple):
    """A question in a device's order, with the facts about it that do not change."""

    question: Question
    mark: bytes
    cost: int
    asked: bool
    last_day: int


class Reserving:
    """Sets aside, for one survey and one secret after the other."""

    def __init__(self) -> None:
        self._known: tuple[Survey, int] | None = None
        self._places: list[_Place] = []
        self._marks: dict[bytes, bytes] = {}
        self._costs: dict[tuple[str, int], int] = {}
        self._all = 0

    def take_up(self, survey: Survey, secret: bytes) -> None:
        """Put the questions of a survey into the order of a secret, which the rest is about."""
        self._in_order(survey, secret)

    def has_plenty(self, question: Question, micros: int, free: int) -> bool:
        """Tell whether a report fits, whatever else is or was paid for; False says nothing.

        Let C be the sum of what all questions cost, and c the question's own cost in it. At most C
        is set aside, so that with C <= free every question fits (`first_fit`) and none is refused.
        At most C - c is set aside for others, so that with C - c + micros <= free the room of the
        question, which is at least free - (C - c), holds the report.

        Args:
            question: the one to report.
            micros: the cost of the report.
            free: unspent micros.

        Cost: a few additions, where `now` takes statements and microseconds for each question.
        """
        own = self._costs.get((question.id, question.version), 0)
        return self._all <= free and self._all - own + micros <= free

    def last_mark(self, question: Question) -> bytes:
        """Return the question's `paid_mark` under the secret taken up last; empty without one."""
        return self._marks.get(question.digest, b"")

    def mark(self, secret: bytes, question: Question) -> bytes:
        """Return the question's `paid_mark`, computed once; the secret is the one taken up."""
        found = self._marks.get(question.digest)
        return paid_mark(secret, question) if found is None else found

    def now(
        self,
        connection: sqlite3.Connection,
        terms: Terms,
        secret: bytes,
        free: int,
        fetched: frozenset[str],
    ) -> Reservations:
        """Return the reservations out of the `free` micros, which are unspent.

        Args:
            connection: within the caller's transaction.
            terms: those of the moment.
            secret: the device's.
            free: unspent micros.
            fetched: what `history.fetched_ones` returns.

        Cost: some HMACs for each question of a new survey; then a few statements.
        """
        waiting = [
            place
            for place in self._in_order(terms.survey, secret)
            if _reserves(connection, place, terms, fetched)
        ]
        found = _found(connection, [place.mark for place in waiting])
        unpaid = [
            place
            for place in waiting
            if place.mark not in found and not _over(connection, place.question)
        ]
        held, refused = {}, set()
        fits = first_fit((place.cost for place in unpaid), free)
        for (question, _, cost, _, _), fitting in zip(unpaid, fits, strict=True):
            key = (question.id, question.version)
            if fitting:
                held[key] = cost
            else:
                refused.add(key)
        return Reservations(held, frozenset(refused))

    def _in_order(self, survey: Survey, secret: bytes) -> list[_Place]:
        # What is kept is a hash of the secret's 256 random bits, not the secret. Python's own is
        # enough, since nobody chooses secrets; one of cryptography costs as much as the rest here.
        key = hash(secret)
        if self._known is None or self._known[0] is not survey or self._known[1] != key:
            asked = {(q.id, q.version) for q in survey.asked}
            self._places = [
                _Place(
                    question,
                    paid_mark(secret, question),
                    first_cost(question),
                    (question.id, question.version) in asked,
                    day_of(question.expires),
                )
                for question in in_order(secret, survey.known)
                if is_asked(secret, question)
            ]
            self._marks = {place.question.digest: place.mark for place in self._places}
            self._costs = {(p.question.id, p.question.version): p.cost for p in self._places}
            self._all = sum(place.cost for place in self._places)
            self._known = (survey, key)
        return self._places


def _reserves(
    connection: sqlite3.Connection, place: _Place, terms: Terms, fetched: frozenset[str]
) -> bool:
    """Tell whether a value of the question may still be recorded, or its absence is due."""
    question = place.question
    may_record = place.asked and terms.day <= place.last_day
    if not may_record and not (question.absent and history.awaits(connection, question)):
        return False
    return history.may_answer(connection, question, terms.own, terms.base, fetched)


def _over(connection: sqlite3.Connection, question: Question) -> bool:
    """Tell whether the question is asked once and has its report: it will cost nothing again."""
    return question.repeat == "once" and history.is_used(connection, question, 0)


def _found(connection: sqlite3.Connection, tags: Sequence[bytes]) -> set[bytes]:
    """Return those of these tags that are stored."""
    found: set[bytes] = set()
    for start in range(0, len(tags), _AT_ONCE):
        part = tags[start : start + _AT_ONCE]
        places = ", ".join("?" * len(part))
        statement = f"SELECT tag FROM tags WHERE tag IN ({places})"  # noqa: S608 - places alone
        rows = connection.execute(statement, part)
        found.update(bytes(row[0]) for row in rows)
    return found

"""From an answer to a report in the outbox, in one transaction that checks and marks everything."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from deniable.client import history, ledger, outbox
from deniable.client.consent import Consent, ConsentBook
from deniable.client.database import Database
from deniable.client.encode import encode_answers
from deniable.client.randomness import SystemDraws
from deniable.client.refusals import refused
from deniable.client.reservation import Reserving, Terms, paid_mark
from deniable.client.secret import Secret
from deniable.protocol import Answer, Question, Report
from deniable.protocol.frozen import frozen
from deniable.protocol.report import ID_BYTES
from deniable.protocol.windows import Window


@frozen
class Entry:
    """An answer on its way to a report. Its repr shows the question only."""

    question: Question
    answers: tuple[Answer, ...]
    epoch: int

    def __repr__(self) -> str:
        return f"Entry({self.question.id!r}, <hidden>)"


class Recorder:
    """Makes reports.

    Guarantees: at most one report per question, version and epoch (or ever, if asked once), also
    among processes that share the directory; a report exists exactly when its epoch is marked as
    used and its epsilon is in the ledger. A refused answer spends nothing. Which questions the
    ceiling leaves out follows from the secret, not from the order of calls
    (`client/reservation.py`); the budget per window is for whoever comes first.
    """

    def __init__(
        self,
        database: Database,
        secret: Secret,
        consent: ConsentBook,
        terms: Callable[[], Terms],
        window: Window | None,
        room: int,
        entropy: SystemDraws,
    ) -> None:
        self._database = database
        self._secret = secret
        self._consent = consent
        self._terms = terms
        self._reserving = Reserving()
        self._window = window
        self._room = room
        self._entropy = entropy

    def commit(self, entry: Entry) -> None:
        """Make the report of an entry and let it wait in the outbox.

        Cost: one durable write.

        Raises:
            RecordRefused: with its reason; nothing was written or spent.
            StoreError: if the disk fails; the same.
        """
        if self._consent.current() is not Consent.GRANTED:  # before any file is made
            raise refused("no_consent")
        with self._database.transaction() as connection:
            if not self._consent.granted(connection):
                raise refused("no_consent")
            self._check(connection, entry)
            self._write(connection, entry)

    def _check(self, connection: sqlite3.Connection, entry: Entry) -> None:
        question, epoch = entry.question, entry.epoch
        history.check_pin(connection, question)
        if history.is_used(connection, question, epoch) or _is_missed(connection, entry):
            raise refused("answered")
        if not outbox.has_room(connection, self._room):
            raise refused("outbox_full")

    def _write(self, connection: sqlite3.Connection, entry: Entry) -> None:
        question, secret = entry.question, self._secret.load()
        charge = ledger.charge_of(
            question, entry.answers, secret, lambda tag: ledger.is_known(connection, tag)
        )
        if not self._affordable(connection, question, secret, charge.micros):
            raise refused("ceiling")
        if not ledger.fits(connection, self._window, question, entry.epoch, charge.micros):
            raise refused("window")
        record = encode_answers(question, entry.answers, secret, self._entropy)
        report = Report(
            question.id,
            question.version,
            question.digest,
            entry.epoch,
            self._entropy.token(ID_BYTES),
            record,
        )
        history.mark_used(connection, question, entry.epoch)
        ledger.add(connection, question, entry.epoch, charge)
        if question.repeat != "once":  # of that one the used epochs say the same
            ledger.mark_paid(connection, paid_mark(secret, question))
        outbox.put(connection, question, report)

    def _affordable(
        self, connection: sqlite3.Connection, question: Question, secret: bytes, micros: int
    ) -> bool:
        """Tell whether the ceiling allows a report, given what other questions set aside.

        Edge cases: a report that costs nothing is made even if the ceiling was lowered since.
        """
        if not micros:
            return True
        terms = self._terms()
        free = terms.ceiling - ledger.total(connection)
        if micros > free:
            return False
        reservations = self._reserving.now(connection, terms, secret, free)
        return micros <= reservations.room(question, free)


def _is_missed(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Tell whether the answer comes after the one epoch in which it was asked for.

    A question that is asked once and always sent has its report from the first epoch that the
    device saw, absent or not: a later one would show that something was recorded.
    """
    question = entry.question
    if question.repeat != "once" or not question.absent:
        return False
    return bool(history.seen_before(connection, question, entry.epoch))

"""From an answer to a report in the outbox, in one transaction that checks and marks everything."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from deniable.client import history, ledger, outbox
from deniable.client.consent import STORED, Consent, ConsentBook
from deniable.client.counters import refused
from deniable.client.database import Database
from deniable.client.encode import encode_answers, is_asked
from deniable.client.limits import Limits
from deniable.client.randomness import SystemDraws
from deniable.client.reservation import Reserving, Terms
from deniable.client.secret import Secret
from deniable.protocol import Answer, Question, Report, Strings, StringSets
from deniable.protocol.domain import string_key
from deniable.protocol.frozen import frozen
from deniable.protocol.report import ID_BYTES

if TYPE_CHECKING:
    from deniable.protocol.windows import Window

_NONE: frozenset[str] = frozenset()
Clock = Callable[[], datetime]
"""Returns the time, with a time zone."""


def utc_now() -> datetime:
    """Return the time of the system."""
    return datetime.now(UTC)


@frozen
class Entry:
    """An answer on its way to a report. Its repr shows the question only."""

    question: Question
    answers: tuple[Answer, ...]
    epoch: int

    def __repr__(self) -> str:
        return f"Entry({self.question.id!r}, <hidden>)"


def was_fitted(question: Question, value: object, answers: Sequence[Answer]) -> bool:
    """Tell whether an answer is another string than the value was."""
    for field, answer in zip(question.fields, answers, strict=True):
        if not (isinstance(field.domain, Strings) and field.domain.alphabet):
            continue
        text = value.get(field.name) if isinstance(value, Mapping) else value
        if isinstance(text, str) and string_key(text) != answer.key:
            return True
    return False


def was_larger(question: Question, answers: Sequence[Answer]) -> bool:
    """Tell whether a set of strings had more members than its places."""
    for field, answer in zip(question.fields, answers, strict=True):
        if isinstance(field.domain, StringSets) and len(answer.texts) > field.domain.most:
            return True
    return False


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
        limits: Limits,
        clock: Clock,
        entropy: SystemDraws,
        segments: Mapping[str, str],
    ) -> None:
        self._database = database
        self._secret = secret
        self._consent = consent
        self._terms = terms
        self._reserving = Reserving()
        self._window = window
        self._limits = limits
        self._clock = clock
        self._entropy = entropy
        self._segments = segments

    def commit(self, entry: Entry) -> None:
        """Make the report of an entry and let it wait in the outbox.

        Cost: one durable write.

        Raises:
            RecordRefused: with its reason; nothing was written or spent.
            StoreError: if the disk fails; the same.
        """
        # Where a question is always sent, what was seen is deleted: it would stay in the journal.
        only_adds = not entry.question.absent
        with self._database.transaction(only_adds=only_adds, making=self._may_make) as connection:
            mark = self._reserving.last_mark(entry.question)
            standing = standing_of(connection, entry.question, entry.epoch, mark)
            if not self._consent.granted_by(standing.consent):
                raise refused("no_consent")
            terms = self._terms()
            fetched = self._check(connection, entry, terms, standing)
            self._write(connection, entry, terms, fetched, standing, mark)

    def _may_make(self) -> None:
        """Refuse to make a file without consent; where there is one, the transaction decides."""
        if self._consent.current() is not Consent.GRANTED:
            raise refused("no_consent")

    def _check(
        self, connection: sqlite3.Connection, entry: Entry, terms: Terms, standing: Standing
    ) -> frozenset[str]:
        """Refuse what history or the outbox stands against; return what `check_versions` does."""
        question = entry.question
        if question.level and history.chosen_level(connection) not in ("", question.level):
            raise refused("level")
        history.check_pin(connection, question, standing.pinned)
        fetched = history.fetched_ones(connection, terms.base) if standing.fetched else _NONE
        fetched = history.check_versions(connection, question, terms.own, terms.base, fetched)
        if standing.used or _is_missed(connection, entry):
            raise refused("answered")
        if standing.waiting >= self._limits.outbox:
            raise refused("outbox_full")
        return fetched

    def _write(
        self,
        connection: sqlite3.Connection,
        entry: Entry,
        terms: Terms,
        fetched: frozenset[str],
        standing: Standing,
        looked_up: bytes,
    ) -> None:
        question, secret = entry.question, self._secret.load()
        if not is_asked(secret, question):
            raise refused("not_asked")
        charge = ledger.charge_of(
            question, entry.answers, secret, lambda tag: ledger.is_known(connection, tag)
        )
        self._reserving.take_up(terms.survey, secret)
        free = terms.ceiling - standing.spent
        self._afford(connection, question, terms, secret, charge.micros, free, fetched)
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
            self.combination(question),
        )
        history.mark_used(connection, question, entry.epoch)
        ledger.add(connection, question, entry.epoch, charge)
        if charge.micros and question.repeat != "once":  # of that one the used epochs say the same
            mark = self._reserving.mark(secret, question)
            # Looked up with everything else, unless the survey or the secret is another one now.
            if not (standing.paid if mark == looked_up else ledger.is_known(connection, mark)):
                ledger.mark_paid(connection, mark)
        outbox.put(connection, question, report, self._due())

    def _due(self) -> int:
        """Draw the second from which a report made now may leave."""
        delay = outbox.draw_delay(self._limits.delay_seconds, self._entropy)
        return int(self._clock().timestamp()) + delay

    def combination(self, question: Question) -> str:
        """Return the device's segments as its report carries them."""
        if not question.segments:
            return ""
        from deniable.protocol.segments import own_combination

        return own_combination(question.segments, self._segments)

    def _afford(
        self,
        connection: sqlite3.Connection,
        question: Question,
        terms: Terms,
        secret: bytes,
        micros: int,
        free: int,
        fetched: frozenset[str],
    ) -> None:
        """Refuse what the ceiling forbids, given what other questions set aside.

        Edge cases: a report that costs nothing is made even if the ceiling was lowered since.
        """
        if not micros:
            return
        if micros > free:
            raise refused("ceiling")
        if self._reserving.has_plenty(question, micros, free):
            return
        reservations = self._reserving.now(connection, terms, secret, free, fetched)
        if micros > reservations.room(question, free):
            raise refused("ceiling")


def _is_missed(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Tell whether the answer comes after the one epoch in which it was asked for.

    A question that is asked once and always sent has its report from the first epoch that the
    device saw, absent or not: a later one would show that something was recorded.
    """
    question = entry.question
    if question.repeat != "once" or not question.absent:
        return False
    return bool(history.seen_before(connection, question, entry.epoch))


class Standing(NamedTuple):
    """The facts in the database that a report depends on.

    One statement reads them all: it costs about as much as what it looks up here.

    Attributes:
        consent: the stored word about consent; None if there is none.
        fetched: 1 if a fetched version of any question was ever answered, else 0.
        pinned: the digest to which the question's version is bound; None before its first report.
        used: 1 if the question has its report, in this epoch or ever, else 0.
        waiting: the number of reports in the outbox.
        spent: the micros disclosed so far, over all questions.
        paid: 1 if the mark that was looked up is among the tags, else 0.
    """

    consent: str | None
    fetched: int
    pinned: bytes | None
    used: int
    waiting: int
    spent: int
    paid: int


def _statement(used: str) -> str:
    facts = (
        STORED,
        f"EXISTS ({history.ANY_FETCHED})",
        history.PINNED,
        f"EXISTS ({used})",
        outbox.WAITING,
        ledger.TOTAL,
        f"EXISTS ({ledger.KNOWN})",
    )
    return f"SELECT {', '.join(f'({fact})' for fact in facts)}"


# Two statements: with `epoch = ? OR ?` SQLite would look at every epoch that was ever used.
_IN_EPOCH = _statement(history.USED_IN)
_EVER = _statement(history.USED_EVER)


def standing_of(
    connection: sqlite3.Connection, question: Question, epoch: int, mark: bytes
) -> Standing:
    """Return the facts, within the caller's transaction; `mark` is the tag to look up."""
    version = question.version
    key = (history.pin_name(question), version, question.id, version)
    # For bytes, sqlite3 first looks for an adapter, and fails; for bytearrays it does not.
    if question.repeat == "once":
        row = connection.execute(_EVER, (*key, bytearray(mark))).fetchone()
    else:
        row = connection.execute(_IN_EPOCH, (*key, epoch, bytearray(mark))).fetchone()
    return Standing(*row)

"""The absent answer: where a question is always sent, silence must not say anything either."""

from __future__ import annotations

from deniable.client import history
from deniable.client.consent import Consent, ConsentBook
from deniable.client.counters import Counters
from deniable.client.database import Database
from deniable.client.recorder import Entry, Recorder
from deniable.errors import RecordRefused
from deniable.protocol import ABSENT, Question, Survey
from deniable.protocol.epochs import day_of, days_of, epoch_of


class Absences:
    """Notes the epochs in which the app ran, and reports the absent answer for those it missed.

    Guarantees: an absent report is made only for an epoch that the app has seen, has ended and
    has no report. A clock that goes a year ahead and returns makes no flood of them.

    Edge cases: an epoch that began before the question expired still gets its absent report
    afterwards, or else its silence would tell. One that ended longer ago than the collector
    accepts gets none, and is counted as stale.
    """

    def __init__(
        self,
        database: Database,
        recorder: Recorder,
        consent: ConsentBook,
        counters: Counters,
        stale_days: int,
    ) -> None:
        self._database = database
        self._recorder = recorder
        self._consent = consent
        self._counters = counters
        self._stale_days = stale_days
        self._looked: tuple[Survey, int] | None = None
        self._always: tuple[Survey, list[Question]] | None = None

    def look(self, survey: Survey, day: int) -> None:
        """Do all that is due on `day`; at once if it was done already.

        Raises:
            StoreError: if the disk fails; the rest is done next time.
        """
        if self._looked is not None and self._looked[0] is survey and self._looked[1] == day:
            return
        asked = self._always_sent(survey)
        if asked:
            if self._consent.current() is not Consent.GRANTED:
                return
            newest = {(question.id, question.version) for question in survey.asked}
            for question, epoch in self._note(asked, newest, day):
                self._close(question, epoch, day)
        self._looked = (survey, day)

    def again(self) -> None:
        """Look anew next time, as after a change of consent."""
        self._looked = None

    def _always_sent(self, survey: Survey) -> list[Question]:
        """Return the questions that are always sent, found once for a survey.

        Earlier versions too: an epoch that was seen under one still gets its report.
        """
        if self._always is None or self._always[0] is not survey:
            self._always = (survey, [question for question in survey.known if question.absent])
        return self._always[1]

    def _note(
        self, asked: list[Question], newest: set[tuple[str, int]], day: int
    ) -> list[tuple[Question, int]]:
        """Mark today's epochs as seen; return the ended ones that have no report."""
        ended = []
        with self._database.transaction() as connection:
            if not self._consent.granted(connection):
                return []
            for question in asked:
                epoch = epoch_of(day, question.epoch)
                missed = history.seen_before(connection, question, epoch)
                ended += [(question, before) for before in missed]
                open_today = 0 <= day <= day_of(question.expires)
                asked_today = (question.id, question.version) in newest
                if open_today and asked_today and not (question.repeat == "once" and missed):
                    history.mark_seen(connection, question, epoch)
        return ended

    def _close(self, question: Question, epoch: int, day: int) -> None:
        if days_of(epoch, question.epoch)[1] + self._stale_days < day:
            self._give_up(question, epoch, "stale")
            return
        try:
            self._recorder.commit(Entry(question, question.answers(ABSENT), epoch))
        except RecordRefused as refusal:
            self._give_up(question, epoch, refusal.reason)

    def _give_up(self, question: Question, epoch: int, reason: str) -> None:
        if reason != "answered":  # a report was made meanwhile: nothing is missing
            self._counters.add(question.id, reason)
        with self._database.transaction() as connection:
            history.forget_seen(connection, question, epoch)

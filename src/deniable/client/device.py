"""The device: all work in one client directory, in whichever thread calls."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from deniable.client import history, outbox, surveys
from deniable.client.absence import Absences
from deniable.client.consent import Consent, ConsentBook
from deniable.client.counters import LOGGER, Counters, reason_of, refused, write
from deniable.client.database import Database
from deniable.client.limits import Limits
from deniable.client.randomness import SystemDraws
from deniable.client.recorder import Clock, Entry, Recorder
from deniable.client.reservation import Terms
from deniable.client.secret import Secret, SecretFile
from deniable.client.surveys import Bundle, Trusted
from deniable.client.transport import Transport
from deniable.errors import InvalidSurvey, RecordRefused, StoreError
from deniable.protocol import Question
from deniable.protocol.epochs import day_number

if TYPE_CHECKING:
    from deniable.client.upload import Uploader
    from deniable.protocol.windows import Window

_ANY_EPOCH = -1
_SOON = 0.01


class Device:
    """The parts of a client, put together. Its methods count what goes wrong and do not raise.

    Args:
        bundled: the survey that the app brings.
        directory: where the database and the secret live.
        consent: the consent that the app states; UNKNOWN where it states none.
        ceiling: the most epsilon that will ever be disclosed, in micros, if the app says it.
        window: a budget of epsilon per consecutive days; None for no such budget.
        secret: the account secret, or None for one of the device's own.
        transport: the way to the collector, or None to let reports pile up.
        headers: sent with every batch.
        segments: the labels that go with reports to questions that want them.
        trusted: the app's word for fetched surveys, see `surveys.narrowed`.
    """

    def __init__(
        self,
        bundled: Bundle,
        directory: Path,
        consent: Consent,
        ceiling: int | None,
        window: Window | None,
        secret: Secret | None,
        transport: Transport | None,
        headers: dict[str, str],
        limits: Limits,
        clock: Clock,
        segments: Mapping[str, str],
        trusted: Trusted,
    ) -> None:
        entropy = SystemDraws()
        own = SecretFile(directory, entropy)
        self._bundled = self._whole = bundled
        self._choice = ""
        self.bundle = bundled.at_level("")
        self.counters = Counters()
        self.database = Database(directory, limits.busy_seconds)
        self.consent = ConsentBook(self.database, own, consent)
        self._limits, self._clock, self._transport = limits, clock, transport
        self._ceiling, self._trusted = ceiling, trusted
        self._recorder = Recorder(
            self.database,
            secret or own,
            self.consent,
            self.terms,
            window,
            limits,
            clock,
            entropy,
            segments,
        )
        self._absences = Absences(
            self.database, self._recorder, self.consent, self.counters, limits.stale_days
        )
        self._headers = headers
        self._uploader: Uploader | None = None
        self._making = threading.Lock()
        self._answered: dict[tuple[str, int], int] = {}
        self._tidied = -1

    def start(self) -> None:
        """Carry out what the app says about consent, and take up a survey fetched earlier."""
        try:
            self.consent.start()
            self.consent.current()
            with self.database.reading() as connection:
                self._choice = history.chosen_level(connection)
                fetched = surveys.remembered(connection, self._bundled) or self._bundled
            self._take_up(surveys.narrowed(self._bundled, fetched, self._trusted)[0])
        except StoreError as error:
            self.counters.add("", reason_of(error))

    def _take_up(self, whole: Bundle) -> None:
        """Answer a survey from now on, at the level that the person chose."""
        self._whole, self.bundle = whole, whole.at_level(self._choice)

    def choose(self, level: str) -> None:
        """Answer at another level from now on, and keep that as soon as there is consent.

        Raises:
            InvalidParameter: if no question of the survey offers it.
            StoreError: if it could not be stored; it holds for this process all the same.
        """
        from deniable.protocol.levels import check_choice

        self._choice = check_choice(self._whole.survey.known, level)
        self._take_up(self._whole)
        if self.consent.current() is Consent.GRANTED:
            self._keep_choice()

    def _keep_choice(self) -> None:
        with self.database.transaction() as connection:
            history.choose_level(connection, self._choice)

    def _follow_choice(self) -> None:
        """Take up the level that another process has stored for this device meanwhile."""
        if self._whole.survey is self.bundle.survey:
            return  # no levels
        with self.database.reading() as connection:
            stored = history.chosen_level(connection)
        if stored not in ("", self._choice):
            self._choice = stored
            self._take_up(self._whole)

    def today(self) -> int:
        """Return the number of the UTC day by the client's clock."""
        return day_number(self._clock())

    def terms(self) -> Terms:
        """Return the terms that hold now: the survey, the ceiling and the day."""
        bundle = self.bundle
        own = self._bundled
        return Terms(bundle.survey, self.ceiling(bundle), self.today(), own.known, own.digest)

    def ceiling(self, bundle: Bundle | None = None) -> int:
        """Return the most micros that will ever be disclosed, under the survey answered now."""
        return surveys.ceiling_of(self._ceiling, self._bundled, bundle or self.bundle)

    def is_answered(self, question: Question, epoch: int) -> bool:
        """Tell from memory whether a question has its report: used epochs stay used."""
        return self._answered.get((question.id, question.version)) in (epoch, _ANY_EPOCH)

    def commit(self, entry: Entry) -> RecordRefused | None:
        """Make an entry's report; return why not, as an error that holds nothing else."""
        try:
            self._recorder.commit(entry)
            reason = ""
        except RecordRefused as refusal:
            reason = refusal.reason
        except StoreError as error:
            reason = reason_of(error)
        except Exception as error:
            # The host must not suffer from our mistakes. The type alone is logged: a message
            # could hold a value.
            LOGGER.warning("unexpected %s while recording", type(error).__name__)
            reason = "internal"
        if reason in ("", "answered"):
            question = entry.question
            once = question.repeat == "once"
            self._answered[question.id, question.version] = _ANY_EPOCH if once else entry.epoch
        if not reason:
            return None
        self.counters.add(entry.question.id, reason)
        if reason == "level":
            self._guarded(self._follow)
        return refused(reason)

    def look(self) -> None:
        """Note that the app runs today, and report the absent answer where it is due."""
        self._guarded(self._look)

    def cycle(self, hurry: bool = False) -> float:
        """Do what is due, sending at most one batch; return seconds to wait, 0 if there is more."""
        if self._guarded(lambda: self._work(hurry)):
            return 0.0
        return max(_SOON, min(self._limits.cycle_seconds, self._wait()))

    def send_all(self, everything: bool, timeout: float = math.inf) -> bool:
        """Do all that is due, each report at most once; `everything` does not wait to be due.

        Returns:
            True if nothing is left that could be sent today.
        """
        deadline = time.monotonic() + timeout
        if (uploader := self._upload()) is not None:
            uploader.begin_round(everything)
        while self.cycle(hurry=True) == 0.0 and time.monotonic() < deadline:
            pass
        return self.is_complete()

    def is_complete(self) -> bool:
        """Tell whether nothing is left that could be sent today."""
        return self._transport is None or self._guarded(self._nothing_due)

    def opt(self, granted: bool) -> None:
        """Opt in or out.

        Raises:
            StoreError: if it could not be stored; opting out holds for this process all the same.
        """
        self._absences.again()
        if granted:
            self.consent.opt_in()
            if self._choice:
                self._keep_choice()
        else:
            self.consent.opt_out()

    def refresh(self) -> bool:
        """Fetch the collector's survey; True if the client now has it."""
        try:
            if self._transport is None or self.consent.current() is not Consent.GRANTED:
                return False
            fetched = surveys.fetch(self._transport, self._whole)
            if fetched is not None:
                allowed, left_out = surveys.narrowed(self._bundled, fetched, self._trusted)
                for name in left_out:
                    known = self._bundled.survey.question(name) is not None
                    self.counters.add(name if known else "", "asks_more")
                self._take_up(allowed)
                with self.database.transaction() as connection:
                    surveys.remember(connection, self._bundled, fetched)
        except StoreError as error:
            self.counters.add("", reason_of(error))  # fetched, but not kept for the next start
        except InvalidSurvey:
            self.counters.add("", "bad_survey")
            return False
        except Exception:
            # The transport may be the app's own: whatever it raises, there is no new survey.
            self.counters.add("", "unreachable")
            return False
        return True

    def save(self) -> None:
        """Bring the counters to disk, if there is consent to write."""
        try:
            if self.consent.current() is Consent.GRANTED:
                self.counters.save(self.database)
        except StoreError:
            pass  # nobody is left to tell

    def forget_parent(self) -> None:
        """Leave the parent's connection, locks and counts alone, as a forked child must."""
        self.database.abandon()
        self.counters.forget()
        self._making = threading.Lock()
        if self._uploader is not None:
            self._uploader.unlock()

    def _upload(self) -> Uploader | None:
        """Return the way out, made when there is first something to do; None without a transport.

        An app that starts does not pay for it: it is imported in the thread that sends.
        """
        if self._uploader is None and self._transport is not None:
            from deniable.client.upload import Uploader

            with self._making:  # a flush and the thread must not have one each
                if self._uploader is None:
                    self._uploader = Uploader(
                        self.database,
                        self._transport,
                        self.consent,
                        self.counters,
                        self._limits,
                        self._clock,
                        self._headers,
                        self._by_digest,
                    )
        return self._uploader

    def _guarded(self, work: Callable[[], bool]) -> bool:
        """Do some work and return its answer; False, counted, if anything goes wrong."""
        try:
            return work()
        except StoreError as error:
            self.counters.add("", reason_of(error))
        except Exception as error:
            # As in commit; and a thread that dies would end all reporting.
            LOGGER.warning("unexpected %s in the client", type(error).__name__)
            self.counters.add("", "internal")
        return False

    def _by_digest(self, digest: bytes) -> Question | None:
        """Return the question with a digest, of all levels, asked now or earlier."""
        known = self._whole.survey.known
        return next((question for question in known if question.digest == digest), None)

    def _wait(self) -> float:
        """Return the seconds until there may be something to send."""
        try:
            return math.inf if self._uploader is None else self._uploader.seconds_to_wait()
        except StoreError:
            return math.inf  # counted by the work before it

    def _follow(self) -> bool:
        self._follow_choice()
        return True

    def _look(self) -> bool:
        self._follow_choice()
        self._absences.look(self.bundle.survey, self.today())
        return True

    def _nothing_due(self) -> bool:
        if self.consent.current() is not Consent.GRANTED:
            return True
        with self.database.reading() as connection:
            return connection is None or outbox.count_due(connection, self.today()) == 0

    def _work(self, hurry: bool) -> bool:
        if self.consent.current() is not Consent.GRANTED:
            return False
        day = self.today()
        self._look()
        if day != self._tidied:
            with self.database.transaction() as connection:
                stale = outbox.drop_stale(connection, day, self._limits.stale_days)
                # Together: a kill must not leave a report dropped and not counted.
                write(connection, {(name, "stale"): count for name, count in stale.items()})
            self._tidied = day
        uploader = self._upload()
        more = uploader is not None and uploader.step(hurry)
        self.counters.save(self.database)
        return more

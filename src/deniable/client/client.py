"""The public face of the client: record a value, and forget about it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal, Self, overload

from deniable import _validate
from deniable.client import ledger, outbox
from deniable.client.consent import Consent
from deniable.client.counters import FITTED, LARGER, REASONS, reason_of, refused
from deniable.client.device import Device
from deniable.client.ledger import Disclosed
from deniable.client.limits import Limits, micros_of, segments_of, trusted_of, window_of
from deniable.client.recorder import Clock, Entry, utc_now, was_fitted, was_larger
from deniable.client.secret import AccountSecret
from deniable.client.surveys import Bundle
from deniable.client.threads import Life, Sender, Worker
from deniable.client.transport import HttpTransport, Transport, authorization
from deniable.errors import (
    InvalidAnswer,
    InvalidParameter,
    LedgerLost,
    RecordRefused,
    StoreError,
)
from deniable.protocol import Question, Report, Survey, composition
from deniable.protocol.epochs import day_of, epoch_of
from deniable.protocol.epsilon import MICRO

DEFAULT_CEILING = composition.DEFAULT_CEILING / MICRO
"""The most epsilon that a device discloses in its life; app and survey may say another."""


class Client:
    """Records values as randomised reports and sends them.

        client = Client("survey.json", "state", "https://telemetry.example.org")
        client.opt_in()                      # after asking the person
        client.record("dark-mode", True)

    Guarantees: the true value never leaves the process, and is never written, logged or shown; on
    disk is only what is randomised, and keyed 16-byte tags. `record` never raises, waits for the
    disk only where it is asked to, and never for the network, unless `strict` is set. Nothing is
    collected, sent or written before consent. At most one report per question and epoch (or ever)
    leaves the directory, whatever the clock does and however many processes share it. No server can
    ask for more than the app's survey does, nor raise the ceiling or the budget per window.

    Args:
        survey: the output of `deniable publish`: a path, its bytes, or a Survey.
        directory: where the client keeps its secret and database; made with mode 0700.
        endpoint: the collector's address. Without one, reports wait in the outbox.
        consent: the person's consent as the app knows it. It is stored; DENIED also wipes,
            GRANTED does not undo an earlier opt_out(). See `deniable.client.consent`.
        ceiling: the most epsilon that is ever disclosed, over all questions; by default that of
            the bundled survey, else 16. A survey that is fetched can only lower it. Each device
            draws from its secret which questions do not fit: see `deniable.client.reservation`.
        window: (epsilon, days), a second budget: the most epsilon that is disclosed within any
            `days` consecutive UTC days, over all questions. A report belongs to all days of its
            epoch. One that does not fit is counted as "window" and not made.
        segments: the device's value of each segment that the survey declares, such as {"platform":
            "linux"}; it travels in clear. A value that is not declared, or not given, is "(other)".
        trust_surveys: the app's word for new versions and questions in surveys that `refresh`
            fetches: True, or the SHA-256 of those that may bring them; see docs/client.md.
        account_secret: at least 16 secret bytes of the person's account, so that all their devices
            share one permanent response; never written to disk.
        write_key: the key that the collector asks of writers, if it does.
        transport: another way to the collector, in place of `endpoint`.
        strict: do everything in the caller's thread, and raise RecordRefused. For tests.
        debug: print each report instead of sending it; nothing is written, charged or used
            up. DENIABLE_DEBUG=1 in the environment does the same.
        clock: returns the time, with a time zone.
        limits: sizes and times.
        allow_plain_http: allow an http endpoint that is not this machine.

    Raises:
        InvalidSurvey: if the survey is not a published one.
        InvalidParameter: if another argument is outside what is allowed.
        OSError: if the survey's file cannot be read. (A directory that cannot be used does not
            raise; it is counted.)

    Example:
        >>> from datetime import date
        >>> from deniable.protocol import Boolean, Field, KRRParameters, Question, Survey
        >>> from deniable.authoring import resolve
        >>> krr = resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)
        >>> field = Field("value", Boolean(), krr)
        >>> until = date(2099, 1, 1)
        >>> dark = Question("dark", 1, "Dark?", "us", until, 1, "once", "recorded", (field,))
        >>> survey = Survey("Test", "us", (dark,))
        >>> from tempfile import TemporaryDirectory
        >>> from deniable import Client
        >>> with TemporaryDirectory() as folder, Client(survey, folder, strict=True) as client:
        ...     opted = client.opt_in()
        ...     client.record("dark", True)
        ...     print(len(client.pending()), client.disclosed().epsilon)
        1 1.0
    """

    def __init__(
        self,
        survey: Survey | bytes | str | Path,
        directory: str | Path,
        endpoint: str | None = None,
        *,
        consent: Consent | None = None,
        ceiling: float | None = None,
        window: tuple[float, int] | None = None,
        segments: Mapping[str, str] | None = None,
        trust_surveys: bool | Collection[str] = False,
        account_secret: bytes | None = None,
        write_key: str | None = None,
        transport: Transport | None = None,
        strict: bool = False,
        debug: bool = False,
        clock: Clock = utc_now,
        limits: Limits | None = None,
        allow_plain_http: bool = False,
    ) -> None:
        limits = limits or Limits()
        if not isinstance(consent, Consent | None):
            raise _validate.invalid("consent", "Client", "a Consent or None", consent)
        if endpoint is not None:
            if transport is not None:
                raise InvalidParameter("Client takes either an endpoint or a transport, not both.")
            transport = HttpTransport(endpoint, limits.timeout_seconds, allow_plain_http)
        self._window = window_of(window)
        self._strict = strict
        self._device = _kind_of_device(debug)(
            Bundle.read(survey),
            Path(directory),
            consent or Consent.UNKNOWN,
            micros_of(ceiling),
            self._window,
            None if account_secret is None else AccountSecret(account_secret),
            transport,
            authorization(write_key),
            limits,
            clock,
            segments_of(segments),
            trusted_of(trust_surveys),
        )
        self._worker = Worker(
            limits.queue,
            lambda entry: self._commit(entry) is None,
            Sender(self._device.cycle, self._device.send_all),
        )
        self._device.start()
        self._life = Life(self._device, self._worker)
        if strict:
            self._device.look()
        else:
            self._worker.start()

    def __repr__(self) -> str:
        return f"Client(survey={self.survey.name!r}, strict={self._strict})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def survey(self) -> Survey:
        """The survey that is answered now."""
        return self._device.bundle.survey

    @property
    def consent(self) -> Consent:
        """The consent that holds now; UNKNOWN also if the directory cannot be read."""
        try:
            return self._device.consent.current()
        except StoreError:
            return Consent.UNKNOWN

    @overload
    def record(self, question: str, value: object, *, wait: Literal[False] = ...) -> None: ...

    @overload
    def record(self, question: str, value: object, *, wait: bool) -> bool | None: ...

    def record(self, question: str, value: object, *, wait: bool = False) -> bool | None:
        """Report `value` as the answer to a question, randomised, if all the rules allow it.

        The first value of an epoch wins. Everything that stands against a report is counted by
        question and reason, see `counters`.

        Without `wait` the value is in memory only until the client's thread has committed it, some
        milliseconds later: a crash, a kill or SIGTERM before that loses it, uncounted.

        Cost: some microseconds; with `wait` or `strict`, one durable write, after those of what
        was recorded before. Never the network.

        Args:
            question: its id.
            value: the true answer; it never leaves the process.
            wait: return when the report is on the disk, where no crash loses it.

        Returns:
            None without `wait`. With it, True if the report is on the disk; False if there is none,
            which is counted, or if the call came in the middle of the client's own work in the
            same thread, as in a signal handler: then the value waits as it does without `wait`.

        Raises:
            RecordRefused: only with `strict`; with the reason, never with the value.
            LedgerLost: only with `strict`, a StoreError: the directory has lost its database.
        """
        can_wait = wait and not self._device.database.is_mine()
        committed, refusal = self._take(question, value, can_wait)
        # Raised here, outside any handler: as its context an error that holds the value would
        # travel along.
        if refusal is not None and self._strict:
            raise LedgerLost(str(refusal)) if refusal.reason == "lost" else refusal
        return committed if wait else None

    def flush(self, timeout: float = 10.0) -> bool:
        """Send everything that may be sent today, now, whether it is due or not.

        A report leaves at a moment that it drew, so that requests do not tell which belong
        together. This shows it: for tests, and for programs that end at once. Our own back-off is
        skipped, the collector's Retry-After is obeyed, and what `send = "always"` holds back stays.

        Returns:
            True if nothing that could be sent today is left (or there is nowhere to send it).
        """
        return self._send(timeout, everything=True)

    def close(self, timeout: float = 5.0) -> None:
        """Bring everything to the disk, send what is due, and end the threads.

        The rest leaves after a later start. Safe to call twice; later records count as "closed".
        """
        deadline = time.monotonic() + timeout
        self._send(timeout, everything=False)
        self._life.end(max(0.0, deadline - time.monotonic()))

    def _send(self, timeout: float, everything: bool) -> bool:
        if self._life.over:
            return False
        if not self._strict:
            return self._worker.flush(timeout, everything)
        return self._device.send_all(everything, timeout)

    def refresh(self) -> bool:
        """Fetch the collector's survey and follow it as far as it asks for less than the app's.

        It may withdraw questions, bring their expiry nearer, ask fewer devices and lower the
        ceiling; for more, see `trust_surveys`. What it may not is left out and counted. It is kept
        over restarts, until the app bundles another survey. Waits for the network.

        Returns:
            True if a survey was fetched; none is without consent.
        """
        return self._device.refresh()

    def choose(self, level: str) -> bool:
        """Set the person's level for all questions: their own choice of epsilon.

        Never choose it by a value: the level travels in clear. It is kept over restarts. A question
        that offers levels, but not this one, is not answered; one without levels has one epsilon
        for all. Until a person has chosen, it is the first level of each question. A change of
        level costs both epsilons of what is answered at both.

        Returns:
            True if it could be stored, or will be with consent; it holds at once in any case.

        Raises:
            InvalidParameter: if no question of the survey offers the level.
            StoreError: only with `strict`.
        """
        return self._stored(lambda: self._device.choose(level))

    def opt_in(self) -> bool:
        """Grant consent: the person agreed. True if that could be stored.

        Raises:
            StoreError: only with `strict`.
        """
        return self._stored(lambda: self._device.opt(granted=True))

    def opt_out(self) -> bool:
        """Deny consent, and wipe outbox, secret and tags. True if that could be stored.

        Epsilon totals and used epochs stay: opting in again does not reset the ceiling. If the
        disk fails, nothing more is collected by this process all the same.

        Raises:
            StoreError: only with `strict`.
        """
        return self._stored(lambda: self._device.opt(granted=False))

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counts of refusals and uploads by (question, reason); the question may be "".

        The reasons are those of `deniable.client.counters`. Unknown questions are counted
        together, without their names.
        """
        return self._device.counters.read(self._device.database)

    def disclosed(self) -> Disclosed:
        """Return the epsilon that this device has disclosed so far; print it to read it.

        Raises:
            StoreError: if the directory cannot be read: to show nothing would not be true.
        """
        with self._device.database.reading() as connection:
            return ledger.disclosed(connection, self._device.ceiling() / MICRO, self._window)

    def pending(self) -> list[Report]:
        """Return the reports that wait to be sent, exactly as they will be.

        Raises:
            StoreError: if the directory cannot be read.
        """
        with self._device.database.reading() as connection:
            return [] if connection is None else outbox.pending(connection)

    def notice(self) -> str:
        """Return the notice for a first run: who asks what, and how to say no.

        An app shows it before it calls `opt_in`. In a terminal, `ask` does.
        """
        from deniable.client.explaining import notice

        return notice(self.survey)

    def explain(self) -> str:
        """Return in plain words what would leave, what it could tell anybody, and what waits.

        For the person at the device, whatever they have agreed to: print it, or show it in a
        window. It holds no value.
        """
        from deniable.client.explaining import explain

        return explain(self)

    def ask(self) -> Consent:
        """Ask the person at the terminal for consent, once, after the notice.

        Silent where nobody can answer (build services; pipes, files and services in the place of a
        terminal), where a decision is known, and where the environment decides. A yes or a no is
        stored; else the next start asks again.

        Returns:
            The consent that holds now.
        """
        from deniable.client.asking import ask

        return ask(self)

    def _take(self, question: str, value: object, wait: bool) -> tuple[bool, RecordRefused | None]:
        """Take a value on its way; return whether its report is on the disk, and why not."""
        name = ""
        try:
            asked = self._device.bundle.newest.get(question)
            name = "" if asked is None else asked.id
            entry = self._entry(asked, value)
            if self._strict:
                refusal = self._commit(entry)
                return refusal is None, refusal
            if wait:
                return self._worker.put_and_wait(entry), None
            if self._worker.put(entry):
                return False, None
            reason = "queue_full"
        except RecordRefused as refusal:
            reason = refusal.reason
        except StoreError as error:
            reason = reason_of(error)
        except Exception:
            # Whatever the app hands over may raise whatever it likes; the host must not suffer.
            reason = "type"
        self._device.counters.add(name, reason)
        return False, refused(reason)

    def _entry(self, asked: Question | None, value: object) -> Entry:
        """Return the answer that a value stands for, after the checks that need no disk."""
        device = self._device
        if self._life.over:
            raise refused("closed")
        consent = device.consent
        if consent.last not in _MAYBE and (not self._strict or consent.current() not in _MAYBE):
            raise refused("no_consent")
        if asked is None:
            raise refused("unknown_question")
        day = self._today()
        if day > day_of(asked.expires):
            raise refused("expired")
        epoch = epoch_of(day, asked.epoch)
        if device.is_answered(asked, epoch):
            raise refused("answered")
        try:
            answers = asked.answers(value)
            if was_fitted(asked, value, answers):
                device.counters.add(asked.id, FITTED)
            if was_larger(asked, answers):
                device.counters.add(asked.id, LARGER)
            return Entry(asked, answers, epoch)
        except InvalidAnswer as error:
            reason = error.reason
        raise refused(reason if reason in REASONS else "type")

    def _today(self) -> int:
        try:
            day = self._device.today()
        except Exception:
            day = -1  # the clock is the app's; an hour that cannot be told is no reason to crash
        if day < 0:
            raise refused("clock")
        return day

    def _commit(self, entry: Entry) -> RecordRefused | None:
        refusal = self._device.commit(entry)
        if self._strict:
            self._device.look()
        return refusal

    def _stored(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except StoreError as error:
            self._device.counters.add("", reason_of(error))
            if self._strict:
                raise
            return False
        if self._strict:
            self._device.look()
        return True


_MAYBE = (Consent.GRANTED, None)
"""With these last known states a value is taken on; the transaction decides."""


def _kind_of_device(debug: bool) -> type[Device]:
    """Return the device that a client works with: one that sends, or one that prints."""
    if not debug and os.environ.get("DENIABLE_DEBUG", "").strip() in ("", "0"):
        return Device
    from deniable.client.debug import PrintingDevice

    return PrintingDevice

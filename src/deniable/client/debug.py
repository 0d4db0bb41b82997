"""The debug mode: reports are printed in the place of being sent, and nothing is written.

Each report is made from a secret and coins that this process throws away. A log of debug output
therefore says nothing about the permanent answers of the device, and costs none of its epsilon. It
is still a randomised look at each value that was recorded: keep it as you would keep a report.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

from deniable._words import epsilon_text
from deniable.client.consent import Consent, ConsentBook
from deniable.client.counters import refused
from deniable.client.device import Device
from deniable.client.encode import encode_answers, is_asked
from deniable.client.ledger import charge_of, round_up
from deniable.client.randomness import SystemDraws
from deniable.client.recorder import Entry
from deniable.errors import RecordRefused
from deniable.protocol import Report
from deniable.protocol.prf import SECRET_BYTES
from deniable.protocol.report import ID_BYTES, batch_bytes


class _SpokenConsent(ConsentBook):
    """Consent that is read where it is stored, and stored nowhere."""

    def _store(self, word: str) -> None:
        """Keep nothing: `opt_in` holds for this process."""

    def _wipe(self, word: str) -> None:
        """Destroy nothing: `opt_out` holds for this process."""

    def _finish_wiping(self) -> None:
        """Leave the folder as it is."""


class PrintingDevice(Device):
    """A device that prints what would leave, on the standard error.

    Guarantees: it sends nothing, writes nothing, charges no epsilon and uses no epoch; every value
    that a device could report is printed, however often it is recorded. Without consent, nothing
    is made here either.

    Edge cases: ceiling and windows are not looked at, since they depend on what the device has
    answered before. A process without a standard error prints nothing.
    """

    def __init__(self, *told: Any) -> None:
        super().__init__(*told)
        directory = self.database.path.parent
        own = self.consent
        self.consent = _SpokenConsent(self.database, own.secret_file, own.argument)
        self._transport = None
        self._draws = SystemDraws()
        self._thrown_away = self._draws.token(SECRET_BYTES)
        _say(f"debug mode: nothing is sent, and nothing is written to {os.fspath(directory)}")

    def commit(self, entry: Entry) -> RecordRefused | None:
        """Print the report of an entry, or the reason why there is none."""
        question, reason = entry.question, ""
        if self.consent.current() is not Consent.GRANTED:
            reason = "no_consent"
        elif not is_asked(self._thrown_away, question):
            reason = "not_asked"
        if reason:
            refusal = refused(reason)
            self.counters.add(question.id, reason)
            _say(f"{question.id}: not reported. {refusal}")
            return refusal
        charge = charge_of(question, entry.answers, self._thrown_away, lambda _: False)
        held = ", after its period is over" if question.absent else ""
        _say(
            f"{question.id}: this would leave{held}, for epsilon "
            f"{epsilon_text(round_up(charge.micros))} "
            f"if no earlier report paid for it\n{batch_bytes([self._report(entry)]).decode()}"
        )
        return None

    def save(self) -> None:
        """Keep no counters."""

    def _report(self, entry: Entry) -> Report:
        question = entry.question
        return Report(
            question.id,
            question.version,
            question.digest,
            entry.epoch,
            self._draws.token(ID_BYTES),
            encode_answers(question, entry.answers, self._thrown_away, self._draws),
            self._recorder.combination(question),
        )

    def _keep_choice(self) -> None:
        """Hold the level for this process alone."""

    def _look(self) -> bool:
        return True

    def _work(self, hurry: bool) -> bool:
        return False


def _say(text: str) -> None:
    """Print on the standard error, if there is one that takes it: the host must not suffer."""
    with suppress(OSError, ValueError):
        print(f"deniable: {text}", file=sys.stderr, flush=True)

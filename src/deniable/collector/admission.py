"""The rules of admission: which reports of a batch are taken, and why the others are not.

Pure functions of a batch, a survey and a day; the same rules whatever brings the reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.errors import InvalidReport
from deniable.protocol import Question, Report, Survey
from deniable.protocol.epochs import date_of, day_of, days_of


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[msgspec.Raw]


# A body is an object with one list; a report is an object of plain values. Anything deeper fails
# before it is built, and one bad report does not spoil the others.
_BODY = msgspec.json.Decoder(_Body)
_REPORT = msgspec.json.Decoder(dict[str, str | int | float | bool | None])


SLICE_REPORTS = 50
"""Reports that are admitted in one step of the event loop: about a millisecond."""
_REPORT_QUOTES = 2 * (6 + 4)
_QUOTE = b'"'
_FORM = 'The body must be the JSON object {"reports": [...]} in UTF-8, nothing else.'


@dataclass(frozen=True)
class Refusal:
    """One report that is not taken: its place in the batch, and why.

    `question` is its counter's: an id of the survey, or empty.
    """

    index: int
    question: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Admitted:
    """A batch after admission."""

    reports: list[Report]
    refusals: list[Refusal]


def split_batch(body: bytes, max_batch: int) -> list[msgspec.Raw]:
    """Return the reports of a body, each still as JSON.

    Raises:
        Refused: if the body is not `{"reports": [...]}` in JSON, or has too many or no reports.
    """
    try:
        items = _BODY.decode(body).reports
    except (ValueError, RecursionError):
        # msgspec's and the UTF-8 decoder's errors are ValueErrors; ours says more than theirs.
        raise Refused(Reason.BODY, _FORM) from None
    # The decoder keeps the last of repeated members. One name has two quotation marks; whatever is
    # neither that nor in a report belongs to a member that was replaced.
    if body.count(_QUOTE) != 2 + sum([bytes(item).count(_QUOTE) for item in items]):
        raise Refused(Reason.BODY, f"{_FORM} A member is repeated.")
    if not 1 <= len(items) <= max_batch:
        raise Refused(
            Reason.BATCH_SIZE,
            f"A batch must have 1 to {max_batch} reports. Got {len(items)}. Split it.",
            status=None if items else 400,
        )
    return items


def read_report(item: msgspec.Raw) -> Report:
    """Return a report of a batch, exactly as Report.from_json reads it.

    Raises:
        InvalidReport: with reason "schema".
    """
    try:
        data = _REPORT.decode(item)
    except ValueError:
        raise InvalidReport("schema", "A report is an object of strings and integers.") from None
    report = Report.from_json(data)
    # A report that was read has six names and four texts. None may hold a quotation mark, so that
    # each has exactly two. Further marks belong to repeated members; the last of each was kept.
    if bytes(item).count(_QUOTE) != _REPORT_QUOTES:
        raise InvalidReport("schema", "A report has each member once. Remove the repeated one.")
    return report


class Admission:
    """The rules for one survey: the questions that it asks, and what it asked earlier.

    An epoch is taken if its last day is at most `past_days` ago and its first at most
    `future_days` ahead, and if it began no later than the day on which the question expires.

    Cost: some microseconds per report.
    """

    def __init__(self, survey: Survey, past_days: int, future_days: int) -> None:
        # Earlier versions too: devices hold reports of them, and have surveys that ask them.
        self._questions = {(q.id, q.version): q for q in survey.known}
        self._ids = {q.id for q in survey.known}
        self._past_days = past_days
        self._future_days = future_days

    @property
    def epoch_days(self) -> Mapping[tuple[str, int], int]:
        """The epoch length of each question and version."""
        return {key: question.epoch for key, question in self._questions.items()}

    async def admit_in_turn(self, items: Sequence[msgspec.Raw], today: int) -> Admitted:
        """Do as `admit`, and let others have the event loop in between."""
        admitted = Admitted([], [])
        for first in range(0, len(items), SLICE_REPORTS):
            part = self.admit(items[first : first + SLICE_REPORTS], today, first)
            admitted.reports.extend(part.reports)
            admitted.refusals.extend(part.refusals)
            await asyncio.sleep(0)
        return admitted

    def admit(self, items: Sequence[msgspec.Raw], today: int, first: int = 0) -> Admitted:
        """Sort the reports of a batch into those that are taken and those that are not.

        `first` is the place in the batch of the first one.
        """
        admitted = Admitted([], [])
        for index, item in enumerate(items, first):
            question = ""
            try:
                report = read_report(item)
                question = report.question if report.question in self._ids else ""
                self.check(report, today)
            except InvalidReport as error:
                reason = Reason(error.reason)
                admitted.refusals.append(Refusal(index, question, reason, str(error)))
            else:
                admitted.reports.append(report)
        return admitted

    def check(self, report: Report, today: int) -> None:
        """Raise InvalidReport unless the report is one to take today."""
        question = self._question(report)
        if report.digest != question.digest:
            raise InvalidReport(
                Reason.DIGEST,
                f"The report's digest must be {question.digest.hex()}. Fetch the survey again; "
                "parameters change only with a new version.",
            )
        self._check_epoch(report.epoch, question, today)
        question.check_record(report.record)

    def _question(self, report: Report) -> Question:
        question = self._questions.get((report.question, report.version))
        if question is not None:
            return question
        if report.question in self._ids:
            raise InvalidReport(
                Reason.UNKNOWN_VERSION,
                f"The survey has no version {report.version} of this question. "
                "Fetch the survey again.",
            )
        raise InvalidReport(
            Reason.UNKNOWN_QUESTION, "The survey has no such question. Fetch the survey again."
        )

    def _check_epoch(self, epoch: int, question: Question, today: int) -> None:
        first, last = days_of(epoch, question.epoch)
        if first > day_of(question.expires):
            raise InvalidReport(
                Reason.EXPIRED, f"The question's last day is {question.expires}. Stop asking it."
            )
        if last < today - self._past_days:
            raise InvalidReport(
                Reason.TOO_LATE,
                f"Epochs are accepted until {self._past_days} days after their end; today is "
                f"{date_of(today)}. Drop the report.",
            )
        if first > today + self._future_days:
            raise InvalidReport(
                Reason.TOO_EARLY,
                f"Epochs are accepted from {self._future_days} days before their first day; today "
                f"is {date_of(today)}. Check the clock.",
            )

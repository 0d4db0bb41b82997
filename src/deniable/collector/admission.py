"""The rules of admission: which reports of a batch are taken, and why the others are not.

Pure functions of a batch, a survey and a day; the same rules whatever brings the reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.errors import InvalidReport
from deniable.protocol import Question, Report, Survey
from deniable.protocol.compact import Row, numbers_of, read_compact
from deniable.protocol.epochs import date_of, day_of, days_of


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[msgspec.Raw]


# A body is an object with one list; a report is an object of plain values, and perhaps one object
# of texts. Anything deeper fails before it is built, and one bad report does not spoil the others.
_BODY = msgspec.json.Decoder(_Body)
_REPORT = msgspec.json.Decoder(dict[str, str | int | float | bool | dict[str, str] | None])


_SLICE_REPORTS = 50
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


class PackedItem(NamedTuple):
    """A report of a compact batch, with its question; None if the survey knows no such digest.

    `segments` is the text of its combination; None if the question has none with the number.
    """

    question: Question | None
    segments: str | None
    row: Row


Item = msgspec.Raw | PackedItem
"""A report on its way in: JSON to be read, or bytes that were cut apart."""


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
    _check_number(len(items), max_batch)
    return items


def _check_number(reports: int, max_batch: int) -> None:
    if not 1 <= reports <= max_batch:
        raise Refused(
            Reason.BATCH_SIZE,
            f"A batch must have 1 to {max_batch} reports. Got {reports}. Split it.",
            status=None if reports else 400,
        )


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
    # A report that was read has six names and four texts; with segments, a name more, and a name
    # and a text for each. None may hold a quotation mark, so that each has exactly two. Further
    # marks belong to repeated members; the last of each was kept.
    marks = _REPORT_QUOTES
    if report.segments:
        marks += 2 + report.segments.count('"')
    if bytes(item).count(_QUOTE) != marks:
        raise InvalidReport("schema", "A report has each member once. Remove the repeated one.")
    return report


def _unpacked(item: PackedItem) -> Report:
    """Return a report of a compact batch.

    Raises:
        InvalidReport: unknown_question or segments.
    """
    question, segments, row = item
    if question is None:
        raise InvalidReport(
            Reason.UNKNOWN_QUESTION, "The survey has no question with this digest. Wait for it."
        )
    if segments is None:
        raise InvalidReport(Reason.SEGMENTS, "The question has no such combination of segments.")
    return Report(
        question.id, question.version, question.digest, row.epoch, row.id, row.record, segments
    )


class Admission:
    """The rules for one survey: the questions that it asks, and what it asked earlier.

    An epoch is taken if its last day is at most `past_days` ago and its first at most
    `future_days` ahead, and if it began no later than the day on which the question expires.

    Cost: some microseconds per report.
    """

    def __init__(self, survey: Survey, past_days: int, future_days: int) -> None:
        # Earlier versions too: devices hold reports of them, and have surveys that ask them.
        self._questions: dict[tuple[str, int], list[Question]] = {}
        for question in survey.known:  # the levels of a version are told apart by their digests
            self._questions.setdefault((question.id, question.version), []).append(question)
        self._ids = {q.id for q in survey.known}
        self._by_digest = {q.digest: q for q in survey.known}
        self._past_days = past_days
        self._future_days = future_days

    @property
    def epoch_days(self) -> Mapping[tuple[str, int], int]:
        """The epoch length of each question and version."""
        return {key: levels[0].epoch for key, levels in self._questions.items()}

    def split_packed(self, body: bytes, max_batch: int) -> list[Item]:
        """Return the reports of a compact body.

        Raises:
            Refused: if the body is none, or has too many reports, or records of another size than
                its question's, or numbers segments in another way, as with other values. A client
                then sends JSON, whose reports are judged one by one.
        """
        try:
            packed = read_compact(body)
        except InvalidReport as error:
            raise Refused(Reason.BODY, str(error)) from None
        _check_number(packed.reports, max_batch)
        question = self._by_digest.get(packed.digest)
        if question is not None and packed.record_size != question.record_size:
            detail = f"Records must have {question.record_size} bytes. Got {packed.record_size}."
            raise Refused(Reason.BODY, detail)
        numbering, numbers = numbers_of(question)
        if question is not None and packed.numbering != numbering:
            raise Refused(Reason.BODY, "The question numbers its segments in another way.")
        texts = {number: text for text, number in numbers.items()}
        return [PackedItem(question, texts.get(row.combination), row) for row in packed.rows()]

    async def admit_in_turn(self, items: Sequence[Item], today: int) -> Admitted:
        """Do as `admit`, and let others have the event loop in between."""
        admitted = Admitted([], [])
        for first in range(0, len(items), _SLICE_REPORTS):
            part = self.admit(items[first : first + _SLICE_REPORTS], today, first)
            admitted.reports.extend(part.reports)
            admitted.refusals.extend(part.refusals)
            await asyncio.sleep(0)
        return admitted

    def admit(self, items: Sequence[Item], today: int, first: int = 0) -> Admitted:
        """Sort the reports of a batch into those that are taken and those that are not.

        `first` is the place in the batch of the first one.
        """
        admitted = Admitted([], [])
        for index, item in enumerate(items, first):
            question = ""
            try:
                report = _unpacked(item) if isinstance(item, PackedItem) else read_report(item)
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
        self._check_epoch(report.epoch, question, today)
        question.check_record(report.record)
        if report.segments not in question.combinations:
            raise InvalidReport(
                Reason.SEGMENTS,
                "The report's segments must be those that the question names, each with a declared "
                "value or (other). Fetch the survey again.",
            )

    def _question(self, report: Report) -> Question:
        levels = self._questions.get((report.question, report.version), [])
        for question in levels:
            if question.digest == report.digest:
                return question
        if levels:
            raise InvalidReport(
                Reason.DIGEST,
                f"The report's digest must be {' or '.join(q.digest.hex() for q in levels)}. "
                "Fetch the survey again; parameters change only with a new version.",
            )
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

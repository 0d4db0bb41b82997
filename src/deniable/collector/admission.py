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
from deniable.collector.reading import Item, PackedBatch, Written, read_packed, read_report
from deniable.collector.reasons import Reason
from deniable.collector.records import RecordBounds
from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol import Question, Report, Survey
from deniable.protocol.canonical import from_base64url
from deniable.protocol.compact import numbers_of
from deniable.protocol.epochs import date_of, day_of, days_of
from deniable.protocol.report import ID_BYTES
from deniable.protocol.retention import keeping_of
from deniable.protocol.segments import read_combination

_KEPT_PATTERNS = 4_096
"""Epochs and combinations that are known to be taken today."""
_SLICE_REPORTS = 200
"""Reports that are admitted in one step of the event loop: about a millisecond."""


@dataclass(frozen=True)
class Refusal:
    """One report that is not taken: its place in the batch, and why.

    `question` is its counter's: an id of the survey, or empty.
    """

    index: int
    question: str
    reason: Reason
    detail: str


class Admitted(NamedTuple):
    """A batch after admission."""

    reports: list[Report]
    refusals: list[Refusal]


class Admission:
    """The rules for one survey: the questions that it asks, and what it asked earlier.

    An epoch is taken if its last day is at most `past_days` ago, and no longer than the question's
    reports stay; if its first day is at most `future_days` ahead; and if it began no later than
    the day on which the question expires.

    Cost: some microseconds per report.
    """

    def __init__(self, survey: Survey, past_days: int, future_days: int) -> None:
        # Earlier versions too: devices hold reports of them, and have surveys that ask them.
        self._questions: dict[tuple[str, int], list[Question]] = {}
        for question in survey.known:  # the levels of a version are told apart by their digests
            self._questions.setdefault((question.id, question.version), []).append(question)
        self._ids = {q.id for q in survey.known}
        self._by_digest = {q.digest: q for q in survey.known}
        self._by_name = {(q.id, q.version, q.digest.hex()): q for q in survey.known}
        self._bounds = {q.digest: RecordBounds(q) for q in survey.known}
        self._patterns: dict[tuple[bytes, int, str], Report] = {}
        self._patterns_of = -1
        self._past_days = {
            q.digest: keeping_of(survey, q).accepted_days(past_days) for q in survey.known
        }
        self._future_days = future_days

    @property
    def epoch_days(self) -> Mapping[tuple[str, int], int]:
        """The epoch length of each question and version."""
        return {key: levels[0].epoch for key, levels in self._questions.items()}

    def split_packed(self, body: bytes, max_batch: int) -> PackedBatch:
        """Return the reports of a compact body.

        Raises:
            Refused: if the body is none, or has too many reports, or records of another size than
                its question's, or numbers segments in another way, as with other values. A client
                then sends JSON, whose reports are judged one by one.
        """
        packed = read_packed(body, max_batch)
        question = self._by_digest.get(packed.digest)
        if question is not None and packed.record_size != question.record_size:
            detail = f"Records must have {question.record_size} bytes. Got {packed.record_size}."
            raise Refused(Reason.BODY, detail)
        numbering, numbers = numbers_of(question)
        if question is not None and packed.numbering != numbering:
            raise Refused(Reason.BODY, "The question numbers its segments in another way.")
        texts = {number: text for text, number in numbers.items()}
        return PackedBatch(question, texts, packed)

    async def admit_in_turn(self, items: Sequence[Item] | PackedBatch, today: int) -> Admitted:
        """Do as `admit`, and let others have the event loop in between."""
        if isinstance(items, PackedBatch):
            whole = self._take_packed(items, today)
            if whole is not None:
                return Admitted(whole, [])
            items = items.items()
        admitted = Admitted([], [])
        for first in range(0, len(items), _SLICE_REPORTS):
            part = self.admit(items[first : first + _SLICE_REPORTS], today, first)
            admitted.reports.extend(part.reports)
            admitted.refusals.extend(part.refusals)
            await asyncio.sleep(0)
        return admitted

    def admit(self, items: Sequence[Item] | PackedBatch, today: int, first: int = 0) -> Admitted:
        """Sort the reports of a batch into those that are taken and those that are not.

        `first` is the place in the batch of the first one.
        """
        if isinstance(items, PackedBatch):
            whole = self._take_packed(items, today)
            if whole is not None:
                return Admitted(whole, [])
            items = items.items()
        admitted = Admitted([], [])
        for index, item in enumerate(items, first):
            taken = self._take_written(item, today) if isinstance(item, Written) else None
            if taken is not None:
                admitted.reports.append(taken)
                continue
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

    def _take_written(self, item: Written, today: int) -> Report | None:
        """Return a report that plainly breaks no rule; None leaves it to `check`, which says why.

        The members are compared with the survey's own spelling, so that a name, version or digest
        that is found needs no further look.
        """
        question = self._by_name.get((item.question, item.version, item.digest))
        if question is None:
            return None
        try:
            identity = bytes.fromhex(item.id)
            record = from_base64url(item.record)
            told = item.segments
            segments = "" if told is msgspec.UNSET else read_combination(told)
        except (ValueError, InvalidParameter, InvalidReport):
            return None
        # `fromhex` takes capitals and spaces, too.
        if len(identity) != ID_BYTES or identity.hex() != item.id:
            return None
        if len(record) != question.record_size or not self._bounds[question.digest].hold(record):
            return None
        pattern = self._pattern(question, item.epoch, segments, today)
        return None if pattern is None else pattern.like(identity, record)

    def _take_packed(self, batch: PackedBatch, today: int) -> list[Report] | None:
        """Return all reports of a batch that plainly breaks no rule; None leaves it to `check`."""
        question, packed = batch.question, batch.packed
        if question is None or not self._bounds[question.digest].hold(packed.records):
            return None
        patterns = {}
        for epoch, combination, _ in packed.groups:
            segments = batch.texts.get(combination)
            if segments is None:
                return None
            pattern = self._pattern(question, epoch, segments, today)
            if pattern is None:
                return None
            patterns[epoch, combination] = pattern
        return [
            patterns[epoch, combination].like(identity, record)
            for epoch, combination, identity, record in packed.rows()
        ]

    def _pattern(self, question: Question, epoch: int, segments: str, today: int) -> Report | None:
        """Return a report on an epoch that is taken, without id and record; None if none is.

        Each epoch and combination is looked at once a day.
        """
        if self._patterns_of != today or len(self._patterns) >= _KEPT_PATTERNS:
            self._patterns_of, self._patterns = today, {}
        key = question.digest, epoch, segments
        found = self._patterns.get(key)
        if found is None:
            try:
                self._check_epoch(epoch, question, today)
            except InvalidReport:
                return None
            if segments not in question.combinations:
                return None
            about = (question.id, question.version, question.digest, epoch)
            found = self._patterns[key] = Report(*about, b"", b"", segments)
        return found

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
        past_days = self._past_days[question.digest]
        if last < today - past_days:
            raise InvalidReport(
                Reason.TOO_LATE,
                f"Epochs are accepted until {past_days} days after their end; today is "
                f"{date_of(today)}. Drop the report.",
            )
        if first > today + self._future_days:
            raise InvalidReport(
                Reason.TOO_EARLY,
                f"Epochs are accepted from {self._future_days} days before their first day; today "
                f"is {date_of(today)}. Check the clock.",
            )

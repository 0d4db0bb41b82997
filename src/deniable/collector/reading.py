"""Reading a batch: from the bytes of a body to reports that can be judged one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from deniable.collector.problems import Refused
from deniable.collector.reasons import Reason
from deniable.errors import InvalidReport
from deniable.protocol import Question, Report
from deniable.protocol.compact import Packed, Row, read_compact


class Written(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A report in JSON whose members are of the right kinds; nothing else is known of them."""

    question: str
    version: int
    digest: str
    epoch: int
    id: str
    record: str
    segments: dict[str, str] | msgspec.UnsetType = msgspec.UNSET


class _Usual(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[Written]


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    reports: list[msgspec.Raw]


_USUAL = msgspec.json.Decoder(_Usual)
# A body is an object with one list; a report is an object of plain values, and perhaps one object
# of texts. Anything deeper fails before it is built, and one bad report does not spoil the others.
_BODY = msgspec.json.Decoder(_Body)
_REPORT = msgspec.json.Decoder(dict[str, str | int | float | bool | dict[str, str] | None])


_REPORT_QUOTES = 2 * (6 + 4)
_QUOTE = b'"'
_FORM = 'The body must be the JSON object {"reports": [...]} in UTF-8, nothing else.'


class PackedItem(NamedTuple):
    """A report of a compact batch, with its question; None if the survey knows no such digest.

    `segments` is the text of its combination; None if the question has none with the number.
    """

    question: Question | None
    segments: str | None
    row: Row


@dataclass(frozen=True)
class PackedBatch:
    """A compact batch with its question, and the texts of its combinations by number."""

    question: Question | None
    texts: Mapping[int, str]
    packed: Packed

    def __len__(self) -> int:
        return self.packed.reports

    def items(self) -> list[Item]:
        """Return the reports one by one."""
        question, texts = self.question, self.texts
        rows = self.packed.rows()
        return [PackedItem(question, texts.get(row.combination), row) for row in rows]


Item = msgspec.Raw | Written | PackedItem
"""A report on its way in: JSON that is read or still to be read, or bytes that were cut apart."""


def split_batch(body: bytes, max_batch: int) -> list[Item]:
    """Return the reports of a body in JSON: read at once, where each has the usual members.

    Raises:
        Refused: if the body is not `{"reports": [...]}` in JSON, or has too many or no reports.
    """
    try:
        written = _USUAL.decode(body).reports
    except (ValueError, RecursionError):
        return _split_unusual(body, max_batch)
    # The decoder keeps the last of repeated members. Each name and each text has two quotation
    # marks, or a mark is escaped within; whatever does not add up is looked at one by one.
    marks = 2 + _REPORT_QUOTES * len(written)
    for each in written:
        if each.segments is not msgspec.UNSET:
            marks += 2 + 4 * len(each.segments)
    if body.count(_QUOTE) != marks:
        return _split_unusual(body, max_batch)
    check_number(len(written), max_batch)
    return list(written)


def _split_unusual(body: bytes, max_batch: int) -> list[Item]:
    """Return the reports of a body, each still as JSON."""
    try:
        items = _BODY.decode(body).reports
    except (ValueError, RecursionError):
        # msgspec's and the UTF-8 decoder's errors are ValueErrors; ours says more than theirs.
        raise Refused(Reason.BODY, _FORM) from None
    # One name has two quotation marks; whatever is neither that nor in a report belongs to a
    # member that was replaced.
    if body.count(_QUOTE) != 2 + sum([bytes(item).count(_QUOTE) for item in items]):
        raise Refused(Reason.BODY, f"{_FORM} A member is repeated.")
    check_number(len(items), max_batch)
    return list(items)


def read_packed(body: bytes, max_batch: int) -> Packed:
    """Read a compact body.

    Raises:
        Refused: if the body is none, or has too many reports.
    """
    try:
        packed = read_compact(body)
    except InvalidReport as error:
        raise Refused(Reason.BODY, str(error)) from None
    check_number(packed.reports, max_batch)
    return packed


def check_number(reports: int, max_batch: int) -> None:
    """Raise Refused unless a batch may have this number of reports."""
    if not 1 <= reports <= max_batch:
        raise Refused(
            Reason.BATCH_SIZE,
            f"A batch must have 1 to {max_batch} reports. Got {reports}. Split it.",
            status=None if reports else 400,
        )


def read_report(item: Item) -> Report:
    """Return a report of a batch, exactly as Report.from_json reads it.

    Raises:
        InvalidReport: schema; unknown_question or segments, if it was packed.
    """
    if isinstance(item, PackedItem):
        return _unpacked(item)
    if isinstance(item, Written):
        return Report.from_json(msgspec.to_builtins(item))
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

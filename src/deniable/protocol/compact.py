r"""The compact form of a batch: reports to one question, as packed bytes.

    4 bytes    b"dnb\x01": the form and its version
    32 bytes   the digest of the question's contract
    4 bytes    the numbering of its combinations of segments; zeros where it has none
    u16        the number of groups
    7 bytes    for each group: epoch u32, combination u8 (255: none), number of reports u16
    16 bytes   for each report: its id, in the order of the groups
    r bytes    for each report: its record, in the same order

Integers are little-endian. The size r of a record is not written: it is what the body's length
leaves for each report, and must be the question's.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from deniable.errors import InvalidReport
from deniable.protocol.frozen import frozen
from deniable.protocol.question import Question
from deniable.protocol.report import ID_BYTES, MAX_EPOCH, Report

MEDIA_TYPE = "application/vnd.deniable.reports"
MAGIC = b"dnb\x01"
NO_COMBINATION = 255
"""The number of a report that carries no segments."""
NO_NUMBERING = bytes(4)

_HEAD = struct.Struct("<4s32s4sH")
_GROUP = struct.Struct("<IBH")


class Row(NamedTuple):
    """A report of a compact batch, without what its digest says."""

    epoch: int
    combination: int
    id: bytes
    record: bytes


@frozen
class Packed:
    """A compact batch that was read, with nothing known yet about its question.

    Attributes:
        digest: of the question's contract.
        numbering: tells whether sender and reader number combinations of segments alike.
        groups: epoch, combination and number of reports of each.
        record_size: bytes of one record.
        ids, records: of all reports, without gaps.
    """

    digest: bytes
    numbering: bytes
    groups: tuple[tuple[int, int, int], ...]
    record_size: int
    ids: bytes
    records: bytes

    @property
    def reports(self) -> int:
        """The number of reports."""
        return len(self.ids) // ID_BYTES

    def rows(self) -> Iterator[Row]:
        """Yield the reports in their order."""
        place, size = 0, self.record_size
        for epoch, combination, reports in self.groups:
            for i in range(place, place + reports):
                identity = self.ids[i * ID_BYTES : (i + 1) * ID_BYTES]
                yield Row(epoch, combination, identity, self.records[i * size : (i + 1) * size])
            place += reports


def numbers_of(question: Question | None) -> tuple[bytes, dict[str, int]]:
    """Return the numbering of a question's combinations of segments, and their numbers by text."""
    if question is None or not question.segments:
        return NO_NUMBERING, {"": NO_COMBINATION}
    from deniable.protocol.segments import numbering

    numbers = {text: number for number, text in enumerate(question.combinations)}
    return numbering(question.segments), numbers


def in_groups(reports: Sequence[Report]) -> list[Report]:
    """Return reports in the order in which a compact batch holds them.

    Those of one epoch and combination stand together, where the first of them stood.
    """
    groups: dict[tuple[int, str], list[Report]] = {}
    for report in reports:
        groups.setdefault((report.epoch, report.segments), []).append(report)
    return [report for group in groups.values() for report in group]


def compact_bytes(reports: Sequence[Report], question: Question | None = None) -> bytes | None:
    """Return the body of a compact batch of reports to one question, which `in_groups` ordered.

    Args:
        reports: at least one.
        question: theirs, where they carry segments.

    Returns:
        None if a combination has no number, as when a survey no longer has its question.
    """
    numbering, numbers = numbers_of(question)
    counts: dict[tuple[int, int], int] = {}
    for report in reports:
        if report.segments not in numbers:
            return None
        key = (report.epoch, numbers[report.segments])
        counts[key] = counts.get(key, 0) + 1
    head = _HEAD.pack(MAGIC, reports[0].digest, numbering, len(counts))
    groups = [_GROUP.pack(*key, count) for key, count in counts.items()]
    ids = [report.id for report in reports]
    return b"".join([head, *groups, *ids, *(report.record for report in reports)])


def read_compact(body: bytes) -> Packed:
    """Read a compact batch.

    Cost: linear in the body; nothing is made before all its numbers fit its length.

    Raises:
        InvalidReport: with reason "schema", if the body is none.
    """
    if len(body) < _HEAD.size or not body.startswith(MAGIC):
        raise _schema(f"It must begin with {MAGIC.hex()}, digest, numbering and groups.")
    _, digest, numbering, count = _HEAD.unpack_from(body)
    start = _HEAD.size + count * _GROUP.size
    if not count or start > len(body):
        raise _schema("It must have at least one group, and all that it says it has.")
    groups = tuple(_GROUP.iter_unpack(body[_HEAD.size : start]))
    if not all(reports and epoch <= MAX_EPOCH for epoch, _, reports in groups):
        raise _schema(f"A group must have a report, and an epoch of at most {MAX_EPOCH}.")
    if len({(epoch, combination) for epoch, combination, _ in groups}) != count:
        raise _schema("Two groups must not have the same epoch and combination.")
    reports = sum(in_group for _, _, in_group in groups)
    each, over = divmod(len(body) - start, reports)
    if over or each < ID_BYTES:
        raise _schema("All ids and records must be there, the records of one size.")
    middle = start + reports * ID_BYTES
    return Packed(digest, numbering, groups, each - ID_BYTES, body[start:middle], body[middle:])


def _schema(message: str) -> InvalidReport:
    return InvalidReport("schema", f"The body is no compact batch. {message}")

"""The randomised record that leaves a device, and the batch that carries it.

A batch is `{"reports": [...]}`, each report an object of six members, a seventh where its question
has segments, and nothing else. Ids and digests are lower-case hexadecimal, records base64url
without padding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Self

from deniable.errors import InvalidParameter, InvalidReport
from deniable.protocol.canonical import Json, canonical, from_base64url, to_base64url
from deniable.protocol.frozen import frozen
from deniable.protocol.question import MAX_VERSION, QUESTION_ID

ID_BYTES = 16
MAX_BATCH_REPORTS = 1_000
MAX_BATCH_BYTES = 2**20
MAX_EPOCH = 2**31 - 1
MEDIA_TYPE = "application/json"
_HEX_ID = re.compile(r"[0-9a-f]{32}")
_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEYS = {"question", "version", "digest", "epoch", "id", "record"}


@frozen
class Report:
    """One report. Of its sender it holds the declared segments and nothing else.

    `id` is random and only finds duplicates. `segments` is the text of a combination
    (`protocol/segments.py`), empty without segments.
    """

    question: str
    version: int
    digest: bytes
    epoch: int
    id: bytes
    record: bytes
    segments: str = ""

    def like(self, identity: bytes, record: bytes) -> Self:
        """Return a report that differs in its id and record alone, at a third of the time."""
        made = object.__new__(type(self))
        fields = made.__dict__
        fields.update(self.__dict__)
        fields["id"], fields["record"] = identity, record
        return made

    def as_json(self) -> dict[str, Json]:
        """Return the report as it stands in a batch."""
        told = {"segments": json.loads(self.segments)} if self.segments else {}
        return {
            **told,
            "question": self.question,
            "version": self.version,
            "digest": self.digest.hex(),
            "epoch": self.epoch,
            "id": self.id.hex(),
            "record": to_base64url(self.record),
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read one report of a batch.

        Raises:
            InvalidReport: with reason "schema".
        """
        if not isinstance(data, Mapping) or set(data) - {"segments"} != _KEYS:
            raise _schema(
                f"A report has exactly these members: {', '.join(sorted(_KEYS))}; and 'segments' "
                "where its question has some."
            )
        question, record = data["question"], data["record"]
        if not (isinstance(question, str) and QUESTION_ID.fullmatch(question)):
            raise _schema(f"'question' must match {QUESTION_ID.pattern}.")
        if not isinstance(record, str):
            raise _schema("'record' must be base64url without padding.")
        try:
            raw = from_base64url(record)
        except InvalidParameter as error:
            raise _schema(f"'record': {error}") from None
        return cls(
            question=question,
            version=_number(data, "version", 1, MAX_VERSION),
            digest=_hex(data, "digest", _HEX_DIGEST),
            epoch=_number(data, "epoch", 0, MAX_EPOCH),
            id=_hex(data, "id", _HEX_ID),
            record=raw,
            segments=_segments(data["segments"]) if "segments" in data else "",
        )


def batch_bytes(reports: Iterable[Report]) -> bytes:
    """Return the body of a batch."""
    return canonical({"reports": [report.as_json() for report in reports]})


def _segments(data: object) -> str:
    from deniable.protocol.segments import read_combination

    return read_combination(data)


def _schema(message: str) -> InvalidReport:
    return InvalidReport("schema", message)


def _number(data: Mapping[str, object], name: str, low: int, high: int) -> int:
    value = data[name]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise _schema(f"'{name}' must be an integer from {low} to {high}.")
    return value


def _hex(data: Mapping[str, object], name: str, pattern: re.Pattern[str]) -> bytes:
    value = data[name]
    if not (isinstance(value, str) and pattern.fullmatch(value)):
        raise _schema(f"'{name}' must match {pattern.pattern}.")
    return bytes.fromhex(value)

"""A question and the fields of its answer, as clients, collectors and analysts know it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import date
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from deniable.errors import InvalidAnswer, InvalidReport
from deniable.protocol import epsilon, thresholds
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.domain import ABSENT, ABSENT_KEY, Absent, Answer, Domain
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import Parameters

if TYPE_CHECKING:
    from deniable.protocol.segments import Segment

MAX_FIELDS = 64
MAX_VERSION = 2**31 - 1
MAX_EPOCH_DAYS = 366
MAX_RETENTION_DAYS = 36_525  # a hundred years
QUESTION_ID = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
REPEATS = ("once", "epoch", "permanent")
SENDS = ("recorded", "always")
DIGEST_PREFIX = b"deniable/v1/question\n"
WHOLE = 1_000_000
"""The sum of the expected shares of a segment's values, and of a question's levels."""
PLAIN_FIELD = "value"
"""The name of the only field of a plain question."""


def is_candidate_path(name: str) -> bool:
    """Tell whether `name` leads to a place below the survey's folder, on every system."""
    path = PurePosixPath(name)
    strange = any(letter in name for letter in "\\:\0")  # Windows separators and drives
    inside = path.name != "" and not path.is_absolute() and ".." not in path.parts
    return inside and not strange and str(path) == name


@frozen
class Field:
    """One part of an answer: its domain, and the mechanism that reports it.

    `candidates` names a file of strings to test for, beside the survey; it is not in the digest.
    """

    name: str
    domain: Domain
    parameters: Parameters
    candidates: str = ""

    def answer(self, value: object, absent: bool) -> Answer:
        """Return the answer for `value`; ABSENT is one only where `absent` says so."""
        if not isinstance(value, Absent):
            return self.domain.answer(value)
        if not absent:
            raise InvalidAnswer("type", "This question has no absent answer.")
        return Answer(ABSENT_KEY, -1 if self.domain.size is None else self.domain.size)

    def contract(self) -> dict[str, Json]:
        """Return the part of the field that its digest covers."""
        return {
            "name": self.name,
            "domain": self.domain.published(),
            "mechanism": self.parameters.mechanism,
            "parameters": self.parameters.published(),
        }


@frozen
class Question:
    """A question: who asks it, until when, how often, and the fields of its answer.

    Each level of a question, a person's own choice of epsilon, is a question with a contract of
    its own; levels of one question share everything but `level`, `share` and the parameters.

    Attributes:
        level: the level's name; empty where the question offers none.
        share: the expected share of people at this level, in millionths; 0 where all are alike.
        segments: the labels of a device that a report carries in clear.
        asked: the threshold of the coin by which a device is asked at all; None if all are.
        retention_days: days after which its reports go; None for what the survey says.
        keep_counts: 1 if counts stay when its reports go, 0 if not; None for what the survey says.
    """

    id: str
    version: int
    description: str
    owner: str
    expires: date
    epoch: int
    repeat: str
    send: str
    fields: tuple[Field, ...]
    level: str = ""
    share: int = 0
    segments: tuple[Segment, ...] = ()
    asked: int | None = None
    retention_days: int | None = None
    keep_counts: int | None = None

    @property
    def absent(self) -> bool:
        """True if an absent answer exists: a report is then sent in any case."""
        return self.send == "always"

    @property
    def plain(self) -> bool:
        """True if the answer is one value, not one per field."""
        return len(self.fields) == 1 and self.fields[0].name == PLAIN_FIELD

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 over everything that gives a report its meaning.

        Description, owner, expiry, candidates, the values of segments, who is asked and how long
        reports stay may change without a new version.
        """
        return hashlib.sha256(DIGEST_PREFIX + canonical(self.contract())).digest()

    def contract(self) -> dict[str, Json]:
        """Return the part of the question that its digest covers."""
        level: dict[str, Json] = {"level": self.level} if self.level else {}
        return {
            **level,
            "id": self.id,
            "version": self.version,
            "epoch": self.epoch,
            "repeat": self.repeat,
            "send": self.send,
            "fields": [field.contract() for field in self.fields],
        }

    def published(self) -> dict[str, Json]:
        """Return the question as it stands in survey.json."""
        return {
            **self._perhaps(),
            **self.contract(),
            "description": self.description,
            "owner": self.owner,
            "expires": self.expires.isoformat(),
            "fields": [{**f.contract(), "candidates": f.candidates} for f in self.fields],
        }

    def _perhaps(self) -> dict[str, Json]:
        """Return the members that are left out where they would say nothing."""
        told: dict[str, Json] = {}
        if self.share:
            told["share"] = self.share
        if self.segments:
            told["segments"] = [segment.name for segment in self.segments]
        if self.asked is not None:
            told["asked"] = thresholds.to_text(self.asked)
        if self.retention_days is not None:
            told["retention_days"] = self.retention_days
        if self.keep_counts is not None:
            told["keep_counts"] = self.keep_counts
        return told

    @cached_property
    def combinations(self) -> tuple[str, ...]:
        """The texts of the combinations of its segments by number; one empty text without any."""
        if not self.segments:
            return ("",)
        from deniable.protocol.segments import combinations

        return combinations(self.segments)

    @property
    def title(self) -> str:
        """The id, with the level where there is one."""
        return f"{self.id} ({self.level})" if self.level else self.id

    @property
    def heading(self) -> str:
        """The description, with the level where there is one."""
        return f"{self.description} (level {self.level})" if self.level else self.description

    @cached_property
    def record_size(self) -> int:
        """The number of bytes of a record: its fields' records, one after the other."""
        return sum(field.parameters.layout.size for field in self.fields)

    def split_record(self, record: bytes) -> list[bytes]:
        """Cut a record into its fields' records.

        Raises:
            InvalidReport: if the record does not have exactly `record_size` bytes.
        """
        if len(record) != self.record_size:
            raise InvalidReport(
                "record", f"The record must be {self.record_size} bytes long. Got {len(record)}."
            )
        parts, start = [], 0
        for field in self.fields:
            end = start + field.parameters.layout.size
            parts.append(record[start:end])
            start = end
        return parts

    def check_record(self, record: bytes) -> None:
        """Raise InvalidReport unless a client that answers this question could send `record`."""
        for field, part in zip(self.fields, self.split_record(record), strict=True):
            field.parameters.check_record(part)

    def answers(self, value: object) -> tuple[Answer, ...]:
        """Return one answer per field.

        A plain question takes the value itself, one with several fields a mapping by field name.
        Where the question is always sent, a missing field is absent.

        Raises:
            InvalidAnswer: without the value.
        """
        if self.plain:
            return (self.fields[0].answer(value, self.absent),)
        if isinstance(value, Absent):
            return tuple(field.answer(value, self.absent) for field in self.fields)
        if not isinstance(value, Mapping):
            raise InvalidAnswer("type", "The value must be a mapping from field names.")
        if not value.keys() <= {field.name for field in self.fields}:
            raise InvalidAnswer("unknown_field", "The value has a field that the question has not.")
        if not self.absent and len(value) < len(self.fields):
            raise InvalidAnswer("missing_field", "The value must have every field.")
        return tuple(
            field.answer(value.get(field.name, ABSENT), self.absent) for field in self.fields
        )

    @cached_property
    def epsilon_once(self) -> int:
        """The epsilon of one report, all fields together, in micros."""
        return sum(field.parameters.epsilon_once for field in self.fields)

    @cached_property
    def epsilon_forever(self) -> int | None:
        """The epsilon of all reports ever made of one value; None if it grows with each report."""
        if self.repeat in ("once", "permanent"):
            return self.epsilon_once
        return epsilon.compose(field.parameters.epsilon_forever for field in self.fields)

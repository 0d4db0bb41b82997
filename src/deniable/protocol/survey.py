"""The published survey: what clients bundle or fetch, what collectors and analysts read.

survey.json is canonical (integers and strings only), so that its questions have one digest in
every language. People do not write it: they write TOML, and `deniable publish` resolves that.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Self

from deniable import _validate
from deniable.errors import InvalidAnswer, InvalidParameter, InvalidSurvey
from deniable.protocol import epsilon
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.domain import (
    ABSENT,
    ABSENT_KEY,
    Absent,
    Answer,
    Domain,
    domain_from_published,
)
from deniable.protocol.parameters import Parameters
from deniable.protocol.registry import MECHANISMS

FORMAT = 1
MAX_QUESTIONS = 1_000
MAX_FIELDS = 64
MAX_VERSION = 2**31 - 1
MAX_EPOCH_DAYS = 366
MAX_SURVEY_BYTES = 16 * 2**20
QUESTION_ID = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
REPEATS = ("once", "epoch")
SENDS = ("recorded", "always")
DIGEST_PREFIX = b"deniable/v1/question\n"
PLAIN_FIELD = "value"
"""The name of the only field of a plain question."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Question:
    """A question: who asks it, until when, how often, and the fields of its answer."""

    id: str
    version: int
    description: str
    owner: str
    expires: date
    epoch: int
    repeat: str
    send: str
    fields: tuple[Field, ...]

    @property
    def absent(self) -> bool:
        """Whether an absent answer exists: where a report is sent in any case."""
        return self.send == "always"

    @property
    def plain(self) -> bool:
        """Whether the answer is one value, not one per field."""
        return len(self.fields) == 1 and self.fields[0].name == PLAIN_FIELD

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 over everything that gives a report its meaning.

        Description, owner, expiry and candidates may change without a new version.
        """
        return hashlib.sha256(DIGEST_PREFIX + canonical(self.contract())).digest()

    def contract(self) -> dict[str, Json]:
        """Return the part of the question that its digest covers."""
        return {
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
            **self.contract(),
            "description": self.description,
            "owner": self.owner,
            "expires": self.expires.isoformat(),
            "fields": [{**f.contract(), "candidates": f.candidates} for f in self.fields],
        }

    @cached_property
    def record_size(self) -> int:
        """The number of bytes of a record: its fields' records, one after the other."""
        return sum(field.parameters.layout.size for field in self.fields)

    def split_record(self, record: bytes) -> list[bytes]:
        """Cut a record of the right size into its fields' records."""
        parts, start = [], 0
        for field in self.fields:
            end = start + field.parameters.layout.size
            parts.append(record[start:end])
            start = end
        return parts

    def answers(self, value: object) -> tuple[Answer, ...]:
        """Return one answer per field.

        A plain question takes the value itself, one with several fields a mapping by field name.
        Where the question is always sent, a missing field is absent.

        Raises:
            InvalidAnswer: without the value.
        """
        if self.plain or isinstance(value, Absent):
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
        if self.repeat == "once":
            return self.epsilon_once
        return epsilon.compose(field.parameters.epsilon_forever for field in self.fields)


@dataclass(frozen=True)
class Survey:
    """A published survey: its name, its owner and its questions."""

    name: str
    owner: str
    questions: tuple[Question, ...]

    def question(self, question_id: str, version: int | None = None) -> Question | None:
        """Return a question by id, the newest version unless one is named; None if unknown."""
        found = [
            q
            for q in self.questions
            if q.id == question_id and (version is None or q.version == version)
        ]
        return max(found, key=lambda q: q.version, default=None)

    def published(self) -> bytes:
        """Return the bytes of survey.json."""
        return canonical(
            {
                "deniable": FORMAT,
                "name": self.name,
                "owner": self.owner,
                "questions": [question.published() for question in self.questions],
            }
        )

    @classmethod
    def from_published(cls, data: bytes) -> Self:
        """Read survey.json.

        Raises:
            InvalidSurvey: if anything in it is not as `published` writes it.
        """
        try:
            return cls(*_read_survey(data))
        except InvalidParameter as error:
            raise InvalidSurvey([error]) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read survey.json from a file."""
        return cls.from_published(Path(path).read_bytes())


def _read_survey(data: bytes) -> tuple[str, str, tuple[Question, ...]]:
    if len(data) > MAX_SURVEY_BYTES:
        raise InvalidParameter(f"A survey must be at most {MAX_SURVEY_BYTES:,} bytes long.")
    try:
        raw = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidParameter("A survey must be JSON in UTF-8.") from None
    top = _object(raw, "survey", {"deniable", "name", "owner", "questions"})
    if top["deniable"] != FORMAT:
        raise InvalidParameter(f"This version reads surveys of format {FORMAT}: upgrade deniable.")
    questions = _list(top["questions"], "questions", MAX_QUESTIONS)
    read = tuple(_read_question(question) for question in questions)
    if len({(q.id, q.version) for q in read}) < len(read):
        raise InvalidParameter("Two questions have the same id and version.")
    return _text(top["name"], "name"), _text(top["owner"], "owner"), read


def _read_question(raw: object) -> Question:
    keys = {"id", "version", "description", "owner", "expires", "epoch", "repeat", "send", "fields"}
    data = _object(raw, "question", keys)
    try:
        expires = date.fromisoformat(_text(data["expires"], "expires"))
    except ValueError:
        raise InvalidParameter(
            "A question's 'expires' must be a date such as 2027-12-31."
        ) from None
    question = Question(
        id=_matching(data["id"], "id", QUESTION_ID),
        version=_validate.integer("version", "a question", data["version"], 1, MAX_VERSION),
        description=_text(data["description"], "description"),
        owner=_text(data["owner"], "owner"),
        expires=expires,
        epoch=_validate.integer("epoch", "a question", data["epoch"], 1, MAX_EPOCH_DAYS),
        repeat=_one_of(data["repeat"], "repeat", REPEATS),
        send=_one_of(data["send"], "send", SENDS),
        fields=tuple(_read_field(f) for f in _list(data["fields"], "fields", MAX_FIELDS)),
    )
    if len({field.name for field in question.fields}) < len(question.fields):
        raise InvalidParameter("Two fields of a question have the same name.")
    for field in question.fields:
        field.parameters.check_domain(field.domain, question.absent)
    return question


def _read_field(raw: object) -> Field:
    data = _object(raw, "field", {"name", "domain", "mechanism", "parameters", "candidates"})
    mechanism = _one_of(data["mechanism"], "mechanism", tuple(MECHANISMS))
    parameters = data["parameters"]
    if not isinstance(parameters, dict):
        raise InvalidParameter("A field's 'parameters' must be an object.")
    return Field(
        name=_matching(data["name"], "name", FIELD_NAME),
        domain=domain_from_published(data["domain"]),
        parameters=MECHANISMS[mechanism].from_published(parameters),
        candidates=_text(data["candidates"], "candidates"),
    )


def _object(raw: object, what: str, keys: set[str]) -> dict[str, object]:
    if not isinstance(raw, dict) or set(raw) != keys:
        raise InvalidParameter(
            f"A {what} must be an object with exactly {', '.join(sorted(keys))}."
        )
    return raw


def _list(raw: object, what: str, limit: int) -> list[object]:
    if not isinstance(raw, list) or not 1 <= len(raw) <= limit:
        raise InvalidParameter(f"'{what}' must be a list of 1 to {limit:,} entries.")
    return raw


def _text(raw: object, what: str) -> str:
    if not isinstance(raw, str):
        raise InvalidParameter(f"'{what}' must be a string.")
    return raw


def _matching(raw: object, what: str, pattern: re.Pattern[str]) -> str:
    if not (isinstance(raw, str) and pattern.fullmatch(raw)):
        raise InvalidParameter(f"'{what}' must match {pattern.pattern}. Got {raw!r:.80}.")
    return raw


def _one_of(raw: object, what: str, allowed: tuple[str, ...]) -> str:
    if not (isinstance(raw, str) and raw in allowed):
        raise InvalidParameter(f"'{what}' must be one of {', '.join(allowed)}. Got {raw!r:.80}.")
    return raw

"""The survey that a client answers: the app's bundled one, or a newer one that it has fetched."""

from __future__ import annotations

import hashlib
import sqlite3
from functools import cached_property
from pathlib import Path
from typing import Self

from deniable.client.transport import Request, Transport
from deniable.errors import InvalidSurvey
from deniable.protocol import Question, Survey
from deniable.protocol.budget import DEFAULT_CEILING
from deniable.protocol.frozen import frozen
from deniable.protocol.survey import MAX_SURVEY_BYTES

PATH = "/v1/survey"


@frozen
class Bundle:
    """A survey with the bytes it came from and its questions by id, newest version each."""

    survey: Survey
    body: bytes

    @classmethod
    def read(cls, source: Survey | bytes | str | Path) -> Self:
        """Read what an app bundles: a survey, the bytes of survey.json, or its path.

        Raises:
            InvalidSurvey: if it is not a published survey.
            OSError: if the file cannot be read.
        """
        if isinstance(source, Survey):
            return cls(source, source.published())
        body = source if isinstance(source, bytes) else Path(source).read_bytes()
        return cls(Survey.from_published(body), body)

    @cached_property
    def newest(self) -> dict[str, Question]:
        """The questions that are asked, by id; earlier versions and withdrawn ones are not."""
        return {question.id: question for question in self.survey.asked}

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the bytes."""
        return hashlib.sha256(self.body).digest()


def ceiling_of(app: int | None, bundled: Bundle, current: Bundle) -> int:
    """Return the most micros that are ever disclosed.

    The app says it; else the survey that it bundles; else it is the default. A survey that was
    fetched can only lower it, since no server may have a device say more than its app agreed to.
    """
    own = app or bundled.survey.ceiling or DEFAULT_CEILING
    fetched = None if current is bundled else current.survey.ceiling
    return own if fetched is None else min(own, fetched)


def fetch(transport: Transport, current: Bundle) -> Bundle | None:
    """Ask the collector for its survey; None if it is the current one.

    Guarantees: the entity tag sent is computed from the survey here, never one that a server
    chose, since a tag of the server's choice would work like a cookie.

    Raises:
        InvalidSurvey: if the answer is not a published survey.
        OSError: if there is no proper answer.
    """
    tag = f'"{current.digest.hex()}"'
    request = Request("GET", PATH, {"If-None-Match": tag}, largest_answer=MAX_SURVEY_BYTES)
    response = transport.send(request)
    if response.status == 304:
        return None
    if response.status != 200:
        raise OSError(f"The collector answered {response.status}.")
    if response.body == current.body:
        return None
    return Bundle.read(response.body)


def remembered(connection: sqlite3.Connection | None, bundled: Bundle) -> Bundle | None:
    """Return the survey that was fetched over this bundled one, if any.

    A restart must not go back to older versions, since each version costs epsilon of its own; an
    app that bundles another survey starts from that.
    """
    if connection is None:
        return None
    row = connection.execute(
        "SELECT body FROM fetched WHERE base = ?", (bundled.digest,)
    ).fetchone()
    try:
        return None if row is None else Bundle.read(bytes(row[0]))
    except InvalidSurvey:
        return None  # kept by another version of this library


def remember(connection: sqlite3.Connection, bundled: Bundle, fetched: Bundle) -> None:
    """Keep a fetched survey for the next start."""
    connection.execute("DELETE FROM fetched")
    connection.execute("INSERT INTO fetched VALUES (?, ?)", (bundled.digest, fetched.body))

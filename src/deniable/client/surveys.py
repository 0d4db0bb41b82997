"""The survey that a client answers: the app's bundled one, or what a fetched one leaves of it.

A server may ask for less than the app does, and never for more: see `narrowed`.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self

from deniable.client.transport import Request, Transport
from deniable.errors import InvalidSurvey
from deniable.protocol import Question, Survey
from deniable.protocol.composition import DEFAULT_CEILING, first_cost
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

    def at_level(self, choice: str) -> Self:
        """Return the bundle as it is asked of a person who chose a level."""
        survey = self.survey.at_level(choice)
        return self if survey is self.survey else type(self)(survey, self.body)

    @cached_property
    def newest(self) -> dict[str, Question]:
        """The questions that are asked, by id; earlier versions and withdrawn ones are not."""
        return {question.id: question for question in self.survey.asked}

    @cached_property
    def known(self) -> frozenset[bytes]:
        """The digests of all its questions, earlier ones included."""
        return frozenset(question.digest for question in self.survey.known)

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
    fetched = None if current.body == bundled.body else current.survey.ceiling
    return own if fetched is None else min(own, fetched)


def fetch(transport: Transport, current: Bundle) -> Bundle | None:
    """Ask the collector for its survey; None if it is the current one.

    Guarantees: the request is the same from every device, at any time. A conditional one would
    carry a hash of the bytes that the server chose for this device, and work like a cookie.

    Raises:
        InvalidSurvey: if the answer is not a published survey.
        OSError: if there is no proper answer.
    """
    response = transport.send(Request("GET", PATH, largest_answer=MAX_SURVEY_BYTES))
    if response.status != 200:
        raise OSError(f"The collector answered {response.status}.")
    if response.body == current.body:
        return None
    return Bundle.read(response.body)


Trusted = bool | frozenset[str]
"""The app's word: for every fetched survey, or for those with these SHA-256."""


def narrowed(bundled: Bundle, fetched: Bundle, trusted: Trusted) -> tuple[Bundle, list[str]]:
    """Return what a device answers of a fetched survey, and the ids of what it leaves out.

    Guarantees: nothing is answered that the app did not bundle, digest for digest, unless the app
    trusts the survey; then no version of a question asks for more than the bundled one, see
    `_asks_more`, and `history.check_versions` lets a device answer only one. Expiry, share of
    devices asked and ceiling are the lower ones. How long reports stay is what the server says:
    a question whose reports would stay for longer than the app's survey says is left out, unless
    the app trusts the survey. Everything else, such as segments and texts, is the app's own.
    """
    if fetched.survey == bundled.survey:
        return bundled, []
    word = trusted is True or (
        trusted is not False and hashlib.sha256(fetched.survey.published()).hexdigest() in trusted
    )
    own, theirs = _by_version(bundled.survey.asked), _by_version(fetched.survey.questions)
    asked, left_out = list[Question](), list[str]()
    for key, levels in own.items():
        # All levels of a version or none: without the first, another would be the default.
        offered = {q.digest: q for q in theirs.get(key, ())}
        if all(q.digest in offered for q in levels) and (
            word or not _stays_longer(bundled.survey, fetched.survey, levels[0])
        ):
            asked += [_less(q, offered[q.digest]) for q in levels]
    taken = {q.id for q in asked}
    for key, levels in _by_version(fetched.survey.asked).items():
        if key in own and key[0] in taken:
            continue
        new = _new_version(bundled.survey, levels) if word else None
        if new is None:
            left_out.append(key[0])
        else:
            asked = [*(q for q in asked if q.id != key[0]), *new]
    digests = {q.digest for q in asked}
    survey = replace(
        bundled.survey,
        questions=tuple(asked),
        earlier=tuple(q for q in bundled.survey.known if q.digest not in digests),
        ceiling=fetched.survey.ceiling,
        retention_days=fetched.survey.retention_days,
        keep_counts=fetched.survey.keep_counts,
    )
    return Bundle(survey, fetched.body), left_out


def _by_version(questions: Iterable[Question]) -> dict[tuple[str, int], list[Question]]:
    """Return the levels of each version, in their order."""
    found: dict[tuple[str, int], list[Question]] = {}
    for question in questions:
        found.setdefault((question.id, question.version), []).append(question)
    return found


def _new_version(bundled: Survey, levels: list[Question]) -> list[Question] | None:
    """Return a version that the app did not bundle as it may be asked, all levels; None if not.

    Edge cases: a question with a new id has nothing to be compared with. No value reaches it
    unless the app's code names it; it ends with the last of the app's questions.
    """
    versions = bundled.versions(levels[0].id)
    if not versions:
        last = max(question.expires for question in bundled.known)
        return [replace(q, expires=min(q.expires, last)) for q in levels]
    newest = [q for q in versions if q.version == versions[-1].version]
    if levels[0].version <= newest[0].version:
        return None
    if [q.level for q in levels] != [q.level for q in newest]:
        return None
    pairs = list(zip(newest, levels, strict=True))
    if any(_asks_more(old, new) for old, new in pairs):
        return None
    return [
        replace(new, expires=min(old.expires, new.expires), asked=_fewer(old, new))
        for old, new in pairs
    ]


_OFTEN = {"once": 0, "permanent": 1, "epoch": 2}


def _asks_more(old: Question, new: Question) -> bool:
    """Tell whether a version asks a device for more than the bundled one in any respect."""
    shown = {segment.name: set(segment.values) for segment in old.segments}
    return (
        any(more > less for more, less in zip(_costs(new), _costs(old), strict=True))
        or new.epoch < old.epoch
        or _OFTEN[new.repeat] > _OFTEN[old.repeat]
        or (old.absent and not new.absent)
        or not all(set(each.values) <= shown.get(each.name, set()) for each in new.segments)
    )


def _costs(question: Question) -> tuple[float, ...]:
    """Return the epsilon of one report, of a first value, and of one value for ever."""
    forever = question.epsilon_forever
    return (
        question.epsilon_once,
        first_cost(question),
        math.inf if forever is None else forever,
    )


def _less(own: Question, offered: Question) -> Question:
    """Return a bundled question with the nearer expiry and the smaller share of the two.

    Nothing on a device depends on how long its reports stay elsewhere: that is the server's word.
    """
    return replace(
        own,
        expires=min(own.expires, offered.expires),
        asked=_fewer(own, offered),
        retention_days=offered.retention_days,
        keep_counts=offered.keep_counts,
    )


def _stays_longer(bundled: Survey, fetched: Survey, own: Question) -> bool:
    """Tell whether reports to a bundled question would stay for longer than the app says."""
    from deniable.protocol.retention import keeping_of  # here: most clients fetch no other survey

    theirs = fetched.question(own.id, own.version)
    return theirs is not None and keeping_of(fetched, theirs).exceeds(keeping_of(bundled, own))


def _fewer(one: Question, other: Question) -> int | None:
    shares = [q.asked for q in (one, other) if q.asked is not None]
    return min(shares, default=None)


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

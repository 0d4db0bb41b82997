"""The published survey: clients bundle or fetch it, collectors and analysts read it.

survey.json is canonical (integers and strings only), so that its questions have one digest in
every language. People do not write it: they write TOML, and `deniable publish` resolves that.

Reading it gives the same survey in every language, or a refusal. Nothing is repaired and nothing
ignored, because a client that understood a survey differently from its collector would send reports
that mean something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from deniable import _validate
from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol.canonical import Json, canonical
from deniable.protocol.domain_reading import domain_from_published
from deniable.protocol.frozen import frozen
from deniable.protocol.profile_domain import Profile
from deniable.protocol.question import (
    FIELD_NAME,
    MAX_EPOCH_DAYS,
    MAX_FIELDS,
    MAX_RETENTION_DAYS,
    MAX_VERSION,
    QUESTION_ID,
    REPEATS,
    SENDS,
    Field,
    Question,
    is_candidate_path,
)
from deniable.protocol.registry import MECHANISMS, PROFILE_MECHANISMS

if TYPE_CHECKING:
    from deniable.protocol.segments import Segment

_FORMAT, _FORMAT_WITH_RETENTION = 1, 2
"""The second format is the first, with questions that say how long their reports stay."""
_OF_SECOND_FORMAT = frozenset({"retention_days", "keep_counts"})
"""The members of a question in the second format alone."""
MAX_QUESTIONS = 1_000
MAX_SURVEY_BYTES = 16 * 2**20

MAX_CEILING = 10**12
"""The largest ceiling in micros: a million of epsilon."""
DEFAULT_FLOOR = 100
"""The fewest reports of a combination of segments that are told apart, where a survey says none."""
MAX_PEOPLE = 10**10
_NUMBERS = {
    "ceiling": MAX_CEILING,
    "people": MAX_PEOPLE,
    "floor": MAX_PEOPLE,
    "retention_days": MAX_RETENTION_DAYS,
    "keep_counts": 1,
}
"""The members that are integers from 1, or left out, with their largest values."""


@frozen
class Survey:
    """A published survey.

    Attributes:
        name: its name.
        owner: who answers for it.
        questions: the questions that are asked.
        earlier: those that were asked before, by id and version: older versions, and questions
            that were withdrawn. No device records them. Reports that devices still hold are
            admitted until they expire, and collected reports are read with them.
        ceiling: the most epsilon that a device discloses in its life, in micros, where the app
            that bundles the survey says nothing else; None for the default.
        people: how many are expected to take part; None where nobody says.
        floor: the fewest reports of a combination of segments that are told apart once its epoch
            is closed; None for the default.
        retention_days: days after which reports may go; None if they stay.
        keep_counts: 1 if counts are kept when their reports go; None if not. A question may say
            otherwise of its own reports: see `keeping_of`.

    Example:
        >>> from datetime import date
        >>> from deniable.protocol import Boolean, Field, KRRParameters, Question, Survey
        >>> from deniable.authoring import resolve
        >>> krr = resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False)
        >>> field = Field("value", Boolean(), krr)
        >>> until = date(2099, 1, 1)
        >>> dark = Question("dark", 1, "Dark?", "us", until, 1, "once", "recorded", (field,))
        >>> survey = Survey("Test", "us", (dark,))
        >>> survey.question("dark").epsilon_once
        1000000
        >>> Survey.from_published(survey.published()) == survey
        True
    """

    name: str
    owner: str
    questions: tuple[Question, ...]
    earlier: tuple[Question, ...] = ()
    ceiling: int | None = None
    people: int | None = None
    floor: int | None = None
    retention_days: int | None = None
    keep_counts: int | None = None

    @property
    def known(self) -> tuple[Question, ...]:
        """Every question and version whose reports have a meaning: asked now, or earlier."""
        return (*self.questions, *self.earlier)

    @property
    def asked(self) -> tuple[Question, ...]:
        """The newest version of each question, all its levels, in the order of the survey."""
        newest = {q.id: q.version for q in sorted(self.questions, key=lambda q: q.version)}
        return tuple(q for q in self.questions if newest[q.id] == q.version)

    def question(
        self, question_id: str, version: int | None = None, level: str | None = None
    ) -> Question | None:
        """Return a question by id, asked now or earlier; None if unknown.

        Without a version it is the newest one that is asked, or, of a question that was withdrawn,
        the newest that was; without a level, the first that it offers.
        """
        found = [
            q
            for q in self.known
            if q.id == question_id
            and (version is None or q.version == version)
            and (level is None or q.level == level)
        ]
        return max(found, key=lambda q: q.version, default=None)

    def levels(self, question: Question) -> tuple[Question, ...]:
        """Return all levels of a question's version, in their order; itself if it has none."""
        key = (question.id, question.version)
        return tuple(q for q in self.known if (q.id, q.version) == key)

    def at_level(self, choice: str | None) -> Survey:
        """Return the survey as it is asked of a person who chose a level ("" for no choice)."""
        if not any(question.level for question in self.known):
            return self
        from deniable.protocol.levels import at_level

        questions, earlier = at_level(self.questions, choice), at_level(self.earlier, choice)
        return replace(self, questions=questions, earlier=earlier)

    def costliest(self) -> Survey:
        """Return the survey with one level of each question: the one that discloses the most."""
        return self.at_level(None)

    def versions(self, question_id: str) -> tuple[Question, ...]:
        """Return every version of a question that is asked or was, rising, with all levels."""
        found = (q for q in self.known if q.id == question_id)
        return tuple(sorted(found, key=lambda q: q.version))

    def published(self) -> bytes:
        """Return the bytes of survey.json."""
        members: dict[str, Json] = {
            "deniable": _format_of(self.known),
            "name": self.name,
            "owner": self.owner,
            "questions": [question.published() for question in self.questions],
        }
        if self.earlier:
            members["earlier"] = [question.published() for question in self.earlier]
        if segments := _segments_of(self.known):
            members["segments"] = [segment.published() for segment in segments]
        for name in _NUMBERS:
            if (number := getattr(self, name)) is not None:
                members[name] = number
        return canonical(members)

    @classmethod
    def from_published(cls, data: bytes) -> Self:
        """Read survey.json.

        Edge cases: spaces and line ends between its members are no mistake, since editors add
            them; another value, member, type or spelling of a number is.

        Raises:
            InvalidSurvey: if anything in it is not as `published` writes it.
        """
        try:
            return cls(**_read_published(data))
        except InvalidParameter as error:
            raise InvalidSurvey([error]) from None

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read survey.json from a file.

        Raises:
            InvalidSurvey: if it is not a published survey.
            OSError: if the file cannot be read.
        """
        return cls.from_published(Path(path).read_bytes())


def _read_published(data: bytes) -> dict[str, Any]:
    """Return the members of a survey.json, checked, by the names of `Survey`'s attributes.

    Raises:
        InvalidParameter: for the first thing that is not as a survey is published.
    """
    raw = _read_json(data)
    second = _check_format(raw) == _FORMAT_WITH_RETENTION
    keys = {"deniable", "name", "owner", "questions"}
    # The other members are left out where they would say nothing: a survey has one spelling.
    top = _object(raw, "survey", keys, {"earlier", "segments", *_NUMBERS})
    declared: tuple[Segment, ...] = ()
    if "segments" in top:
        from deniable.protocol.segments import read_segments

        declared = read_segments(top["segments"])
    more = _OF_SECOND_FORMAT if second else frozenset()
    questions = _questions(top["questions"], "questions", declared, more)
    earlier = _questions(top["earlier"], "earlier", declared, more) if "earlier" in top else ()
    check_history(questions, earlier)
    if declared and declared != _segments_of((*questions, *earlier)):
        raise InvalidParameter("The segments of a survey must all be named by a question.")
    numbers = {
        name: _validate.integer(name, "a survey", top[name], 1, largest)
        for name, largest in _NUMBERS.items()
        if name in top
    }
    texts = {name: _text(top[name], name) for name in ("name", "owner")}
    return {**texts, **numbers, "questions": questions, "earlier": earlier}


def _check_format(raw: object) -> object:
    """Refuse a survey of another format before its members, which may be others, are looked at.

    A survey has one spelling, so that the second format is one only where a question needs it.
    """
    written = raw.get("deniable", _FORMAT) if isinstance(raw, dict) else _FORMAT
    if written == _FORMAT or (written == _FORMAT_WITH_RETENTION and _needs_second(raw)):
        return written
    raise InvalidParameter(
        f"The survey is of another format: this version reads surveys of format {_FORMAT}, and of "
        f"format {_FORMAT_WITH_RETENTION} where a question has 'retention_days' or 'keep_counts': "
        "upgrade deniable."
    )


def _needs_second(raw: object) -> bool:
    """Tell whether a question of a survey.json has a member that the first format has not."""
    lists = (raw.get("questions"), raw.get("earlier")) if isinstance(raw, dict) else ()
    entries = [entry for each in lists if isinstance(each, list) for entry in each]
    return any(isinstance(entry, dict) and _OF_SECOND_FORMAT & entry.keys() for entry in entries)


def _format_of(questions: Sequence[Question]) -> int:
    told = any(q.retention_days is not None or q.keep_counts is not None for q in questions)
    return _FORMAT_WITH_RETENTION if told else _FORMAT


def _segments_of(questions: Sequence[Question]) -> tuple[Segment, ...]:
    """Return the segments that questions name, each once, sorted by name."""
    named = {segment.name: segment for question in questions for segment in question.segments}
    return tuple(named[name] for name in sorted(named))


def check_history(questions: Sequence[Question], earlier: Sequence[Question]) -> None:
    """Raise InvalidParameter unless these can be the asked and the earlier ones of one survey."""
    both = [*questions, *earlier]
    if len(both) > MAX_QUESTIONS:
        raise InvalidParameter(
            f"A survey has at most {MAX_QUESTIONS:,} questions and earlier versions together. "
            f"Got {len(questions):,} and {len(earlier):,}.",
            "Publish with --forget ID:VERSION what nobody reads any more, or split the survey.",
        )
    if len({(q.id, q.version, q.level) for q in both}) < len(both):
        raise InvalidParameter("Two questions have the same id and version (and level).")
    if any(q.level or q.share or q.segments for q in both):
        from deniable.protocol.levels import check_all_levels

        check_all_levels(questions, earlier)
    places = [(q.id, q.version) for q in earlier]
    if places != sorted(places):
        raise InvalidParameter("'earlier' must be sorted by id and version.")
    newest = {q.id: q.version for q in sorted(questions, key=lambda q: q.version)}
    for question in earlier:
        if question.version > newest.get(question.id, MAX_VERSION):
            raise InvalidParameter(
                f"Version {question.version} of '{question.id}' is in 'earlier', but an older one "
                "is asked."
            )


def _questions(
    raw: object, what: str, declared: Sequence[Segment], more: frozenset[str]
) -> tuple[Question, ...]:
    return tuple(_read_question(entry, declared, more) for entry in _list(raw, what, MAX_QUESTIONS))


def _read_json(data: bytes) -> object:
    """Return the parsed JSON of `data`, if canonical JSON can hold it."""
    if len(data) > MAX_SURVEY_BYTES:
        raise InvalidParameter(f"A survey must be at most {MAX_SURVEY_BYTES:,} bytes long.")
    try:
        raw = json.loads(data.decode("utf-8"), object_pairs_hook=_members)
    except InvalidParameter:
        raise
    except (ValueError, RecursionError):
        raise InvalidParameter("A survey must be JSON in UTF-8.") from None
    canonical(raw)  # refuses floats, true, false, null, large integers and unpaired surrogates
    return raw


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # JSON readers disagree on which of two equal members counts.
    members = dict(pairs)
    if len(members) < len(pairs):
        raise InvalidParameter("A survey's objects must not name a member twice.")
    return members


def _read_question(raw: object, declared: Sequence[Segment], more: frozenset[str]) -> Question:
    keys = {"id", "version", "description", "owner", "expires", "epoch", "repeat", "send", "fields"}
    data = _object(raw, "question", keys, {"level", "share", "segments", "asked", *more})
    question = Question(
        id=_matching(data["id"], "id", QUESTION_ID),
        version=_validate.integer("version", "a question", data["version"], 1, MAX_VERSION),
        description=_text(data["description"], "description"),
        owner=_text(data["owner"], "owner"),
        expires=_date(data["expires"]),
        epoch=_validate.integer("epoch", "a question", data["epoch"], 1, MAX_EPOCH_DAYS),
        repeat=_one_of(data["repeat"], "repeat", REPEATS),
        send=_one_of(data["send"], "send", SENDS),
        fields=tuple(_read_field(f) for f in _list(data["fields"], "fields", MAX_FIELDS)),
        **_read_perhaps(data, declared),
    )
    if len({field.name for field in question.fields}) < len(question.fields):
        raise InvalidParameter("Two fields of a question have the same name.")
    for field in question.fields:
        _check_fits(field)
        field.parameters.check_domain(field.domain, question.absent)
    return question


def _read_perhaps(data: dict[str, object], declared: Sequence[Segment]) -> dict[str, Any]:
    """Return the members of a question that are left out where they would say nothing."""
    if not data.keys() & {"level", "share", "segments", "asked", *_OF_SECOND_FORMAT}:
        return {}
    from deniable.protocol.levels import read_perhaps

    return read_perhaps(data, declared)


def _check_fits(field: Field) -> None:
    """Raise InvalidParameter if a profile is asked for by a mechanism that reports one value."""
    owner = field.parameters.mechanism
    if isinstance(field.domain, Profile) and owner not in PROFILE_MECHANISMS:
        raise InvalidParameter(
            f"{owner} reports one value, not a profile.",
            f"Use one of: {', '.join(PROFILE_MECHANISMS)}.",
        )


def _read_field(raw: object) -> Field:
    data = _object(raw, "field", {"name", "domain", "mechanism", "parameters", "candidates"})
    fix = "Load the file that has the mechanism: --plugin FILE."
    mechanism = _one_of(data["mechanism"], "mechanism", MECHANISMS, fix)
    parameters = data["parameters"]
    if not isinstance(parameters, dict):
        raise InvalidParameter("A field's 'parameters' must be an object.")
    return Field(
        name=_matching(data["name"], "name", FIELD_NAME),
        domain=domain_from_published(data["domain"]),
        parameters=MECHANISMS[mechanism].from_published(parameters),
        candidates=_candidates(data["candidates"]),
    )


def _date(raw: object) -> date:
    text = _text(raw, "expires")
    try:
        # fromisoformat also reads 20271231 and 2027-W52-5, which other languages do not.
        if (read := date.fromisoformat(text)).isoformat() == text:
            return read
    except ValueError:
        pass
    raise InvalidParameter("A question's 'expires' must be a date such as 2027-12-31.")


def _candidates(raw: object) -> str:
    name = _text(raw, "candidates")
    if name and not is_candidate_path(name):
        raise InvalidParameter("'candidates' must be a file below the survey's folder, with '/'.")
    return name


def _object(
    raw: object, what: str, keys: set[str], optional: set[str] | None = None
) -> dict[str, object]:
    if not isinstance(raw, dict) or not keys <= set(raw) <= keys | (optional or set()):
        more = f", and perhaps {', '.join(sorted(optional))}" if optional else ""
        raise InvalidParameter(
            f"A {what} must be an object with exactly {', '.join(sorted(keys))}{more}."
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
        raise InvalidParameter(
            f"'{what}' must match {pattern.pattern}. Got {_validate.shown(raw)}."
        )
    return raw


def _one_of(raw: object, what: str, allowed: Collection[str], fix: str = "") -> str:
    if not (isinstance(raw, str) and raw in allowed):
        got = _validate.shown(raw)
        raise InvalidParameter(f"'{what}' must be one of {', '.join(allowed)}. Got {got}.", fix)
    return raw

"""Reading survey.json: the same survey in every language, or a refusal.

Nothing is repaired and nothing ignored, because a client that understood a survey differently
from its collector would send reports that mean something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from deniable import _validate
from deniable.errors import InvalidParameter
from deniable.protocol.canonical import canonical
from deniable.protocol.domain_reading import domain_from_published
from deniable.protocol.profile_domain import Profile
from deniable.protocol.question import (
    FIELD_NAME,
    MAX_EPOCH_DAYS,
    MAX_FIELDS,
    MAX_VERSION,
    QUESTION_ID,
    REPEATS,
    SENDS,
    Field,
    Question,
    is_candidate_path,
)
from deniable.protocol.registry import MECHANISMS, PROFILE_MECHANISMS

FORMAT = 1
MAX_QUESTIONS = 1_000
MAX_SURVEY_BYTES = 16 * 2**20


MAX_CEILING = 10**12
"""The largest ceiling in micros: a million of epsilon."""


class Published(NamedTuple):
    """The members of a survey.json, in the order of `Survey`'s attributes."""

    name: str
    owner: str
    questions: tuple[Question, ...]
    earlier: tuple[Question, ...]
    ceiling: int | None


def read_published(data: bytes) -> Published:
    """Return the members of a survey.json, checked.

    Raises:
        InvalidParameter: for the first thing that is not as a survey is published.
    """
    keys = {"deniable", "name", "owner", "questions"}
    top = _object(_read_json(data), "survey", keys, {"earlier", "ceiling"})
    if top["deniable"] != FORMAT:
        raise InvalidParameter(f"This version reads surveys of format {FORMAT}: upgrade deniable.")
    questions = _questions(top["questions"], "questions")
    # Both members are left out where they would say nothing: a survey has one spelling.
    earlier = _questions(top["earlier"], "earlier") if "earlier" in top else ()
    ceiling = _ceiling(top["ceiling"]) if "ceiling" in top else None
    check_history(questions, earlier)
    name, owner = _text(top["name"], "name"), _text(top["owner"], "owner")
    return Published(name, owner, questions, earlier, ceiling)


def check_history(questions: Sequence[Question], earlier: Sequence[Question]) -> None:
    """Raise InvalidParameter unless these can be the asked and the earlier ones of one survey."""
    both = [*questions, *earlier]
    if len(both) > MAX_QUESTIONS:
        raise InvalidParameter(
            f"A survey has at most {MAX_QUESTIONS:,} questions and earlier versions together. "
            f"Got {len(questions):,} and {len(earlier):,}.",
            "Publish with --forget ID:VERSION what nobody reads any more, or split the survey.",
        )
    if len({(q.id, q.version) for q in both}) < len(both):
        raise InvalidParameter("Two questions have the same id and version.")
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


def _ceiling(raw: object) -> int:
    return _validate.integer("ceiling", "a survey", raw, 1, MAX_CEILING)


def _questions(raw: object, what: str) -> tuple[Question, ...]:
    return tuple(_read_question(question) for question in _list(raw, what, MAX_QUESTIONS))


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


def _read_question(raw: object) -> Question:
    keys = {"id", "version", "description", "owner", "expires", "epoch", "repeat", "send", "fields"}
    data = _object(raw, "question", keys)
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
    )
    if len({field.name for field in question.fields}) < len(question.fields):
        raise InvalidParameter("Two fields of a question have the same name.")
    for field in question.fields:
        _check_fits(field)
        field.parameters.check_domain(field.domain, question.absent)
    return question


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
    mechanism = _one_of(data["mechanism"], "mechanism", tuple(MECHANISMS))
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


def _one_of(raw: object, what: str, allowed: tuple[str, ...]) -> str:
    if not (isinstance(raw, str) and raw in allowed):
        got = _validate.shown(raw)
        raise InvalidParameter(f"'{what}' must be one of {', '.join(allowed)}. Got {got}.")
    return raw

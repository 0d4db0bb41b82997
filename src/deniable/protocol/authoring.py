"""Reading survey.toml, the file that people write, into a survey ready to be published.

Nothing here stops at the first mistake: `read_authored` returns every problem with its key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path, PurePosixPath

from deniable.errors import InvalidParameter, InvalidSurvey
from deniable.protocol.authoring_domain import read_domain
from deniable.protocol.problems import Notes, Problem
from deniable.protocol.rappor import RapporParameters
from deniable.protocol.registry import MECHANISMS
from deniable.protocol.survey import (
    FIELD_NAME,
    MAX_EPOCH_DAYS,
    MAX_FIELDS,
    MAX_QUESTIONS,
    MAX_VERSION,
    PLAIN_FIELD,
    QUESTION_ID,
    REPEATS,
    SENDS,
    Field,
    Question,
    Survey,
)

MAX_SURVEY_FILE = 16 * 2**20
FEW_PER_COHORT = 1_000
"""Below so many people per cohort a warning: cohort and permanent response single people out."""

_SURVEY_KEYS = frozenset({"name", "owner", "people", "questions"})
_FIELD_KEYS = frozenset({"domain", "mechanism", "parameters"})
_QUESTION_KEYS = frozenset(
    {"id", "version", "description", "owner", "expires", "epoch", "repeat", "send", "fields"}
)


@dataclass(frozen=True)
class Authored:
    """What a survey.toml says: a survey if nothing is wrong, and everything worth saying.

    `people` is the expected number of participants, None if the file does not say.
    """

    survey: Survey | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    people: int | None = None

    def require(self) -> Survey:
        """Return the survey, or raise InvalidSurvey with every problem."""
        if self.survey is None:
            raise InvalidSurvey(self.problems)
        return self.survey


def read_authored(path: str | Path) -> Authored:
    """Read and check survey.toml. Candidate files are looked for beside it."""
    path, notes = Path(path), Notes()
    try:
        data = path.read_bytes()
        if len(data) > MAX_SURVEY_FILE:
            raise InvalidParameter(f"the file must be at most {MAX_SURVEY_FILE:,} bytes long.")
        raw = tomllib.loads(data.decode("utf-8"))
    except OSError as error:
        problem = Problem(str(path), f"cannot be read: {error.strerror or error}.")
        return Authored(None, (problem,), ())
    except (ValueError, InvalidParameter, RecursionError) as error:
        problem = Problem(path.name, f"is not a TOML file: {error}")
        return Authored(None, (problem,), ())
    survey, people = _read_survey(raw, notes, path.parent)
    problems = tuple(notes.problems)
    return Authored(None if problems else survey, problems, tuple(notes.warnings), people)


def _read_survey(
    raw: Mapping[str, object], notes: Notes, folder: Path
) -> tuple[Survey | None, int | None]:
    notes.unknown_keys(raw, _SURVEY_KEYS)
    name, owner = notes.text(raw, "name"), notes.text(raw, "owner")
    people = notes.integer(raw, "people", 1, 10**10, None) if "people" in raw else None
    tables = raw.get("questions")
    if not isinstance(tables, list) or not 1 <= len(tables) <= MAX_QUESTIONS:
        notes.at("questions").problem(
            f"must be a list of 1 to {MAX_QUESTIONS:,} questions.", "add a [[questions]] table."
        )
        return None, people
    questions = [
        _read_question(table, notes.at(_place("questions", i, table)), folder, owner, people)
        for i, table in enumerate(tables)
    ]
    _check_ids(tables, notes)
    read = tuple(question for question in questions if question is not None)
    return Survey(name, owner, read), people


def _place(name: str, index: int, table: object) -> str:
    """Return a key such as questions[2], with the question's id where it has one."""
    label = table.get("id") if isinstance(table, Mapping) else None
    return f"{name}[{index}]" + (f"({label})" if isinstance(label, str) else "")


def _check_ids(tables: list[object], notes: Notes) -> None:
    seen: set[tuple[object, object]] = set()
    for i, table in enumerate(tables):
        if not isinstance(table, Mapping) or not isinstance(table.get("id"), str):
            continue
        version = table.get("version", 1)
        key = (table["id"], version if isinstance(version, int) else 1)
        if key in seen:
            notes.at(_place("questions", i, table)).at("id").problem(
                "another question has the same id and version.", "rename it or raise its version."
            )
        seen.add(key)


def _read_question(
    raw: object, notes: Notes, folder: Path, owner: str, people: int | None
) -> Question | None:
    if not isinstance(raw, Mapping):
        notes.problem("must be a table.", "write [[questions]] above its keys.")
        return None
    before = len(notes.problems)
    notes.unknown_keys(raw, _QUESTION_KEYS | _FIELD_KEYS)
    question_id = notes.text(raw, "id")
    if question_id and not QUESTION_ID.fullmatch(question_id):
        notes.at("id").problem(
            f"must match {QUESTION_ID.pattern}. Got {question_id!r:.80}.",
            "start with a lower-case letter; then letters, digits, '_', '.' and '-'.",
        )
    send = notes.choice(raw, "send", SENDS, "recorded")
    fields = _read_fields(raw, notes, folder, send == "always")
    memoised = bool(fields) and all(f.parameters.memoised for f in fields)
    repeat = notes.choice(raw, "repeat", REPEATS, "epoch" if memoised else "once")
    version = notes.integer(raw, "version", 1, MAX_VERSION, 1)
    epoch = notes.integer(raw, "epoch", 1, MAX_EPOCH_DAYS, 1)
    expires = _read_expiry(raw.get("expires"), notes.at("expires"))
    description = notes.text(raw, "description")
    owner = notes.text(raw, "owner", owner or "-")
    if len(notes.problems) > before or version is None or epoch is None or expires is None:
        return None
    question = Question(
        question_id, version, description, owner, expires, epoch, repeat, send, tuple(fields)
    )
    _warn(question, notes, people)
    return question


def _read_expiry(raw: object, notes: Notes) -> date | None:
    if isinstance(raw, date) and not isinstance(raw, datetime):
        return raw
    if isinstance(raw, str):
        try:
            return date.fromisoformat(raw)
        except ValueError:
            pass
    notes.problem(
        "missing." if raw is None else f"must be a date. Got {raw!r:.60}.",
        "add the last day of collection, such as expires = 2027-12-31.",
    )
    return None


def _read_fields(
    raw: Mapping[str, object], notes: Notes, folder: Path, absent: bool
) -> list[Field]:
    tables = raw.get("fields")
    if tables is None:
        field = _read_field(PLAIN_FIELD, raw, notes, folder, absent)
        return [field] if field else []
    for name in sorted(_FIELD_KEYS & raw.keys()):
        notes.at(name).problem(
            "belongs to each of the fields.", "move it below [[questions.fields]]."
        )
    if not isinstance(tables, list) or not 1 <= len(tables) <= MAX_FIELDS:
        notes.at("fields").problem(f"must be a list of 1 to {MAX_FIELDS} fields.")
        return []
    fields, names = [], set()
    for i, table in enumerate(tables):
        place = notes.at("fields").at(i)
        if not isinstance(table, Mapping):
            place.problem("must be a table.", "write [[questions.fields]] above its keys.")
            continue
        place.unknown_keys(table, _FIELD_KEYS | {"name"})
        name = place.text(table, "name")
        if name and (not FIELD_NAME.fullmatch(name) or name in names):
            place.at("name").problem(f"must match {FIELD_NAME.pattern} and differ from the others.")
        names.add(name)
        field = _read_field(name, table, place, folder, absent)
        if field:
            fields.append(field)
    return fields


def _read_field(
    name: str, raw: Mapping[str, object], notes: Notes, folder: Path, absent: bool
) -> Field | None:
    domain = read_domain(raw.get("domain"), notes.at("domain"))
    mechanism, wanted = raw.get("mechanism"), raw.get("parameters", {})
    allowed = tuple(MECHANISMS)
    if not (isinstance(mechanism, str) and mechanism in allowed):
        notes.at("mechanism").problem(
            "missing." if mechanism is None else f"unknown mechanism {mechanism!r:.60}.",
            f"use one of: {', '.join(allowed)}.",
        )
        return None
    place = notes.at("parameters")
    if not isinstance(wanted, Mapping):
        place.problem("must be a table.", "for example parameters = { epsilon = 1.0 }.")
        return None
    kind = MECHANISMS[mechanism]
    before = len(notes.problems)
    place.unknown_keys(wanted, kind.authored)
    candidates = _read_candidates(raw.get("domain"), notes.at("domain").at("candidates"), folder)
    if domain is None or len(notes.problems) > before:
        return None
    try:
        return Field(name, domain, kind.resolve(wanted, domain, absent), candidates)
    except InvalidParameter as error:
        place.refusal(error)
        return None


def _read_candidates(domain: object, notes: Notes, folder: Path) -> str:
    """Return the name of the candidate file, noting a name that leads away or to nothing."""
    name = domain.get("candidates", "") if isinstance(domain, Mapping) else ""
    if name == "":
        return ""
    path = PurePosixPath(name) if isinstance(name, str) else PurePosixPath("/")
    if path.is_absolute() or ".." in path.parts or "\\" in str(name):
        notes.problem("must be a file below the survey's folder, written with '/'.")
        return ""
    if not (folder / path).is_file():
        notes.problem(
            f"there is no file {str(path)!r:.80} beside the survey.", "make it, or leave it out."
        )
    return str(path)


def _warn(question: Question, notes: Notes, people: int | None) -> None:
    """Warn of promises that are weaker than they may look."""
    for field in question.fields:
        parameters = field.parameters
        cohorts = parameters.cohorts if isinstance(parameters, RapporParameters) else 1
        if people is not None and cohorts > 1 and people < FEW_PER_COHORT * cohorts:
            notes.at("parameters").warn(
                f"about {people // cohorts:,} people per cohort: so few that the cohort, sent in "
                "clear, makes it easier to follow one device.",
                f"use at most {max(1, people // FEW_PER_COHORT)} cohorts, or ask more people.",
            )
        if question.repeat == "epoch" and not parameters.memoised:
            notes.at("repeat").warn(
                "this mechanism has no permanent response: every report adds its whole epsilon.",
                'give epsilon_forever (or f > 0), or use repeat = "once".',
            )
    if question.expires < date.today():
        notes.at("expires").warn(f"{question.expires} is past: clients will not answer.")

"""Reading survey.toml, the file that people write, into a survey ready to be published.

Nothing here stops at the first mistake: `read_authored` returns every problem with its key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from deniable import _validate
from deniable._validate import shown
from deniable.authoring.field import FIELD_KEYS, Setting, count_listed, read_fields
from deniable.authoring.levels import at_level, read_levels
from deniable.authoring.problems import Notes, Problem
from deniable.authoring.resolving import authoring_of
from deniable.authoring.segments import (
    Cells,
    all_cells,
    check_cells,
    read_asked,
    read_chosen,
    read_declared,
)
from deniable.authoring.weak_shapes import warn_of_shape
from deniable.errors import InvalidSurvey
from deniable.protocol.budget import budget_of
from deniable.protocol.epochs import day_number, day_of
from deniable.protocol.epsilon import MICRO
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import Parameters, cohorts_of, told_by
from deniable.protocol.profile_parameters import ProfileParameters
from deniable.protocol.question import (
    MAX_EPOCH_DAYS,
    MAX_RETENTION_DAYS,
    MAX_VERSION,
    QUESTION_ID,
    REPEATS,
    SENDS,
    Question,
)
from deniable.protocol.segments import Segment, check_combinations
from deniable.protocol.survey import (
    DEFAULT_FLOOR,
    MAX_CEILING,
    MAX_PEOPLE,
    MAX_QUESTIONS,
    MAX_SURVEY_BYTES,
    Survey,
)

MAX_SURVEY_FILE = 16 * 2**20
FEW_PER_COHORT = 1_000
"""People per cohort below which there is a warning: cohort and permanent response together single
people out."""

_NUMBERS = {"people": MAX_PEOPLE, "floor": MAX_PEOPLE, "retention_days": MAX_RETENTION_DAYS}
_SURVEY_KEYS = frozenset(
    {"name", "owner", "ceiling", "keep_counts", "questions", "segments", *_NUMBERS}
)
_QUESTION_KEYS = frozenset(
    {"id", "version", "description", "owner", "expires", "epoch", "repeat", "send", "fields"}
    | {"segments", "levels", "asked", "retention_days", "keep_counts"}
)


@frozen
class Authored:
    """A survey.toml as read: the survey if nothing is wrong, and all problems and warnings.

    `people` is the expected number of participants, None if the file does not say; `cells` are the
    clear cells of the questions with segments or levels, also of those that are refused for them.
    """

    survey: Survey | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    people: int | None = None
    cells: tuple[Cells, ...] = ()

    def require(self) -> Survey:
        """Return the survey, or raise InvalidSurvey with every problem."""
        if self.survey is None:
            raise InvalidSurvey(self.problems)
        return self.survey


def read_authored(path: str | Path) -> Authored:
    """Read and check survey.toml. Candidate files are looked for beside it."""
    path, notes = Path(path), Notes()
    raw = _read_toml(path, notes)
    if raw is None:
        return Authored(None, tuple(notes.problems), ())
    survey, people = _read_survey(raw, notes, path.parent)
    if survey and not notes.problems and len(survey.published()) > MAX_SURVEY_BYTES:
        notes.at(path.name).problem(
            f"would be published as more than {MAX_SURVEY_BYTES:,} bytes.", "split the survey."
        )
    problems = tuple(notes.problems)
    cells = all_cells(survey.questions if survey else (), people)
    return Authored(None if problems else survey, problems, tuple(notes.warnings), people, cells)


def _read_toml(path: Path, notes: Notes) -> Mapping[str, object] | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SURVEY_FILE + 1)
        if len(data) <= MAX_SURVEY_FILE:
            return tomllib.loads(data.decode("utf-8"))
        notes.at(path.name).problem(
            f"must be at most {MAX_SURVEY_FILE:,} bytes long.", "split the survey."
        )
    except OSError as error:
        notes.at(str(path)).problem(
            f"cannot be read: {error.strerror or error}.", "check its name and its permissions."
        )
    except (ValueError, RecursionError) as error:
        notes.at(path.name).problem(f"is not a TOML file: {error}.", "mend its syntax there.")
    return None


def _read_survey(
    raw: Mapping[str, object], notes: Notes, folder: Path
) -> tuple[Survey | None, int | None]:
    notes.unknown_keys(raw, _SURVEY_KEYS)
    name, owner = notes.text(raw, "name"), notes.text(raw, "owner")
    numbers = {
        key: notes.integer(raw, key, 1, largest, None) if key in raw else None
        for key, largest in _NUMBERS.items()
    }
    people, floor = numbers["people"], numbers["floor"] or DEFAULT_FLOOR
    ceiling = _read_ceiling(raw["ceiling"], notes.at("ceiling")) if "ceiling" in raw else None
    keep_counts = _read_flag(raw, "keep_counts", notes)
    declared = read_declared(raw["segments"], notes.at("segments")) if "segments" in raw else ()
    tables = raw.get("questions")
    if not isinstance(tables, list) or not 1 <= len(tables) <= MAX_QUESTIONS:
        notes.at("questions").problem(
            f"must be a list of 1 to {MAX_QUESTIONS:,} questions.", "add a [[questions]] table."
        )
        return None, people
    before = len(notes.problems)
    questions: list[Question] = []
    for i, table in enumerate(tables):
        place = notes.at(_place("questions", i, table))
        levels = _read_question(table, place, folder, owner, people, declared)
        questions += levels
        if levels:
            _check_clear(levels, people, floor, place)
    _check_ids(tables, notes)
    survey = Survey(
        name,
        owner,
        tuple(questions),
        (),
        ceiling,
        people,
        numbers["floor"],
        numbers["retention_days"],
        keep_counts,
    )
    if len(notes.problems) == before:
        _warn_of_ceiling(survey, notes.at("ceiling"))
    return survey, people


def _check_clear(levels: Sequence[Question], people: int | None, floor: int, notes: Notes) -> None:
    """Note what is wrong with what a reader of the wire can group by."""
    number = notes.tried(
        lambda: check_combinations(levels[0].segments, len(levels)),
        "declare fewer values, segments or levels.",
    )
    if number is not None:
        check_cells(levels, people, floor, notes)


def _read_flag(raw: Mapping[str, object], key: str, notes: Notes) -> int | None:
    """Return 1 for true, None for false."""
    if isinstance(raw.get(key, False), bool):
        return 1 if raw.get(key) else None
    notes.at(key).problem(f"must be true or false. Got {shown(raw[key], 60)}.", f"{key} = true.")
    return None


def _read_ceiling(raw: object, notes: Notes) -> int | None:
    """Read the most epsilon of a device's life as micros, rounded down."""
    most = str(MAX_CEILING // MICRO)
    number = notes.tried(
        lambda: _validate.between("ceiling", "a survey", raw, "0.000001", most),
        "for example ceiling = 16.",
    )
    return None if number is None else int(Decimal(repr(number)) * MICRO)


def _warn_of_ceiling(survey: Survey, notes: Notes) -> None:
    """Warn where devices cannot answer every question."""
    budget = budget_of(survey, day_number())
    if budget.fits:
        return
    notes.warn(
        budget.words(),
        "ask fewer questions, lower their epsilons, or choose another ceiling; deniable explain "
        "has the budget of every question.",
    )


def _place(name: str, index: int, table: object) -> str:
    """Return a key such as questions[2], with the question's id where it has a good one."""
    label = table.get("id") if isinstance(table, Mapping) else None
    good = isinstance(label, str) and QUESTION_ID.fullmatch(label)
    return f"{name}[{index}]" + (f"({label})" if good else "")


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
    raw: object,
    notes: Notes,
    folder: Path,
    owner: str,
    people: int | None,
    declared: Sequence[Segment],
) -> list[Question]:
    """Return the levels of a question, itself where it has none; nothing if something is wrong."""
    table, before = notes.table(raw, "[[questions]]"), len(notes.problems)
    if table is None:
        return []
    notes.unknown_keys(table, _QUESTION_KEYS | FIELD_KEYS)
    question_id = notes.matching(table, "id", QUESTION_ID, ", '_', '.' and '-'")
    send = notes.choice(table, "send", SENDS, "recorded")
    version = notes.integer(table, "version", 1, MAX_VERSION, 1)
    epoch = notes.integer(table, "epoch", 1, MAX_EPOCH_DAYS, 1)
    expires = _read_expiry(table.get("expires"), notes.at("expires"))
    description = notes.text(table, "description")
    owner = notes.text(table, "owner", owner or "-")
    segments, asked = read_chosen(table, declared, notes), read_asked(table, notes)
    retention = _read_retention(table, notes)
    questions: list[Question] = []
    for level in read_levels(table, notes):
        fields = read_fields(
            at_level(table, level), notes, Setting(folder, send == "always", people)
        )
        memoised = bool(fields) and all(f.parameters.memoised for f in fields)
        repeat = notes.choice(table, "repeat", REPEATS, "epoch" if memoised else "once")
        if len(notes.problems) > before or version is None or epoch is None or expires is None:
            return []
        questions.append(
            Question(
                question_id,
                version,
                description,
                owner,
                expires,
                epoch,
                repeat,
                send,
                tuple(fields),
                level.name,
                level.share,
                segments,
                asked,
                *retention,
            )
        )
    if questions:
        _warn(questions[0], notes, people, folder)
    return questions


def _read_retention(table: Mapping[str, object], notes: Notes) -> tuple[int | None, int | None]:
    """Return a question's own retention_days and keep_counts; None for what the survey says."""
    days = None
    if "retention_days" in table:
        days = notes.integer(table, "retention_days", 1, MAX_RETENTION_DAYS, None)
    if "keep_counts" not in table:
        return days, None
    return days, _read_flag(table, "keep_counts", notes) or 0


def _read_expiry(raw: object, notes: Notes) -> date | None:
    if isinstance(raw, date) and not isinstance(raw, datetime):
        return raw
    if isinstance(raw, str):
        try:
            return date.fromisoformat(raw)
        except ValueError:
            pass
    notes.problem(
        "missing." if raw is None else f"must be a date. Got {shown(raw, 60)}.",
        "add the last day of collection, such as expires = 2027-12-31.",
    )
    return None


def _warn_of_few(parameters: ProfileParameters, notes: Notes, people: int) -> None:
    """Warn where reports are fewer than the numbers that tables are made of."""
    if people < parameters.unknowns:
        notes.warn(
            f"{people:,} people for tables of {parameters.order} of {len(parameters.answers)} "
            f"attributes, which are made of {parameters.unknowns:,} numbers: hardly "
            "anybody will report on each of them, and they will be mostly noise.",
            "lower 'order', ask about fewer attributes or answers, or ask more people.",
        )


def _warn(question: Question, notes: Notes, people: int | None, folder: Path) -> None:
    """Warn of promises that are weaker than they may look."""
    for i, field in enumerate(question.fields):
        place = notes if question.plain else notes.at("fields").at(i)
        parameters = field.parameters
        # Of a string that is discovered a device sends one report: there is nothing to follow.
        once = question.repeat == "once" and told_by(parameters) != "cohort"
        _warn_of_cohorts(parameters, place.at("parameters"), None if once else people)
        listed = count_listed(folder / field.candidates) if field.candidates else 0
        again = question.repeat != "once"
        warn_of_shape(parameters, place.at("parameters"), listed, again)
        # Only tables of a profile are made of more numbers than answers.
        if people is not None and isinstance(parameters, ProfileParameters):
            _warn_of_few(parameters, place.at("parameters"), people)
        if question.repeat == "epoch" and not parameters.memoised:
            two_stages = {"epsilon_forever", "f"} & authoring_of(parameters.mechanism).keys.keys()
            other = "give epsilon_forever (or f > 0), or " if two_stages else ""
            place.at("parameters").warn(
                "this mechanism has no permanent response: every report adds its whole epsilon.",
                f'{other}use repeat = "once" or "permanent".',
            )
        if question.repeat == "permanent" and parameters.memoised:
            place.at("parameters").warn(
                'with repeat = "permanent" every report of a value is the same: a second stage '
                "only adds noise.",
                'leave epsilon_forever (or f) out, or use repeat = "epoch".',
            )
    if day_of(question.expires) < day_number():
        notes.at("expires").warn(
            f"{question.expires} is past: clients will not answer.", "set a later day."
        )


def _warn_of_cohorts(parameters: Parameters, notes: Notes, people: int | None) -> None:
    """Warn where few people share the cohort that a report shows in clear."""
    told, shown_by = cohorts_of(parameters), told_by(parameters)
    if people is None or told == 1 or people >= FEW_PER_COHORT * told:
        return
    apart = told // getattr(parameters, "cohorts", 1)  # groups, or choices of places
    fewer = f"use at most {max(1, people // (FEW_PER_COHORT * apart))} cohorts, or ask more people"
    enough = people >= FEW_PER_COHORT * apart
    notes.warn(
        f"about {people // told:,} people per {shown_by}: so few that the {shown_by}, sent in "
        "clear, makes it easier to follow one device.",
        f"{fewer}." if enough else f"{fewer}: {FEW_PER_COHORT * apart:,} for one cohort.",
    )

"""Reading the fields that a person wrote in survey.toml: domain, mechanism, parameters."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from deniable._validate import nearest, shown
from deniable.authoring import auto
from deniable.authoring.domain import read_domain
from deniable.authoring.informed import informed
from deniable.authoring.problems import Notes
from deniable.authoring.profile import (
    check_names,
    check_parameters,
    is_profile,
    read_name,
    read_profile,
)
from deniable.authoring.resolving import authoring_of
from deniable.authoring.written import Authoring
from deniable.errors import InvalidParameter
from deniable.protocol.domain import Domain, Strings
from deniable.protocol.prefixes import PrefixesParameters
from deniable.protocol.question import (
    MAX_FIELDS,
    PLAIN_FIELD,
    Field,
    is_candidate_path,
)
from deniable.protocol.registry import MECHANISMS

FIELD_KEYS = frozenset({"domain", "mechanism", "parameters"})


class Setting(NamedTuple):
    """The context that the fields of a question share.

    Attributes:
        folder: where candidate files are looked for.
        absent: whether there is an absent answer.
        people: the expected number; None if the survey does not say.
    """

    folder: Path
    absent: bool
    people: int | None


def read_fields(raw: Mapping[str, object], notes: Notes, setting: Setting) -> list[Field]:
    """Return the fields of a question's table, with notes of everything that is wrong with them."""
    tables = raw.get("fields")
    if tables is None:
        field = _read_field(PLAIN_FIELD, raw, notes, setting)
        return [field] if field else []
    if is_profile(raw):
        field = read_profile(raw, notes, setting.absent, setting.people)
        return [field] if field else []
    for name in sorted(FIELD_KEYS & raw.keys()):
        notes.at(name).problem(
            "belongs to each of the fields.", "move it below [[questions.fields]]."
        )
    if not isinstance(tables, list) or not 1 <= len(tables) <= MAX_FIELDS:
        notes.at("fields").problem(
            f"must be a list of 1 to {MAX_FIELDS} fields.", "add a [[questions.fields]] table."
        )
        return []
    places = [notes.at("fields").at(i) for i in range(len(tables))]
    check_names(tables, places)
    read = [
        _read_named_field(table, place, setting)
        for table, place in zip(tables, places, strict=True)
    ]
    return [field for field in read if field is not None]


def _read_named_field(raw: object, notes: Notes, setting: Setting) -> Field | None:
    table = notes.table(raw, "[[questions.fields]]")
    if table is None:
        return None
    notes.unknown_keys(table, FIELD_KEYS | {"name"})
    return _read_field(read_name(table, notes), table, notes, setting)


def _read_field(
    name: str, raw: Mapping[str, object], notes: Notes, setting: Setting
) -> Field | None:
    before = len(notes.problems)
    domain = read_domain(raw.get("domain"), notes.at("domain"))
    candidates = _read_candidates(
        raw.get("domain"), notes.at("domain").at("candidates"), setting.folder
    )
    good = bool(candidates) and len(notes.problems) == before
    listed = count_listed(setting.folder / candidates) if good else 0
    place, wanted = notes.at("parameters"), raw.get("parameters", {})
    mechanism = raw.get("mechanism")
    if mechanism == auto.NAME and not candidates and _to_be_found(domain, wanted):
        mechanism = PrefixesParameters.mechanism
    kind = _read_mechanism(mechanism, notes.at("mechanism"), setting, listed, domain)
    if kind is None:
        return None
    if not isinstance(wanted, Mapping):
        place.problem("must be a table.", "for example parameters = { epsilon = 1.0 }.")
        return None
    check_parameters(str(mechanism), kind.keys, wanted, place)
    if domain is None or len(notes.problems) > before:
        return None

    def made() -> Field:
        field = Field(name, domain, kind.resolve(wanted, domain, setting.absent), candidates)
        # Nobody else reads the channel before reports are there: what it lacks is said here.
        try:
            _ = field.parameters.channel
        except TypeError as error:
            raise InvalidParameter(
                f"The mechanism '{field.parameters.mechanism}' has an incomplete channel: {error}"
            ) from error
        return field

    return place.tried(made, "change it, or leave it out.")


def _to_be_found(domain: Domain | None, wanted: object) -> bool:
    """Tell whether strings that nobody listed are to be found: their alphabet is declared.

    A permanent response is none of what finds strings: with one, strings are tested for.
    """
    declared = isinstance(domain, Strings) and bool(domain.alphabet)
    return declared and not (isinstance(wanted, Mapping) and "epsilon_forever" in wanted)


def count_listed(path: Path) -> int:
    """Return the number of strings in a candidate file: what is fitted, and tested, at once."""
    try:
        with path.open("rb") as file:
            return sum(1 for line in file if line.strip())
    except OSError:
        return 0  # it can be gone by now; whoever needs it says so


def _read_mechanism(
    name: object, notes: Notes, setting: Setting, listed: int, domain: Domain | None
) -> Authoring | None:
    if name == auto.NAME:
        return auto.authoring(setting.people, listed)
    if name == PrefixesParameters.mechanism:
        return informed(setting.people, setting.folder)
    if isinstance(name, str) and name in MECHANISMS:
        return authoring_of(name)
    names = (*fitting_mechanisms(domain, setting.absent), auto.NAME)
    guess = nearest(name, names) if isinstance(name, str) else ""
    notes.problem(
        "missing." if name is None else f"unknown mechanism {shown(name, 60)}.{guess}",
        f"use one of: {', '.join(names)}; or load your own: --plugin FILE.",
    )
    return None


def fitting_mechanisms(domain: Domain | None, absent: bool) -> tuple[str, ...]:
    """Return the mechanisms that can ask about a domain; all where the domain is not known."""
    if domain is None:
        return tuple(MECHANISMS)
    return tuple(name for name in MECHANISMS if _fits(name, domain, absent))


def _fits(name: str, domain: Domain, absent: bool) -> bool:
    """Tell whether a mechanism can ask about a domain, at some epsilon."""
    for wanted in ({"epsilon": 1.0}, {"epsilon": 1.0, "epsilon_forever": 2.0}):
        try:
            parameters = authoring_of(name).resolve(wanted, domain, absent)
            parameters.check_domain(domain, absent)
        except InvalidParameter:
            continue
        return True
    return False


def _read_candidates(domain: object, notes: Notes, folder: Path) -> str:
    """Return the name of the candidate file, noting a name that leads away or to nothing."""
    name = domain.get("candidates", "") if isinstance(domain, Mapping) else ""
    if name == "":
        return ""
    path = str(PurePosixPath(name)) if isinstance(name, str) else ""
    if not is_candidate_path(path):
        notes.problem(
            "must be a file below the survey's folder, written with '/'.",
            'for example candidates = "candidates.txt".',
        )
    elif not _is_file(folder / path):
        notes.problem(
            f"there is no file {shown(path)} beside the survey.", "make it, or leave it out."
        )
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for the file system, a folder that may not be entered
        return False

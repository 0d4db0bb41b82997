"""Reading a question about many attributes in survey.toml: its fields make one profile.

    [[questions]]
    mechanism = "coefficients"
    parameters = { epsilon = 1.1, order = 2 }
    [[questions.fields]]
    name = "toll"
    domain = "boolean"

The mechanism stands at the question, because one report covers all fields together.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable._validate import shown
from deniable.authoring import auto
from deniable.authoring.auto import Auto
from deniable.authoring.auto_profile import AutoProfile
from deniable.authoring.domain import read_domain
from deniable.authoring.informed import Informed
from deniable.authoring.problems import Notes
from deniable.errors import InvalidParameter
from deniable.protocol.parameters import Parameters
from deniable.protocol.profile_domain import (
    CLOSED_KINDS,
    MAX_ATTRIBUTES,
    MIN_ATTRIBUTES,
    Attribute,
    Profile,
)
from deniable.protocol.question import FIELD_NAME, PLAIN_FIELD, Field
from deniable.protocol.registry import MECHANISMS, PROFILE_MECHANISMS

Kind = type[Parameters] | Auto | AutoProfile | Informed


def is_profile(raw: Mapping[str, object]) -> bool:
    """Tell whether a question with fields is about a profile: its mechanism is at the question."""
    tables, name = raw.get("fields"), raw.get("mechanism")
    each = isinstance(tables, list) and any(
        isinstance(table, Mapping) and "mechanism" in table for table in tables
    )
    return not each and name in (*PROFILE_MECHANISMS, auto.NAME)


def read_profile(
    raw: Mapping[str, object], notes: Notes, absent: bool, people: int | None = None
) -> Field | None:
    """Return the only field of a question about a profile, with notes of everything wrong.

    `people`, how many the survey expects, decides what "auto" and the size of views choose.
    """
    before = len(notes.problems)
    if "domain" in raw:
        notes.at("domain").problem(
            "belongs to each of the fields.", "move it below [[questions.fields]]."
        )
    domain = _read_attributes(raw.get("fields"), notes.at("fields"))
    name = str(raw["mechanism"])
    kind: Kind = AutoProfile() if name == auto.NAME else MECHANISMS[name]
    place, wanted = notes.at("parameters"), raw.get("parameters", {})
    if not isinstance(wanted, Mapping):
        place.problem("must be a table.", "for example parameters = { epsilon = 1.0, order = 2 }.")
        return None
    check_parameters(kind, wanted, place)
    if domain is None or len(notes.problems) > before:
        return None
    known = wanted if people is None else {**wanted, "people": people}
    try:
        return Field(PLAIN_FIELD, domain, kind.resolve(known, domain, absent))
    except InvalidParameter as error:
        place.refusal(error, "change it, or leave it out.")
        return None


def _read_attributes(tables: object, notes: Notes) -> Profile | None:
    if not isinstance(tables, list) or not MIN_ATTRIBUTES <= len(tables) <= MAX_ATTRIBUTES:
        got = len(tables) if isinstance(tables, list) else "no list"
        notes.problem(
            f"a profile has {MIN_ATTRIBUTES} to {MAX_ATTRIBUTES} fields. Got {got}.",
            "ask one attribute as a plain question; split more than "
            f"{MAX_ATTRIBUTES} into several profiles.",
        )
        return None
    places = [notes.at(i) for i in range(len(tables))]
    check_names(tables, places)
    read = [_read_attribute(table, place) for table, place in zip(tables, places, strict=True)]
    good = tuple(attribute for attribute in read if attribute is not None)
    return Profile(good) if len(good) == len(tables) else None


def _read_attribute(raw: object, notes: Notes) -> Attribute | None:
    if not isinstance(raw, Mapping):
        notes.problem("must be a table.", "write [[questions.fields]] above its keys.")
        return None
    notes.unknown_keys(raw, {"name", "domain"})
    name = read_name(raw, notes)
    domain = read_domain(raw.get("domain"), notes.at("domain"))
    if domain is not None and not isinstance(domain, CLOSED_KINDS):
        notes.at("domain").problem(
            "a field of a profile must be boolean, categories or numbers.",
            "ask it as a question of its own.",
        )
        return None
    return None if domain is None else Attribute(name, domain)


def read_name(raw: Mapping[str, object], notes: Notes) -> str:
    """Return the name of a field, with a note if it is missing or may not be one."""
    name = notes.text(raw, "name")
    if name and not FIELD_NAME.fullmatch(name):
        notes.at("name").problem(
            f"must match {FIELD_NAME.pattern}. Got {shown(name)}.",
            "start with a lower-case letter; then letters, digits and '_'.",
        )
    return name


def check_names(tables: list[object], places: list[Notes]) -> None:
    """Note each field whose name another one before it has."""
    names = [table.get("name") if isinstance(table, Mapping) else None for table in tables]
    for i, name in enumerate(names):
        if isinstance(name, str) and name in names[:i]:
            places[i].at("name").problem("another field has the same name.", "rename it.")


def check_parameters(kind: Kind, wanted: Mapping[str, object], notes: Notes) -> None:
    """Note the mistakes of each parameter alone; `resolve` checks them together."""
    notes.unknown_keys(wanted, kind.authored)
    for name, value in wanted.items():
        if name not in kind.authored:
            continue
        written = kind.authored[name]
        try:
            written.check(name, kind.mechanism, value)
        except InvalidParameter as error:
            notes.at(name).refusal(error, f"for example {name} = {written.example}.")

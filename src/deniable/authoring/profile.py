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
from functools import partial

from deniable.authoring import auto
from deniable.authoring.auto_profile import AUTHORING
from deniable.authoring.domain import read_domain
from deniable.authoring.problems import Notes
from deniable.authoring.resolving import authoring_of
from deniable.authoring.written import Written
from deniable.protocol.profile_domain import (
    CLOSED_KINDS,
    MAX_ATTRIBUTES,
    MIN_ATTRIBUTES,
    UNKNOWN,
    Attribute,
    Perhaps,
    Profile,
)
from deniable.protocol.question import FIELD_NAME, PLAIN_FIELD, Field
from deniable.protocol.registry import PROFILE_MECHANISMS

ATTRIBUTE_KEYS = frozenset({"name", "domain", "unknown"})


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
    keys, resolve = AUTHORING if name == auto.NAME else authoring_of(name)
    place, wanted = notes.at("parameters"), raw.get("parameters", {})
    if not isinstance(wanted, Mapping):
        place.problem("must be a table.", "for example parameters = { epsilon = 1.0, order = 2 }.")
        return None
    check_parameters(name, keys, wanted, place)
    if domain is None or len(notes.problems) > before:
        return None
    known = wanted if people is None else {**wanted, "people": people}
    return place.tried(
        lambda: Field(PLAIN_FIELD, domain, resolve(known, domain, absent)),
        "change it, or leave it out.",
    )


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
    table = notes.table(raw, "[[questions.fields]]")
    if table is None:
        return None
    notes.unknown_keys(table, ATTRIBUTE_KEYS)
    name, unknown = read_name(table, notes), table.get("unknown", False)
    domain = read_domain(table.get("domain"), notes.at("domain"))
    if domain is not None and not isinstance(domain, CLOSED_KINDS):
        notes.at("domain").problem(
            "a field of a profile must be boolean, categories or numbers.",
            "ask it as a question of its own.",
        )
        return None
    if domain is None or not unknown:
        return None if domain is None else Attribute(name, domain)
    if unknown is not True or UNKNOWN in domain.labels:
        notes.at("unknown").problem(
            f"must be true or false, where no category is called {UNKNOWN}.", "rename that one."
        )
        return None
    return Attribute(name, Perhaps(domain))


def read_name(raw: Mapping[str, object], notes: Notes) -> str:
    """Return the name of a field, with a note if it is missing or may not be one."""
    return notes.matching(raw, "name", FIELD_NAME, " and '_'")


def check_names(tables: list[object], places: list[Notes]) -> None:
    """Note each field whose name another one before it has."""
    names = [table.get("name") if isinstance(table, Mapping) else None for table in tables]
    for i, name in enumerate(names):
        if isinstance(name, str) and name in names[:i]:
            places[i].at("name").problem("another field has the same name.", "rename it.")


def check_parameters(
    owner: str, keys: Mapping[str, Written], wanted: Mapping[str, object], notes: Notes
) -> None:
    """Note the mistakes of each parameter alone; `resolve` checks them together."""
    notes.unknown_keys(wanted, keys)
    for name, value in wanted.items():
        if name not in keys:
            continue
        check, example = keys[name]
        fix = f"for example {name} = {example}."
        notes.at(name).tried(partial(check, name, owner, value), fix)

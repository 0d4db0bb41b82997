"""Reading the levels of a question: the epsilons among which each person chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from deniable import _validate
from deniable.authoring.problems import Notes
from deniable.authoring.profile import is_profile, read_name
from deniable.protocol.question import WHOLE
from deniable.protocol.segments import MAX_COMBINATIONS

_EPSILONS = ("epsilon", "epsilon_forever")
_KEYS = frozenset({"name", "share", *_EPSILONS})


class Level(NamedTuple):
    """One level as people wrote it: its name, its expected share in millionths, its epsilons."""

    name: str
    share: int
    epsilons: Mapping[str, float]


def read_levels(raw: Mapping[str, object], notes: Notes) -> list[Level]:
    """Return the levels of a question's table; one without a name where it has none."""
    tables = raw.get("levels")
    if tables is None:
        return [Level("", 0, {})]
    place = notes.at("levels")
    if not isinstance(tables, list) or not 2 <= len(tables) <= MAX_COMBINATIONS:
        place.problem(
            f"must be 2 to {MAX_COMBINATIONS} tables.", "add [[questions.levels]] tables."
        )
        return []
    read = [_read_level(table, place.at(i)) for i, table in enumerate(tables)]
    levels = [level for level in read if level is not None]
    if len({level.name for level in levels}) < len(levels):
        place.problem("two levels have the same name.", "rename one of them.")
    shares = [level.share for level in levels]
    if any(shares) and not (all(shares) and sum(shares) == WHOLE):
        place.problem("'share' must stand at each level, and add up to 1.", "or leave all out.")
    _check_no_epsilon(raw, notes)
    return levels


def _read_level(raw: object, notes: Notes) -> Level | None:
    table, before = notes.table(raw, "[[questions.levels]]"), len(notes.problems)
    if table is None:
        return None
    notes.unknown_keys(table, _KEYS)
    name = read_name(table, notes)
    if not any(key in table for key in _EPSILONS):
        notes.at("epsilon").problem("missing.", "add epsilon = 1.0.")
    level = notes.tried(partial(_level, name, table), "for example epsilon = 1.0, share = 0.5.")
    return level if len(notes.problems) == before else None


def _level(name: str, table: Mapping[str, object]) -> Level:
    given = [key for key in _EPSILONS if key in table]
    epsilons = {key: _validate.positive(key, "a level", table[key]) for key in given}
    share = 0.0
    if "share" in table:
        share = _validate.between("share", "a level", table["share"], "0.000001", "1")
    return Level(name, round(share * WHOLE), epsilons)


def _check_no_epsilon(raw: Mapping[str, object], notes: Notes) -> None:
    """Note an epsilon that stands at the question or a field, where its levels have theirs."""
    fields = raw.get("fields")
    tables = [raw, *(fields if isinstance(fields, list) else [])]
    for table in tables:
        written = table.get("parameters") if isinstance(table, Mapping) else None
        if isinstance(written, Mapping) and any(key in written for key in _EPSILONS):
            notes.at("parameters").problem(
                "an epsilon belongs to each level.", "move it below [[questions.levels]]."
            )


def at_level(raw: Mapping[str, object], level: Level) -> Mapping[str, object]:
    """Return a question's table with the epsilons of a level in its parameters.

    Fields share the level's epsilon equally, since the epsilon of a report is their sum.
    """
    fields = raw.get("fields")
    if not level.name:
        return raw
    if not isinstance(fields, list) or is_profile(raw):
        return _with_epsilons(raw, level.epsilons)
    parts = {key: epsilon / len(fields) for key, epsilon in level.epsilons.items()}
    return {
        **raw,
        "fields": [_with_epsilons(f, parts) if isinstance(f, Mapping) else f for f in fields],
    }


def _with_epsilons(
    table: Mapping[str, object], epsilons: Mapping[str, float]
) -> Mapping[str, object]:
    written = table.get("parameters", {})
    if not isinstance(written, Mapping):
        return table  # a problem of its own, noted where parameters are read
    return {**table, "parameters": {**written, **epsilons}}

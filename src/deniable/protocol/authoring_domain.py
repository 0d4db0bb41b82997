"""Reading the domain that a person wrote in survey.toml."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from itertools import pairwise

from deniable.protocol.domain import MAX_CATEGORIES, Boolean, Categories, Domain, Numbers, Strings
from deniable.protocol.problems import Notes

KINDS = ("boolean", "categories", "strings", "numbers")
_KEYS = {
    "boolean": frozenset({"type"}),
    "strings": frozenset({"type", "candidates"}),
    "categories": frozenset({"type", "values"}),
    "numbers": frozenset({"type", "edges", "low", "high", "bins", "scale"}),
}


def read_domain(raw: object, notes: Notes) -> Domain | None:
    """Return the domain, or None with notes of everything that is wrong with it."""
    table = {"type": raw} if isinstance(raw, str) else raw
    if table is None:
        notes.problem("missing.", f'add domain = "boolean", or a table with type = {_kinds()}.')
        return None
    if not isinstance(table, Mapping) or table.get("type") not in KINDS:
        notes.problem(f"must name its type: one of {_kinds()}.", 'for example domain = "boolean".')
        return None
    kind = str(table["type"])
    notes.unknown_keys(table, _KEYS[kind])
    if kind == "boolean":
        return Boolean()
    if kind == "strings":
        return Strings()
    if kind == "categories":
        return _read_categories(table.get("values"), notes.at("values"))
    return _read_numbers(table, notes)


def _kinds() -> str:
    return ", ".join(KINDS)


def _read_categories(values: object, notes: Notes) -> Domain | None:
    if not isinstance(values, list) or not 2 <= len(values) <= MAX_CATEGORIES:
        got = f"{len(values):,}" if isinstance(values, list) else "none"
        notes.problem(
            f"must be a list of 2 to {MAX_CATEGORIES:,} names. Got {got}.",
            'list the possible answers, or use type = "strings" if they cannot be listed.',
        )
        return None
    if not all(isinstance(value, str) and value for value in values):
        notes.problem("must hold non-empty strings only.", "put each name in quotes.")
        return None
    names = [unicodedata.normalize("NFC", value) for value in values]
    repeated = sorted({name for name in names if names.count(name) > 1}) if _repeats(names) else []
    if repeated:
        notes.problem(f"names that appear twice (after NFC): {repeated!r:.200}.", "remove one.")
        return None
    return Categories(tuple(names))


def _repeats(names: list[str]) -> bool:
    return len(set(names)) < len(names)


def _read_numbers(table: Mapping[str, object], notes: Notes) -> Domain | None:
    ranged = table.keys() & {"low", "high", "bins", "scale"}
    if ("edges" in table) == bool(ranged):
        notes.problem(
            "needs either edges, or low, high and bins.",
            'for example low = 0, high = 100, bins = 10 (and scale = "log" for magnitudes).',
        )
        return None
    edges = table["edges"] if "edges" in table else _spread(table, notes)
    if edges is None:
        return None
    if not isinstance(edges, list) or not 1 <= len(edges) < MAX_CATEGORIES:
        notes.at("edges").problem(f"must be a list of 1 to {MAX_CATEGORIES - 1:,} numbers.")
        return None
    if not all(_finite(edge) for edge in edges):
        notes.at("edges").problem("must hold finite numbers only.")
        return None
    texts = [_decimal(edge) for edge in edges]
    bounds = [float(text) for text in texts]
    if not all(low < high for low, high in pairwise(bounds)):
        notes.problem("edges must rise strictly.", "sort them and remove repeated ones.")
        return None
    return Numbers(tuple(texts))


def _spread(table: Mapping[str, object], notes: Notes) -> list[float] | None:
    """Return the edges of equal (or equally proportioned) bins from low to high."""
    before = len(notes.problems)
    low, high = (_bound(table, name, notes) for name in ("low", "high"))
    bins = notes.integer(table, "bins", 1, MAX_CATEGORIES - 2, None)
    scale = notes.choice(table, "scale", ("linear", "log"), "linear")
    if len(notes.problems) > before or bins is None:
        return None
    if not low < high:
        notes.at("high").problem(f"must be greater than low = {low:g}. Got {high:g}.")
        return None
    if scale == "linear":
        return [low + (high - low) * i / bins for i in range(bins)] + [high]
    if not low > 0:
        notes.at("low").problem(
            f"must be greater than 0 on a logarithmic scale. Got {low:g}.",
            "numbers below `low` have a bin of their own: start at the smallest magnitude.",
        )
        return None
    edges = [low * (high / low) ** (i / bins) for i in range(bins)]
    # Twelve digits: 10 ** (3 * 1/3) is written 1000, not 999.9999999999998.
    return [low, *(float(f"{edge:.12g}") for edge in edges[1:]), high]


def _bound(table: Mapping[str, object], name: str, notes: Notes) -> float:
    value = table.get(name)
    if _finite(value):
        return float(value)  # type: ignore[arg-type]
    notes.at(name).problem(f"must be a finite number. Got {value!r:.60}.")
    return math.nan


def _finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 1e300


def _decimal(value: float) -> str:
    """Return the shortest decimal that every language reads as the same double."""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)

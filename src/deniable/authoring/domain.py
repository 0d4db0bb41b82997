"""Reading the domain that a person wrote in survey.toml."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from deniable._validate import shown
from deniable.authoring.problems import Notes
from deniable.protocol.domain import (
    ESCAPE,
    MAX_ALPHABET,
    MAX_CATEGORIES,
    MAX_LENGTH,
    MAX_NAMES,
    MAX_STRING_BYTES,
    OUTSIDE,
    Boolean,
    Categories,
    Domain,
    Numbers,
    Sets,
    Strings,
    StringSets,
    is_alphabet,
)
from deniable.protocol.domain_reading import is_category_name

_KINDS = ("boolean", "categories", "strings", "numbers", "set")
_KEYS = {
    "boolean": frozenset({"type"}),
    "strings": frozenset({"type", "candidates", "alphabet", "length", "outside"}),
    "categories": frozenset({"type", "values"}),
    "numbers": frozenset({"type", "edges", "low", "high", "bins", "scale"}),
    "set": frozenset({"type", "values", "most", "candidates", "alphabet", "length", "outside"}),
}


def read_domain(raw: object, notes: Notes) -> Domain | None:
    """Return the domain, or None with notes of everything that is wrong with it."""
    table = {"type": raw} if isinstance(raw, str) else raw
    if table is None:
        notes.problem("missing.", f'add domain = "boolean", or a table with type = {_kinds()}.')
        return None
    if not isinstance(table, Mapping) or table.get("type") not in _KINDS:
        notes.problem(f"must name its type: one of {_kinds()}.", 'for example domain = "boolean".')
        return None
    kind = str(table["type"])
    notes.unknown_keys(table, _KEYS[kind])
    if kind == "boolean":
        return Boolean()
    if kind == "strings":
        return _read_strings(table, notes)
    if kind == "categories":
        names = _read_names(table.get("values"), notes.at("values"), MAX_CATEGORIES)
        return None if names is None else Categories(names)
    if kind == "set":
        return _read_set(table, notes)
    return _read_numbers(table, notes)


def _kinds() -> str:
    return ", ".join(_KINDS)


def _read_strings(table: Mapping[str, object], notes: Notes) -> Domain | None:
    """Return any strings, or those over a declared alphabet, in whatever order it is written."""
    if not table.keys() & {"alphabet", "length", "outside"}:
        return Strings()
    alphabet = "".join(sorted(set(notes.text(table, "alphabet", None))))
    length = notes.integer(table, "length", 1, MAX_LENGTH, None)
    outside = notes.choice(table, "outside", OUTSIDE, "refuse")
    if alphabet and not is_alphabet(alphabet):
        notes.at("alphabet").problem(
            f"must hold 2 to {MAX_ALPHABET:,} different characters, each of them in NFC.",
            'for example alphabet = "abcdefghijklmnopqrstuvwxyz".',
        )
        return None
    if outside == "escape" and ESCAPE in alphabet:
        notes.at("alphabet").problem(
            "has the character U+FFFD, which stands for those outside.", "remove it."
        )
        return None
    return Strings(alphabet, length, outside) if alphabet and length is not None else None


def _read_set(table: Mapping[str, object], notes: Notes) -> Domain | None:
    """Return a set of listed names; without `values`, one of any strings."""
    if "values" not in table:
        most = notes.integer(table, "most", 1, MAX_NAMES, None)
        strings = _read_strings(table, notes)
        if most is None or not isinstance(strings, Strings):
            return None
        return StringSets(strings.alphabet, strings.length, strings.outside, most)
    notes.unknown_keys(table, {"type", "values", "most"})
    names = _read_names(table.get("values"), notes.at("values"), MAX_NAMES)
    most = notes.integer(table, "most", 1, MAX_NAMES if names is None else len(names), None)
    return None if names is None or most is None else Sets(names, most)


def _read_names(values: object, notes: Notes, limit: int) -> tuple[str, ...] | None:
    if not isinstance(values, list) or not 2 <= len(values) <= limit:
        got = f"{len(values):,}" if isinstance(values, list) else "none"
        fix = 'list the possible answers, or use type = "strings" if they cannot be listed.'
        if isinstance(values, list) and len(values) == 1:
            fix = "leave it out: an answer that is always the same tells nothing."
        notes.problem(f"must be a list of 2 to {limit:,} names. Got {got}.", fix)
        return None
    names = [unicodedata.normalize("NFC", value) for value in values if isinstance(value, str)]
    if len(names) < len(values) or not all(is_category_name(name) for name in names):
        notes.problem(
            f"must hold strings of 1 to {MAX_STRING_BYTES:,} UTF-8 bytes only.",
            "put each name in quotes, and shorten long ones.",
        )
        return None
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        notes.problem(
            f"names that appear twice (after NFC): {shown(repeated, 200)}.", "remove one."
        )
        return None
    return tuple(names)


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
    place = notes.at("edges")
    if not isinstance(edges, list) or not 1 <= len(edges) < MAX_CATEGORIES:
        place.problem(
            f"must be a list of 1 to {MAX_CATEGORIES - 1:,} numbers.", "for example [0, 10, 20]."
        )
        return None
    bounds = [number for number in map(_finite, edges) if number is not None]
    if len(bounds) < len(edges):
        place.problem("must hold finite numbers only.", "for example [0, 10, 20].")
        return None
    if not all(low < high for low, high in pairwise(bounds)):
        place.problem(
            "must rise strictly.",
            "sort them and remove repeated ones." if "edges" in table else "use fewer bins.",
        )
        return None
    return Numbers(tuple(_decimal(bound) for bound in bounds))


def _spread(table: Mapping[str, object], notes: Notes) -> list[float] | None:
    """Return the edges of equal (or equally proportioned) bins from low to high."""
    low, high = (_bound(table, name, notes) for name in ("low", "high"))
    bins = notes.integer(table, "bins", 1, MAX_CATEGORIES - 2, None)
    before = len(notes.problems)
    scale = notes.choice(table, "scale", ("linear", "log"), "linear")
    if low is not None and high is not None and not low < high:
        notes.at("high").problem(
            f"must be greater than low = {low:g}. Got {high:g}.", "exchange the two."
        )
    if scale == "log" and low is not None and not low > 0:
        notes.at("low").problem(
            f"must be greater than 0 on a logarithmic scale. Got {low:g}.",
            "numbers below `low` have a bin of their own: start at the smallest magnitude.",
        )
    if low is None or high is None or bins is None or len(notes.problems) > before:
        return None
    shares = [i / bins for i in range(1, bins)]
    if scale == "linear":
        inner = [low + (high - low) * share for share in shares]
    else:
        inner = [
            math.exp(math.log(low) + (math.log(high) - math.log(low)) * share) for share in shares
        ]
    # Twelve digits: 0.1 * 3 is written 0.3 and the cube root of 1000 is written 10.
    return [low, *(float(f"{edge:.12g}") for edge in inner), high]


def _bound(table: Mapping[str, object], name: str, notes: Notes) -> float | None:
    number = _finite(table.get(name))
    if number is None:
        notes.at(name).problem(
            f"must be a finite number. Got {shown(table.get(name), 60)}.",
            f"for example {name} = 1.",
        )
    return number


def _finite(value: object) -> float | None:
    """Return a number as a float; None for anything else, and from 1e300 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        return None
    return float(value)


def _decimal(number: float) -> str:
    """Return the shortest decimal that every language reads as the same double."""
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)

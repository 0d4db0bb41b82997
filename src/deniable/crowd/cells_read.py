"""Cells of a column as codes of a domain; a bad one is named by its row, never by its value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deniable._words import plural
from deniable.crowd.columns import is_missing
from deniable.crowd.population import Answers
from deniable.errors import InvalidAnswer, InvalidParameter
from deniable.mechanisms.base import Codes
from deniable.protocol import (
    ABSENT,
    Boolean,
    Categories,
    Domain,
    Field,
    Sets,
    Strings,
    StringSets,
)
from deniable.protocol.domain import ABSENT_KEY, Answer
from deniable.protocol.typed_values import typed_value

_NAMED_ROWS = 5
"""The most rows that a message names."""


def answers_read(
    field: Field, absent: bool, column: Sequence[Any], name: str
) -> list[Answer | None]:
    """Return the answer in each cell of a column; None where there is none to give."""
    lacking = field.answer(ABSENT, True) if absent else None
    return cells_read(column, name, field.domain, field.domain.answer, lacking)


def cells_read(
    column: Sequence[Any],
    name: str,
    domain: Domain,
    read: Callable[[object], Any],
    lacking: Any,
) -> list[Any]:
    """Return what `read` makes of every cell, of equal ones once; `lacking` of missing ones.

    Raises:
        InvalidParameter: naming the rows of cells outside of the domain.
    """
    seen: dict[object, Any] = {}
    found, bad, why = [], [], ""
    for row, cell in enumerate(column):
        if is_missing(cell):
            found.append(lacking)
            continue
        plain = cell.item() if isinstance(cell, np.generic) else cell
        key = (type(plain), plain) if isinstance(plain, str | bool | int | float) else None
        if key is None or key not in seen:
            try:
                made = read(_typed(domain, plain))
            except (InvalidAnswer, InvalidParameter) as error:
                made, why = InvalidAnswer, why or str(error)
            if key is not None:
                seen[key] = made
        else:
            made = seen[key]
        if made is InvalidAnswer:
            bad.append(row + 1)
        found.append(made)
    if bad:
        rows = ", ".join(f"{row:,}" for row in bad[:_NAMED_ROWS])
        more = " and others" if len(bad) > _NAMED_ROWS else ""
        raise InvalidParameter(
            f"Column {name!r:.80} has {plural(len(bad), 'value')} outside of the domain, of "
            f"people {rows}{more}. {why}",
            "Mend them, or leave those cells empty.",
        )
    return found


def _typed(domain: Domain, cell: object) -> object:
    """Return a cell as its domain takes it: frames have 0 and 1, and numbers as names, too."""
    if isinstance(cell, str):
        return typed_value(domain, cell)
    if isinstance(domain, Boolean) and isinstance(cell, int | float) and cell in (0, 1):
        return bool(cell)
    if isinstance(domain, Categories) and type(cell) is int:
        return str(cell)
    return cell


def answer_codes(
    field: Field, absent: bool, told: Sequence[Answer], rng: np.random.Generator
) -> tuple[Answers, Codes]:
    """Return the possible answers of a field, and each person's code among them."""
    domain, last = field.domain, [ABSENT] if absent else []
    if isinstance(domain, StringSets):
        return _string_sets(domain, told, rng)
    if isinstance(domain, Sets):
        rows = np.full((len(told), domain.most), len(domain.values), dtype=np.int64)
        for row, one in zip(rows, told, strict=True):
            row[: len(one.members)] = one.members
            if one.key == ABSENT_KEY:
                row[:] = len(domain.values) + 1
        return [*domain.values, *last], rows
    if isinstance(domain, Strings):
        keys = dict.fromkeys(one.key for one in told if one.key != ABSENT_KEY)
        places = {key: i for i, key in enumerate(keys)} | {ABSENT_KEY: len(keys)}
        found = np.array([places[one.key] for one in told], dtype=np.int64)
        return [*map(_text, keys), *last], found
    return [*domain.labels, *last], np.array([one.code for one in told], dtype=np.int64)


def _string_sets(
    domain: StringSets, told: Sequence[Answer], rng: np.random.Generator
) -> tuple[Answers, Codes]:
    """Return sets of strings by place: a larger set fills its places at random."""
    keys = dict.fromkeys(text for one in told for text in one.texts)
    places = {key: i for i, key in enumerate(keys)}
    rows = np.full((len(told), domain.most), len(keys), dtype=np.int64)
    for row, one in zip(rows, told, strict=True):
        held = np.array([places[text] for text in one.texts], dtype=np.int64)
        chosen = rng.permutation(held)[: domain.most] if len(held) > domain.most else held
        row[: len(chosen)] = chosen
    return list(map(_text, keys)), rows


def _text(key: bytes) -> str:
    return key[1:].decode("utf-8")

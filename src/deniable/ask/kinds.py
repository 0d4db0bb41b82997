"""The kinds of answers, and the ask that answers each; for dashboard, demo and commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deniable.ask.discover import found_table, is_discovered
from deniable.ask.estimate import chosen
from deniable.ask.grouped import listed_of
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.pooled import pooled_table
from deniable.ask.profiles import Profiles, any_profiles
from deniable.ask.several import AnyCounts, Asked, newest
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Profile
from deniable.results.table import Table, Tables

FieldAsk = Callable[[AnyCounts, Field, Source, Options], Table]
"""Makes a field's table from counts that are there already."""


def _estimated(counted: AnyCounts, field: Field, store: Source, options: Options) -> Table:
    return pooled_table(counted, field, listed_of(field, options), options)


KINDS: Mapping[str, FieldAsk] = {"estimate": _estimated, "discovery": found_table}
"""The ask of a field, by the kind of its answer."""


def kind_of(field: Field) -> str:
    """Return the kind of a field's answer: strings that nobody listed are discovered."""
    return "discovery" if is_discovered(field) and not field.candidates else "estimate"


@dataclass(frozen=True)
class Answered:
    """The answer about one field: a table, or else the problem that stands in its way.

    Attributes:
        field: the field of the question.
        table: None where there is a problem.
        problem: why there is no table.
        profiles: for a field of many attributes, their reports, ready for tables and pairs.
    """

    field: Field
    table: Table | None
    problem: str = ""
    profiles: Profiles | None = None


def ask_each(store: Source, asked: Asked, options: Options = DEFAULTS) -> tuple[Answered, ...]:
    """Return the answer about every field; a problem of one does not stop the others.

    Raises:
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(store, asked)
    found = []
    for field in chosen(newest(asked), options.fields):
        try:
            table = KINDS[kind_of(field)](counted, field, store, options)
            profiles = any_profiles(counted, options) if isinstance(field.domain, Profile) else None
            found.append(Answered(field, table, profiles=profiles))
        except InvalidParameter as error:
            found.append(Answered(field, None, str(error)))
    return tuple(found)


def ask(store: Source, asked: Asked, options: Options = DEFAULTS) -> Tables:
    """Return the table of every field of a question, each by the ask that answers its kind.

    Raises:
        InvalidParameter: if there is no table of a field.
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(store, asked)
    fields = chosen(newest(asked), options.fields)
    return Tables(KINDS[kind_of(field)](counted, field, store, options) for field in fields)

"""Strings that a discovery finds, as candidates of an association, on people kept apart.

Strings that were found by some reports stand out in those very reports, by luck if not by share:
a table of the same people would show every one of them too frequent, and together with whatever
the lucky ones answered. So the people are split by coins that do not look at any report. One part
finds the strings, the other part alone says what goes together: its reports had no say in the
choice, so that table, intervals and test are those of candidates that somebody had listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable._words import plural
from deniable.ask.associate.field_reports import FieldReports, scaled_epochs
from deniable.ask.discover import found_strings, is_discovered
from deniable.ask.options import Options
from deniable.errors import InvalidParameter
from deniable.mechanisms import mechanism_for
from deniable.mechanisms.candidates import check_is_list
from deniable.protocol import Field

FINDING = 0.5
"""The share of the people who find the strings."""
_SEED = 20_140
"""Of the coins that split people; any would do, and the same reports are split alike."""


@dataclass(frozen=True)
class FoundApart:
    """The strings that one part of the people found, and the reports of the other part.

    Attributes:
        read: the reports of those who took no part in finding.
        candidates: the strings that were found, by field, the most frequent first.
        notes: sentences for the reader.
    """

    read: FieldReports
    candidates: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]


def find_apart(
    read: FieldReports, fields: Sequence[Field], options: Options, most: int
) -> FoundApart:
    """Find the strings of the fields that `options.discovered` names, on a part of the people.

    Args:
        read: the reports of all fields.
        fields: those to associate.
        options: `discovered` names the fields; `beam` and `search` are of the discovery.
        most: the most strings of a field.

    Raises:
        InvalidParameter: if a field's strings are not found from reports, or none was found.
    """
    check_is_list(options.discovered, "Fields whose strings are to be found")
    known = [field.name for field in fields]
    if unknown := [name for name in options.discovered if name not in known]:
        raise InvalidParameter(
            f"Strings are to be found of {unknown[0]!r:.80}, which is not among the fields asked "
            f"for: {', '.join(known)}."
        )
    named = [field for field in fields if field.name in options.discovered]
    if wrong := [field.name for field in named if not is_discovered(field)]:
        raise InvalidParameter(
            f"The strings of field {wrong[0]!r} are not found from reports: its mechanism tests "
            "for those of a list.",
            f"Name a list: --candidates {wrong[0]}=FILE",
        )
    order = np.random.default_rng(_SEED).permutation(read.n)
    cut = round(FINDING * read.n)
    finders, others = _part(read, fields, order[:cut]), _part(read, fields, order[cut:])
    candidates, told = {}, []
    for field in named:
        candidates[field.name] = _found(finders, field, options)[:most]
        told.append(f"{len(candidates[field.name])} of {field.name}")
    notes = [
        f"Candidates ({', '.join(told)}) were found on {finders.n:,} of the people, drawn by "
        f"coins; everything here is of the other {others.n:,}, who had no say in them."
    ]
    if len(read.accumulated.epochs) > 1:
        notes.append(
            "Reports, not people, were kept apart: devices that reported in several epochs may be "
            "on both sides, and small shares may be too high. One epoch by itself has no such bias."
        )
    return FoundApart(others, candidates, tuple(notes))


def _found(finders: FieldReports, field: Field, options: Options) -> list[str]:
    found = found_strings(finders.accumulated, field, lambda: finders.reports[field.name], options)
    strings = [row.value for row in found.rows if row.holm or row.storey]
    if not strings:
        raise InvalidParameter(
            f"No string of field {field.name!r} was found in {plural(finders.n, 'report')}, "
            "half of all, "
            "so there is nothing to associate.",
            f"Collect more reports, or name strings: --candidates {field.name}=FILE",
        )
    return strings


def _part(read: FieldReports, fields: Sequence[Field], places: NDArray[np.int64]) -> FieldReports:
    """Return the reports at some places, with counts of their own."""
    places = np.sort(places)
    reports = {f.name: np.ascontiguousarray(read.reports[f.name][places]) for f in fields}
    counts = {f.name: mechanism_for(f.parameters).accumulate(reports[f.name]) for f in fields}
    epochs = scaled_epochs(read.accumulated.epochs, len(places))
    simulated = round(read.accumulated.simulated * len(places) / max(1, read.n))
    accumulated = replace(read.accumulated, counts=counts, epochs=epochs, simulated=simulated)
    return FieldReports(reports, accumulated, read.drawn_from)

"""Reading the segments that people declare in survey.toml, and the clear cells that follow.

A *clear cell* holds the people whom a reader of the wire cannot tell apart: those with the same
segments, the same level and the same numbers that are permanent and in clear (cohort, group,
places). Few people in one make the exact presence of each of them a fact about a person.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from deniable import _validate
from deniable.authoring.problems import Notes
from deniable.protocol import thresholds
from deniable.protocol.frozen import frozen
from deniable.protocol.parameters import cohorts_of
from deniable.protocol.question import FIELD_NAME, WHOLE, Question
from deniable.protocol.segments import Segment, check_shares, check_values, chosen_segments

FLOORS = 10
"""The fewest people expected in a clear cell, as a multiple of the floor."""
_KEYS = frozenset({"name", "values", "shares"})


def read_declared(raw: object, notes: Notes) -> tuple[Segment, ...]:
    """Return the segments of a survey, with notes of everything that is wrong with them."""
    if not isinstance(raw, list) or not all(isinstance(table, Mapping) for table in raw):
        notes.problem("must be tables.", "write [[segments]] above the keys of each.")
        return ()
    read = [_read_segment(table, notes.at(i)) for i, table in enumerate(raw)]
    good = [segment for segment in read if segment is not None]
    if len({segment.name for segment in good}) < len(good):
        notes.problem("two segments have the same name.", "rename one of them.")
    return tuple(good)


def _read_segment(table: Mapping[str, object], notes: Notes) -> Segment | None:
    notes.unknown_keys(table, _KEYS)
    name = notes.matching(table, "name", FIELD_NAME, " and '_'")

    def segment() -> Segment:
        values = check_values(table.get("values"))
        return Segment(name, values, check_shares(millionths(table.get("shares")), len(values)))

    return notes.tried(segment, 'for example values = ["linux", "mac"], shares = [0.5, 0.4].')


def millionths(shares: object) -> object:
    """Return a list of shares of 1 in millionths; anything else as it is."""
    if not isinstance(shares, list):
        return shares
    return [
        round(share * WHOLE) if type(share) in (int, float) and 0 <= share <= 1 else share
        for share in shares
    ]


def read_chosen(
    raw: Mapping[str, object], declared: Sequence[Segment], notes: Notes
) -> tuple[Segment, ...]:
    """Return the segments that a question names."""
    if "segments" not in raw:
        return ()
    fix = f"declare [[segments]]; there are: {', '.join(s.name for s in declared) or 'none'}."
    return notes.at("segments").tried(lambda: chosen_segments(raw["segments"], declared), fix) or ()


def read_asked(raw: Mapping[str, object], notes: Notes) -> int | None:
    """Return the threshold of the share of devices that are asked; None if all are."""
    given = raw.get("asked", 1)
    share = notes.at("asked").tried(
        lambda: _validate.between("asked", "a question", given, "0.000001", "1"),
        "for example asked = 0.1.",
    )
    threshold = thresholds.ceil_threshold(Fraction(str(share or 1)))
    return None if threshold == thresholds.ONE else threshold


@frozen
class Cells:
    """The clear cells of one combination of segments and level.

    Attributes:
        question: the question, at its level.
        segments: the value of each segment.
        people: the number of people expected in each of the cells.
        number: how many cells there are: cohorts, groups or places that are told apart.
    """

    question: Question
    segments: Mapping[str, str]
    people: float
    number: int

    def words(self) -> str:
        """Return what the people of the cells have in common."""
        told = [f"{name} {value}" for name, value in self.segments.items()]
        told += [f"level {self.question.level}"] if self.question.level else []
        return ", ".join(told)

    def as_json(self) -> dict[str, object]:
        """Return the cells as `deniable check --json` prints them."""
        return {
            "question": self.question.id,
            "version": self.question.version,
            "level": self.question.level,
            "segments": dict(self.segments),
            "people": self.people,
            "cells": self.number,
        }


def clear_cells(levels: Sequence[Question], people: int) -> Iterator[Cells]:
    """Yield the clear cells of a question with segments or levels, given all its levels."""
    for question in levels:
        number = math.prod(cohorts_of(field.parameters) for field in question.fields)
        asked = 1.0 if question.asked is None else question.asked / thresholds.ONE
        at_level = question.share / WHOLE if question.share else 1 / len(levels)
        shares = [1.0]
        for segment in question.segments:
            shares = [share * part for share in shares for part in segment.expected]
        for text, share in zip(question.combinations, shares, strict=True):
            expected = people * asked * at_level * share / number
            yield Cells(question, json.loads(text) if text else {}, expected, number)


def all_cells(questions: Sequence[Question], people: int | None) -> tuple[Cells, ...]:
    """Return the clear cells of every question with segments or levels."""
    groups: dict[tuple[str, int], list[Question]] = {}
    for question in questions if people is not None else ():
        if question.segments or question.level:
            groups.setdefault((question.id, question.version), []).append(question)
    return tuple(cells for levels in groups.values() for cells in clear_cells(levels, people or 0))


def check_cells(levels: Sequence[Question], people: int | None, floor: int, notes: Notes) -> None:
    """Note a problem where fewer people than ten times the floor are expected in a clear cell."""
    if not (levels[0].segments or levels[0].level):
        return
    if people is None:
        notes.problem(
            "a survey with segments or levels must say how many people it expects.",
            "add people = 100000 at the top, or the number that you expect.",
        )
        return
    least = min(clear_cells(levels, people), key=lambda cells: cells.people)
    if least.people < FLOORS * floor:
        many = f" in each of {least.number} cohorts" if least.number > 1 else ""
        notes.problem(
            f"about {least.people:,.0f} people are expected{many} with {least.words()}: who reads "
            f"the wire can group by these, and fewer than {FLOORS * floor:,} ({FLOORS} times the "
            "floor) stand out.",
            "declare fewer values, segments, levels or cohorts, or ask more people.",
        )

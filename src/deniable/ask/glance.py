"""A question's answer at a glance: one number, a few bars, and the number in the last epochs."""

from __future__ import annotations

import math
from dataclasses import replace

from deniable.ask.candidates import is_open
from deniable.ask.estimate import table_of
from deniable.ask.grouped import listed_of
from deniable.ask.kinds import KINDS, kind_of
from deniable.ask.numbers import numbers_table
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.engines.accumulated import Accumulated
from deniable.errors import InvalidParameter
from deniable.protocol import Field, Numbers, Question
from deniable.results.glance import (
    MOST_EPOCHS,
    Glance,
    Point,
    glance_of,
    glance_of_numbers,
    median_of,
    point_of,
)
from deniable.results.table import Table

MOST_LISTED = 1_000
"""The most candidate strings whose epochs are decoded one by one for a small trend."""


def glance(source: Source, question: Question, options: Options = DEFAULTS) -> Glance:
    """Return the answer of a question's first field at a glance.

    The number is that of the whole ask: the same reports, the same interval.

    Cost: the counts, of which those of closed epochs are remembered; a table of all reports, and
    one of each of the last epochs.

    Raises:
        StoreError: if the store cannot be read.
    """
    field = question.fields[0]
    named = "" if question.plain else field.name
    discovered = kind_of(field) == "discovery"
    counted = options.counted(source, question, apart=None if discovered else True)
    try:
        found = _glance(counted, field, source, options)
    except InvalidParameter as error:
        found = Glance(problem=error.message, n=counted.n, simulated=counted.simulated)
    return replace(found, field=named)


def _glance(counted: Accumulated, field: Field, source: Source, options: Options) -> Glance:
    if kind_of(field) == "discovery":
        return glance_of(KINDS["discovery"](counted, field, source, options))
    listed = listed_of(field, options)

    def made(part: Accumulated) -> Table:
        return table_of(part, field, listed, options, points=False)

    whole = glance_of(made(counted))
    if isinstance(field.domain, Numbers) and counted.n:
        return _median(whole, counted, field, options)
    strings = len(listed or ()) if is_open(field) else 0
    if whole.kind == "nothing" or strings > MOST_LISTED:
        return whole
    points = (point_of(made(part), whole.label, epoch) for epoch, part in _last(counted))
    return replace(whole, trend=tuple(point for point in points if point is not None))


def _median(whole: Glance, counted: Accumulated, field: Field, options: Options) -> Glance:
    """Return the glance of numbers: their median, whose bins are the bars."""

    def number(part: Accumulated) -> Table:
        return numbers_table(part, field, options)

    found = glance_of_numbers(whole, number(counted))
    trend = (Point(epoch, *median_of(number(part))) for epoch, part in _last(counted))
    known = tuple(point for point in trend if math.isfinite(point.value))
    return replace(found, trend=known if found.kind == "median" else ())


def _last(counted: Accumulated) -> list[tuple[int, Accumulated]]:
    """Return the counts of the last epochs; none where there is only one."""
    epochs = sorted(counted.epochs)[-MOST_EPOCHS:]
    if len(epochs) < 2:
        return []
    parts = counted.by_epoch()
    return [(epoch, parts[epoch]) for epoch in epochs]

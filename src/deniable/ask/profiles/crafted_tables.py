"""The second error bar of tables: the shift of a cell that a share of crafted reports allows.

Raw shares get the 95% interval with the largest shift of any cell of the table added at both ends
(`crafted/cells.py`), as in `ask/crafted_shares.py`. A share given a condition gets the largest
shift of that share (`crafted/raw_tables.py`). Smoothed shares have no interval: their bar is their
range when each of many shifts is taken out (`crafted/smoothed_tables.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.ask.profiles.reports import Both, Given, Profiles
from deniable.crafted.cells import table_shift
from deniable.crafted.raw_tables import Shift, crafted_share
from deniable.crafted.search import Ends, Progress
from deniable.crafted.smoothed_tables import smoothed_ranges
from deniable.crafted.weighted_sums import weighted_shift
from deniable.errors import InvalidParameter
from deniable.marginals.smoothed import Tables
from deniable.mechanisms.base import Floats

NOTE = (
    "The second interval is that of the raw share, with what a share of {share:.3g} crafted "
    "reports can do at most added at both ends: {shift:.3g} each way{less}."
)
NOTE_GIVEN = (
    "The second interval is that of the raw share given the condition, with what a share of "
    "{share:.3g} crafted reports can do to it at most added at both ends."
)
NOTE_SMOOTHED = (
    "Smoothed shares with {share:.3g} crafted: from the least to the largest that they become if "
    "shifts by so many reports are taken out of the counts, of every cell and interaction in turn."
)


class Bars(NamedTuple):
    """The second intervals of a table, in its shape.

    Attributes:
        raw: the ends of the second intervals of raw shares; NaN where nothing could be learned.
        smoothed: the ends of smoothed shares without crafted reports; None where they are unknown.
    """

    raw: Ends
    smoothed: Ends | None = None


def crafted_tables(
    reports: Profiles,
    tables: Sequence[Both],
    shown: Sequence[Both],
    known: Given,
    kind: str,
    crafted: float,
    progress: Progress | None = None,
) -> tuple[list[Bars], tuple[str, ...]]:
    """Return the second error bars of tables, and notes for their reader.

    Args:
        reports: the reports that the tables come from.
        tables: shares of all people.
        shown: the same tables, or the shares given some attributes.
        known: the given attributes.
        kind: "both", "raw" or "smoothed".
        crafted: the share of reports that may be crafted.
        progress: called with the progress of the search.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1, or if only smoothed shares are
            shown and there are too many tables.
    """
    share = _validate.probability("crafted", "a table", crafted)
    axes = [[b.attributes.index(name) for name in s.attributes]
            for b, s in zip(tables, shown, strict=True)]  # fmt: skip
    cells = [b.raw.probability.transpose(a) for b, a in zip(tables, axes, strict=True)]
    raw = [_raw(reports, w, s, known, share) for w, s in zip(cells, shown, strict=True)]
    notes = [] if kind == "smoothed" else [_raw_note(reports, shown, known, share)]
    ranges: Sequence[Ends | None] = [None] * len(tables)
    if kind != "raw":
        seen = [b.smoothed.probability.transpose(a) for b, a in zip(tables, axes, strict=True)]
        try:
            ranges = _smoothed(reports, shown, cells, seen, len(known), share, progress)
            notes.append(NOTE_SMOOTHED.format(share=share))
        except InvalidParameter as error:
            if kind == "smoothed":
                raise
            notes.append(str(error))
    return [*map(Bars, raw, ranges)], tuple(notes)


def _shift_of(reports: Profiles, names: Sequence[str], crafted: float) -> Shift:
    """Return a function: the largest shift of a weighted sum of a table with these axes."""
    places = reports.places(names)
    order, rising = np.argsort(places), tuple(sorted(places))
    parameters = reports.mechanism.parameters
    return lambda weights: weighted_shift(parameters, rising, weights.transpose(order), crafted)


def _raw_note(reports: Profiles, shown: Sequence[Both], known: Given, crafted: float) -> str:
    if known:
        return NOTE_GIVEN.format(share=crafted)
    parameters = reports.mechanism.parameters
    most = max(table_shift(parameters, reports.places(b.attributes), crafted) for b in shown)
    less = "" if len(shown) == 1 else ", or less, as the table has it"
    return NOTE.format(share=crafted, shift=most, less=less)


def _raw(reports: Profiles, cells: Floats, shown: Both, known: Given, crafted: float) -> Ends:
    """Return the ends of the second intervals of raw shares."""
    low, high = shown.raw.low, shown.raw.high
    nothing = np.full(cells.shape, np.nan)
    if low is None or high is None or not np.isfinite(cells).all():
        return Ends(nothing, nothing)
    if not known:
        places = reports.places(shown.attributes)
        shift = table_shift(reports.mechanism.parameters, places, crafted)
        return Ends(low - shift, high + shift)
    moved = _given(cells, len(known), _shift_of(reports, shown.attributes, crafted))
    # A condition that only crafted reports may meet leaves any share from 0 to 1 possible.
    anything = np.isinf(moved)
    moved = np.where(anything, 0.0, moved)
    return Ends(
        np.where(anything, np.minimum(low, 0.0), low - moved),
        np.where(anything, np.maximum(high, 1.0), high + moved),
    )


def _given(cells: Floats, given: int, shift: Shift) -> Floats:
    """Return the largest shift of each share given the last axes; inf under an empty condition."""
    asked = cells.ndim - given
    found = np.empty(cells.shape)
    for index in np.ndindex(cells.shape):
        condition = np.zeros(cells.shape)
        condition[(slice(None),) * asked + index[asked:]] = 1.0
        if cells[condition > 0].sum() > 0:
            found[index] = crafted_share(cells, index, condition, shift)
        else:
            found[index] = np.inf
    return found


def _smoothed(
    reports: Profiles,
    shown: Sequence[Both],
    cells: Sequence[Floats],
    smoothed: Sequence[Floats],
    given: int,
    crafted: float,
    progress: Progress | None,
) -> list[Ends]:
    """Return the least and the largest of every smoothed share over all shifts."""
    places = [reports.places(one.attributes) for one in shown]
    rising = [tuple(sorted(one)) for one in places]

    def turned(tables: Sequence[Floats]) -> Tables:
        each = zip(rising, tables, places, strict=True)
        return {key: table.transpose(np.argsort(own)) for key, table, own in each}

    def read(found: Tables) -> list[Floats]:
        back = [np.argsort(np.argsort(own)) for own in places]
        each = zip(rising, back, strict=True)
        return [_divided(found[key].transpose(axes), given) for key, axes in each]

    mechanism, counts, seen = reports.mechanism, reports.counts, turned(smoothed)
    return smoothed_ranges(mechanism, counts, turned(cells), crafted, read, seen, progress)


def _divided(cells: Floats, given: int) -> Floats:
    """Return shares given the last axes; uniform ones under a condition that nobody meets."""
    if given == 0:
        return cells
    asked = tuple(range(cells.ndim - given))
    total = cells.sum(axis=asked, keepdims=True)
    flat = np.full(cells.shape, 1 / np.prod([cells.shape[axis] for axis in asked]))
    divided: Floats = np.divide(cells, total, out=flat, where=total > 0)
    return divided

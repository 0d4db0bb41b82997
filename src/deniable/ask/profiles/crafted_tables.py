"""A second error bar for tables: the shift of a cell that a share of crafted reports allows.

Raw shares get the 95% interval with the largest shift of any cell of the table added at both ends
(`privacy/leverage/tables.py`), as in `ask/crafted_shares.py`. A share given a condition gets the
largest shift of that share (`marginals/crafted/derived.py`). Smoothed shares have no interval:
their bar is their range when each of many attacks is taken out (`marginals/crafted/smoothed.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deniable import _validate
from deniable.ask.profiles.reports import Both, Given, Profiles
from deniable.errors import InvalidParameter
from deniable.marginals.crafted.derived import Shift, attacked_share
from deniable.marginals.crafted.smoothed import Progress, check_tables, smoothed_without
from deniable.mechanisms.base import Floats
from deniable.mechanisms.moments import Subset
from deniable.privacy.leverage.tables import table_shift
from deniable.privacy.leverage.weighted_sums import weighted_shift

NOTE = (
    "The attacked interval is that of the raw share, with what a share of {share:.3g} crafted "
    "reports can do at most added at both ends: {shift:.3g} each way{less}."
)
NOTE_GIVEN = (
    "The attacked interval is that of the raw share given the condition, with what a share of "
    "{share:.3g} crafted reports can do to it at most added at both ends."
)
NOTE_SMOOTHED = (
    "Smoothed shares with {share:.3g} crafted: from the least to the largest that they become if "
    "attacks of so many reports are taken out of the counts, on every cell and interaction in turn."
)


class Bars(NamedTuple):
    """The second intervals of a table, in its shape.

    Attributes:
        raw: the ends of the attacked intervals of raw shares; NaN where nothing could be learned.
        smoothed: the ends of smoothed shares without crafted reports; None where they are unknown.
    """

    raw: tuple[Floats, Floats]
    smoothed: tuple[Floats, Floats] | None = None


def attacked_tables(
    reports: Profiles,
    tables: Sequence[Both],
    shown: Sequence[Both],
    known: Given,
    kind: str,
    attackers: float,
    progress: Progress | None = None,
) -> tuple[list[Bars], tuple[str, ...]]:
    """Return the second error bars of tables, and notes for their reader.

    Args:
        reports: the reports that the tables come from.
        tables: shares of all people.
        shown: the same tables, or the shares given some attributes.
        known: the given attributes.
        kind: "both", "raw" or "smoothed".
        attackers: the share of reports that may be crafted.
        progress: called with the progress of the search.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1, or if only smoothed shares are
            shown and there are too many tables.
    """
    share = _validate.probability("attackers", "a table", attackers)
    whole = [_Whole.of(reports, *both) for both in zip(tables, shown, strict=True)]
    raw = [_raw(reports, w.raw, one, known, share) for w, one in zip(whole, shown, strict=True)]
    notes = []
    if kind != "smoothed":
        notes.append(_raw_note(reports, shown, known, share))
    ranges: list[tuple[Floats, Floats] | None] = [None] * len(tables)
    if kind != "raw":
        try:
            check_tables({one.places: one.raw.shape for one in whole})
            ranges = [*_smoothed(reports, whole, len(known), share, progress)]
            notes.append(NOTE_SMOOTHED.format(share=share))
        except InvalidParameter as error:
            if kind == "smoothed":
                raise
            notes.append(str(error))
    bars = [Bars(ends, found) for ends, found in zip(raw, ranges, strict=True)]
    return bars, tuple(notes)


def shift_of(reports: Profiles, names: Sequence[str], attackers: float) -> Shift:
    """Return a function: the largest shift of a weighted sum of a table with these axes."""
    places = reports.places(names)
    order = np.argsort(places)
    rising = tuple(sorted(places))
    parameters = reports.mechanism.parameters

    def shift(weights: Floats) -> float:
        return weighted_shift(parameters, rising, weights.transpose(order), attackers)

    return shift


def _raw_note(reports: Profiles, shown: Sequence[Both], known: Given, attackers: float) -> str:
    if known:
        return NOTE_GIVEN.format(share=attackers)
    parameters = reports.mechanism.parameters
    most = max(table_shift(parameters, reports.places(b.attributes), attackers) for b in shown)
    less = "" if len(shown) == 1 else ", or less, as the table has it"
    return NOTE.format(share=attackers, shift=most, less=less)


def _raw(
    reports: Profiles, cells: Floats, shown: Both, known: Given, attackers: float
) -> tuple[Floats, Floats]:
    """Return the ends of the attacked intervals of raw shares."""
    low, high = shown.raw.low, shown.raw.high
    nothing = np.full(cells.shape, np.nan)
    if low is None or high is None or not np.isfinite(cells).all():
        return nothing, nothing
    if not known:
        places = reports.places(shown.attributes)
        shift = table_shift(reports.mechanism.parameters, places, attackers)
        return low - shift, high + shift
    moved = _given(cells, len(known), shift_of(reports, shown.attributes, attackers))
    # A condition that only crafted reports may meet leaves any share from 0 to 1 possible.
    anything = np.isinf(moved)
    moved = np.where(anything, 0.0, moved)
    return (
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
            found[index] = attacked_share(cells, index, condition, shift)
        else:
            found[index] = np.inf
    return found


def _smoothed(
    reports: Profiles,
    tables: Sequence[_Whole],
    given: int,
    attackers: float,
    progress: Progress | None,
) -> list[tuple[Floats, Floats]]:
    """Return the least and the largest of every smoothed share over all attacks."""
    raw = {one.places: one.raw.transpose(one.order) for one in tables}
    seen = [_divided(one.smoothed, given) for one in tables]
    found = [(shares, shares) for shares in seen]
    runs = smoothed_without(reports.mechanism, reports.counts, raw, attackers, progress)
    for smoothed in runs:
        for number, one in enumerate(tables):
            back = np.argsort(one.order)
            shares = _divided(smoothed[one.places].transpose(back), given)
            low, high = found[number]
            found[number] = np.minimum(low, shares), np.maximum(high, shares)
    return found


def _divided(cells: Floats, given: int) -> Floats:
    """Return shares given the last axes; uniform ones under a condition that nobody meets."""
    if given == 0:
        return cells
    asked = tuple(range(cells.ndim - given))
    total = cells.sum(axis=asked, keepdims=True)
    flat = np.full(cells.shape, 1 / np.prod([cells.shape[axis] for axis in asked]))
    divided: Floats = np.divide(cells, total, out=flat, where=total > 0)
    return divided


class _Whole(NamedTuple):
    """The shares of all people behind a table as it is shown, in the order of its axes.

    Attributes:
        places: the places of the attributes, in rising order.
        order: the permutation of the axes that puts the places in rising order.
        raw: the cells of the raw table.
        smoothed: the cells of the smoothed table.
    """

    places: Subset
    order: tuple[int, ...]
    raw: Floats
    smoothed: Floats

    @classmethod
    def of(cls, reports: Profiles, table: Both, shown: Both) -> _Whole:
        """Return the shares of all people behind those shown."""
        places = reports.places(shown.attributes)
        axes = [table.attributes.index(name) for name in shown.attributes]
        return cls(
            tuple(sorted(places)),
            tuple(int(axis) for axis in np.argsort(places)),
            table.raw.probability.transpose(axes),
            table.smoothed.probability.transpose(axes),
        )

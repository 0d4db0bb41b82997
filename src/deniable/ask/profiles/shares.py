"""Tables of attributes as people read them: shares, conditional shares, all tables at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from deniable.ask.crafted_shares import crafted_column
from deniable.ask.intervals import of_note
from deniable.ask.options import DEFAULTS, Options
from deniable.ask.profiles.crafted_tables import Bars, crafted_tables
from deniable.ask.profiles.reports import RAW, SMOOTHED, Both, Given, Profiles
from deniable.mechanisms.base import Floats
from deniable.protocol.epsilon import as_float
from deniable.results.charts.bars import bars, caption, described
from deniable.results.table import UNLEARNED, About, Cell, Column, Table
from deniable.results.words.shares import NOTHING_LEARNED, nothing_learned

Kind = Literal["both", "raw", "smoothed"]
INTERVALS = ("profiles", "pairs")
"""The kinds of tables that have intervals."""
DIVIDED = "Shares given a condition add up to 1 for each condition."
STAMPS = (Column("question", "label"), Column("version", "count"), Column("n", "count"))


def shares_of(
    reports: Profiles,
    tables: Sequence[Both],
    kind: Kind = "both",
    given: Given | None = None,
    options: Options = DEFAULTS,
) -> Table:
    """Return tables as one: a row per cell, raw and smoothed shares side by side.

    Args:
        reports: the reports that the tables come from.
        tables: tables that all have the same number of attributes.
        kind: show only the raw or only the smoothed shares.
        given: attributes that are given instead of asked for.
        options: this reads `crafted`.

    Raises:
        InvalidParameter: if `crafted` is no share from 0 to 1, or there are too many smoothed
            tables to say what crafted reports could have done to them.
    """
    known, crafted = dict(given or {}), options.crafted
    shown = [both.given(known) for both in tables]
    second: Sequence[Bars | None] = [None] * len(shown)
    said: tuple[str, ...] = ()
    if crafted is not None:
        told = options.stage("searching")
        second, said = crafted_tables(reports, tables, shown, known, kind, crafted, told)
    rows = [
        row for both, ends in zip(shown, second, strict=True) for row in _rows(both, known, ends)
    ]
    names = shown[0].attributes
    about = about_profiles(
        reports,
        "profiles",
        _what(shown[0], known, len(tables), reports),
        crafted,
        shown=kind,
        attributes=[name for name in names if name not in known],
        given=known,
        tables=len(tables),
    )
    drawn = (
        {"picture": bars, "described": described, "caption": caption} if len(tables) == 1 else {}
    )
    found = Table.of(
        about,
        _columns(names, len(tables) == 1, kind, crafted),
        rows,
        notes=(*reports.said, *_notes(shown, kind, known), of_note(reports.reading.of), *said),
        stamps=STAMPS,
        **drawn,
    )
    if nothing_learned(found):
        # Smoothed shares are noise then, those of 0% and 100% too.
        smoothed = next(column for column in found.columns if column.name == "smoothed")
        found = found.with_column(smoothed, [math.nan] * len(found.rows))
        return replace(found, notes=(NOTHING_LEARNED, *found.notes))
    return found


def said_first(reports: Profiles) -> tuple[str, ...]:
    """Return what is said first: that nothing was learned, if so; what was pooled."""
    return reports.said if reports.learned else (NOTHING_LEARNED, *reports.said)


def about_profiles(
    reports: Profiles, kind: str, what: str, crafted: float | None = None, **more: object
) -> About:
    """Return the head of a table of a profile: question, reports, mechanism and epsilon."""
    question, parameters = reports.question, reports.mechanism.parameters
    names, order = list(reports.profile.names), reports.order
    return About(
        kind,
        question=question.id,
        version=question.version,
        digest=question.digest.hex(),
        description=reports.heading,
        domain="profile",
        mechanism=parameters.mechanism,
        n=reports.n,
        simulated=reports.simulated,
        epsilon_once=as_float(parameters.epsilon_once),
        crafted=crafted,
        of=reports.reading.of if kind in INTERVALS else "",
        what=(f"{len(names)} attributes, tables of up to {order}; {what}",),
        more={"collected": {"attributes": names, "order": order}, **more},
    )


def _columns(names: Sequence[str], one: bool, kind: Kind, crafted: float | None) -> list[Column]:
    columns = []
    for place, name in enumerate(names, 1):
        columns.append(Column(f"attribute_{place}", "label", "" if one else "attribute"))
        columns.append(Column(f"value_{place}", "label", name if one else "value"))
    raw, smoothed = kind != "smoothed", kind != "raw"
    columns += [
        Column("raw", "share", "raw" if raw else ""),
        Column("std_error", "error", "std. error" if raw else "", extra=True),
        Column("interval", "interval", "95% interval" if raw else ""),
        Column("smoothed", "share", "smoothed" if smoothed else "", tick=True),
    ]
    if crafted is not None:
        title = crafted_column(crafted).title
        columns.insert(-1, Column("crafted_interval", "second_interval", title if raw else ""))
        columns.append(Column("crafted_smoothed", "second_interval", title if smoothed else ""))
    return columns


def _rows(both: Both, known: Given, bars: Bars | None) -> Iterator[tuple[Cell, ...]]:
    """Yield the cells of a table, those of the given answers only."""
    raw = both.raw
    nothing = np.full(raw.probability.shape, np.nan)
    error, low, high = (
        nothing if one is None else one for one in (raw.std_error, raw.low, raw.high)
    )
    for index in np.ndindex(raw.probability.shape):
        answers = [names[i] for names, i in zip(raw.labels, index, strict=True)]
        named = list(zip(raw.attributes, answers, strict=True))
        if any(known.get(name) not in (None, answer) for name, answer in named):
            continue
        labels = [text for pair in named for text in pair]
        shares = (float(raw.probability[index]), float(error[index]))
        ends = (float(low[index]), float(high[index]))
        smoothed = float(both.smoothed.probability[index])
        if bars is None:
            yield (*labels, *shares, ends, smoothed)
        else:
            second = _ends(bars.raw, index), smoothed, _ends(bars.smoothed, index)
            yield (*labels, *shares, ends, *second)


def _ends(both: tuple[Floats, Floats] | None, index: tuple[int, ...]) -> Any:
    return UNLEARNED if both is None else (float(both[0][index]), float(both[1][index]))


def _what(both: Both, known: Given, count: int, reports: Profiles) -> str:
    if count > 1:
        return f"all {count:,} tables of {len(both.attributes)} of {len(reports.profile.names)}"
    asked = [name for name in both.attributes if name not in known]
    given = [name if answer is None else f"{name} = {answer}" for name, answer in known.items()]
    return f"shares of {', '.join(asked)}" + (f", given {', '.join(given)}" if given else "")


def _notes(tables: Sequence[Both], kind: Kind, known: Given) -> tuple[str, ...]:
    notes = [RAW] if kind != "smoothed" else []
    notes += [SMOOTHED] if kind != "raw" else []
    notes += [DIVIDED] if known else []
    for both in tables:
        if kind != "smoothed":
            notes += both.raw.notes
        if kind != "raw":
            notes += both.smoothed.notes
    return tuple(dict.fromkeys(notes))

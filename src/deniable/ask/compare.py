"""Segments side by side, as the arms of an experiment: effects, intervals, tests.

counts by segment -> a table each -> differences to the reference -> table
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deniable.ask.estimate import chosen
from deniable.ask.grouped import (
    Group,
    Split,
    as_groups,
    groups_by,
    listed_of,
    of_population,
    pool_of,
)
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import noise_of
from deniable.ask.several import AnyCounts, Asked, agreeing, newest
from deniable.ask.together import any_table
from deniable.errors import InvalidParameter
from deniable.groups import compare_groups
from deniable.protocol import Field
from deniable.protocol.segments import SMALL
from deniable.results.charts.bars import bars, caption
from deniable.results.table import Cell, Column, Table, Tables
from deniable.results.words.over_time import compared_described, compared_sentence

INDEPENDENT = (
    "Groups are compared as different people. Someone who moves from one to the other between "
    "epochs is in both; within an epoch nobody is."
)
BY_ITSELF = (
    "Intervals are 95% intervals of each difference by itself; 'Holm' holds for all of them "
    "together."
)


def compare(
    source: Source,
    asked: Asked,
    by: str,
    options: Options = DEFAULTS,
    *,
    against: str | None = None,
) -> Tables:
    """Return how the answers differ between the values of a segment, a table per field.

    Args:
        source: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        by: the segment.
        options: as of `estimate`.
        against: the value that the others are compared with; by default the first with reports.

    Raises:
        InvalidParameter: if there is no such segment or value, or fewer than two values have
            reports enough to be told apart.
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(source, asked, apart=True)
    fields = chosen(newest(asked), options.fields)
    return Tables(field_compared(counted, field, by, options, against=against) for field in fields)


def field_compared(
    counted: AnyCounts,
    field: Field,
    by: str,
    options: Options = DEFAULTS,
    *,
    against: str | None = None,
    split: Split | None = None,
) -> Table:
    """Return the comparison of one field, from counts that were kept apart.

    With `split` the groups are its own, as `groups_by` takes it.
    """
    listed, asked = listed_of(field, options), of_population(options)
    counted = agreeing(counted, field)

    def make(part: AnyCounts) -> Table:
        return any_table(part, field, listed, asked, points=False)

    whole = make(counted)
    groups = _arms(groups_by(counted, [by], make, split), by, against)
    noise, pool = noise_of(counted, field, listed, whole), pool_of(counted, field, listed, asked)
    series = as_groups(groups, whole, field, asked, noise, pool)
    found = compare_groups(series, alpha=1 - options.confidence)
    rows: list[Sequence[Cell]] = [
        (
            group.key[by],
            label,
            *(float(part[g, v]) for part in (found.difference, found.std_error)),
            (float(found.low[g, v]), float(found.high[g, v])),
            *(float(part[g, v]) for part in (found.p_value, found.adjusted)),
            bool(found.adjusted[g, v] < 1 - options.confidence),
            *(float(series.shares[i, v]) for i in (g + 1, 0)),
        )
        for g, group in enumerate(groups[1:])
        for v, label in enumerate(series.labels)
    ]
    reference = groups[0].key[by]
    test = {"statistic": found.statistic, "degrees": found.degrees, "p_value": found.overall}
    sizes = [{by: group.key[by], "n": group.counted.n} for group in groups]
    more = {"by": by, "reference": reference, "groups": sizes, "test": test}
    told = compared_sentence(found.overall, by, [(g.key[by], g.counted.n) for g in groups])
    about = replace(whole.about, kind="comparison", what=(told,), more=more)
    form = {"picture": bars, "described": compared_described, "caption": caption}
    stamps = tuple(one for one in whole.stamps if one.name != "n")
    agree = [note for note in whole.notes if "pooled" in note]
    notes = (*agree, INDEPENDENT, BY_ITSELF, *whole.notes[-1:])
    return Table.of(about, _columns(by, reference), rows, notes=notes, stamps=stamps, **form)


def _arms(groups: list[Group], by: str, against: str | None) -> list[Group]:
    """Return the groups to compare, the reference first; "(small)" is a mixture of many."""
    told = [group for group in groups if group.key[by] != SMALL]
    names = [group.key[by] for group in told]
    if len(told) < 2:
        raise InvalidParameter(
            f"A comparison needs two values of {by!r:.80} with enough reports to be told apart. "
            f"Got {', '.join(names) or 'none'}.",
            "Wait for more reports, or look at more epochs.",
        )
    if against is not None and against not in names:
        raise InvalidParameter(
            f"There is no {by} {against!r:.80} to compare with. There are: {', '.join(names)}."
        )
    first = names.index(against) if against is not None else 0
    return [told[first], *told[:first], *told[first + 1 :]]


def _columns(by: str, reference: str) -> tuple[Column, ...]:
    return (
        Column(by, "label", by),
        Column("value", "label", "value"),
        Column("difference", "share", f"against {reference}"),
        Column("std_error", "error"),
        Column("interval", "interval", "95% interval"),
        Column("p_value", "p_value", "p-value"),
        Column("adjusted", "p_value", "Holm", extra=True),
        Column("differs", "decision", "differs", word="yes"),
        Column("share", "share", "share"),
        Column("reference", "share"),
    )

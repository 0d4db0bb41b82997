"""Two periods, or two values of a segment, side by side, with the test of their difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deniable.ask.compare import field_compared
from deniable.ask.estimate import chosen
from deniable.ask.grouped import EPOCH
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import field_over_time
from deniable.ask.periods import PERIOD, TWO_PERIODS, Period, days_covered, two_periods
from deniable.ask.several import AnyCounts, Asked, joined, newest
from deniable.engines.selection import segment_labels
from deniable.errors import InvalidParameter
from deniable.protocol import Field
from deniable.results.table import Table, Tables


def beside(
    source: Source,
    asked: Asked,
    by: str,
    pair: tuple[str, str],
    options: Options = DEFAULTS,
) -> Tables:
    """Return the shares of two groups as one table per field, with a sentence on the difference.

    Args:
        source: where the reports are, or their counts.
        asked: the question with the version that is wanted, or several levels and versions of it.
        by: "epoch", or a segment.
        pair: two epochs or ranges of them ("10", "11-20"), or two values of the segment.
        options: as of `over_time`.

    Raises:
        InvalidParameter: if there is no such segment, one of the two has no reports, or two
            periods overlap.
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(source, asked, apart=True)
    question = newest(asked)
    fields = chosen(question, options.fields)
    if by == EPOCH and not all(map(str.isdigit, pair)):
        periods = two_periods(pair)
        return Tables(_two_periods(counted, field, periods, options) for field in fields)
    if by != EPOCH:
        segment_labels(question, by)
    parts: Mapping[str, AnyCounts] = (
        {str(epoch): part for epoch, part in counted.by_epoch().items()}
        if by == EPOCH
        else counted.by_segment(by)
    )
    if pair[0] == pair[1] or not set(pair) <= set(parts):
        raise InvalidParameter(
            f"Name two different ones that have reports. There are: {', '.join(parts) or 'none'}."
        )
    found = joined([parts[name] for name in pair])
    return Tables(_side_by_side(found, field, by, pair, options) for field in fields)


def _side_by_side(
    counted: AnyCounts, field: Field, by: str, pair: tuple[str, str], options: Options
) -> Table:
    table = field_over_time(counted, field, [by], options)
    told = table.about.what
    if by != EPOCH:
        told = field_compared(counted, field, by, options, against=pair[0]).about.what
    return _told(table, pair, told)


def _two_periods(
    counted: AnyCounts, field: Field, periods: tuple[Period, Period], options: Options
) -> Table:
    """Return the shares of two periods, of which one at least has several epochs."""
    found = joined([period.part(counted) for period in periods])

    def split(part: AnyCounts) -> Mapping[str, AnyCounts]:
        each = [period.part(part) for period in periods]
        return {days_covered(one): one for one in each}

    table = field_over_time(found, field, [PERIOD], options, split)
    told = field_compared(found, field, PERIOD, options, split=split).about.what
    table = replace(table, notes=(TWO_PERIODS, *table.notes))
    return _told(table, tuple(map(str, periods)), told)


def _told(table: Table, pair: Sequence[str], told: tuple[str, ...]) -> Table:
    more = {**table.about.more, "beside": list(pair)}
    words = replace(table.words, learned=told)
    return replace(table, about=replace(table.about, what=told, more=more), words=words)

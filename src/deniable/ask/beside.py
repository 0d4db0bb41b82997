"""Two epochs, or two values of a segment, side by side, with the test of their difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from deniable.ask.compare import field_compared
from deniable.ask.estimate import chosen
from deniable.ask.grouped import EPOCH
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import field_over_time
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
        pair: the numbers of two epochs, or two values of the segment.
        options: as of `over_time`.

    Raises:
        InvalidParameter: if there is no such segment, or one of the two has no reports.
        StoreError: if the store cannot be read.
    """
    counted = options.counted_all(source, asked, apart=True)
    question = newest(asked)
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
    fields = chosen(question, options.fields)
    return Tables(_side_by_side(found, field, by, pair, options) for field in fields)


def _side_by_side(
    counted: AnyCounts, field: Field, by: str, pair: tuple[str, str], options: Options
) -> Table:
    table = field_over_time(counted, field, [by], options)
    told = table.about.what
    if by != EPOCH:
        told = field_compared(counted, field, by, options, against=pair[0]).about.what
    more = {**table.about.more, "beside": list(pair)}
    words = replace(table.words, learned=told)
    return replace(table, about=replace(table.about, what=told, more=more), words=words)

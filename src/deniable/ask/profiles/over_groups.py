"""Tables of attributes by epoch or segment: raw shares with their intervals, and their change."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.ask.grouped import of_population
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import grouped_table
from deniable.ask.profiles.reports import Given, Profiles, profile_field
from deniable.ask.profiles.shares import shares_of
from deniable.engines.accumulated import Accumulated
from deniable.protocol import Question
from deniable.results.table import Table


def profiles_by(
    source: Source,
    question: Question,
    by: Sequence[str],
    options: Options = DEFAULTS,
    *,
    attributes: Sequence[str] = (),
    given: Given | None = None,
    order: int = 1,
) -> Table:
    """Return the raw table of some attributes, or all tables of `order` of them, by group.

    Raises:
        InvalidParameter: as `Profiles.table` and `over_time`.
        StoreError: if the store cannot be read.
    """
    field = profile_field(question)
    known = given or {}

    def of(part: Accumulated, asked: Options) -> Table:
        reports = Profiles.of(part, asked)
        wanted = [*attributes, *known]
        tables = [reports.table(wanted)] if attributes else reports.tables(order)
        return shares_of(reports, tables, "raw", known, asked)

    counted = options.counted(source, question, apart=True)
    return grouped_table(
        counted,
        by,
        lambda part: of(part, options),
        lambda part: of(part, of_population(options)),
        field,
        options,
    )

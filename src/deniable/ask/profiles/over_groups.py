"""Tables of attributes by epoch or segment: raw shares with their intervals, and their change."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.ask.grouped import of_population
from deniable.ask.options import DEFAULTS, Options, Source
from deniable.ask.over_time import grouped_table
from deniable.ask.profiles.pooled_reports import any_profiles
from deniable.ask.profiles.reports import Given, profile_field
from deniable.ask.profiles.shares import shares_of
from deniable.ask.several import AnyCounts, Asked, agreeing, newest
from deniable.results.table import Table


def profiles_by(
    source: Source,
    asked: Asked,
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
    field = profile_field(newest(asked))
    known = given or {}

    def of(part: AnyCounts, asked: Options) -> Table:
        reports = any_profiles(part, asked)
        wanted = [*attributes, *known]
        tables = [reports.table(wanted)] if attributes else reports.tables(order)
        return shares_of(reports, tables, "raw", known, asked)

    counted = agreeing(options.counted_all(source, asked, apart=True), field)
    return grouped_table(
        counted,
        by,
        lambda part: of(part, options),
        lambda part: of(part, of_population(options)),
        field,
        options,
    )

"""The figure of a table, by the picture that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deniable.errors import InvalidParameter
from deniable.results.charts.attributes import correlations, dependency_tree
from deniable.results.charts.bars import bars
from deniable.results.charts.beginnings import beginnings
from deniable.results.charts.cumulative import cumulative_picture
from deniable.results.charts.heat_map import heat_map
from deniable.results.charts.lines import lines
from deniable.results.charts.number_lines import number_lines
from deniable.results.figures.bars import bar_figure, side_by_side
from deniable.results.figures.heat import association_figure, correlation_figure
from deniable.results.figures.lines import curve, numbers_over_time, shares_over_time
from deniable.results.figures.trees import beginnings_figure, dependency_figure
from deniable.results.table.table import Table


def _groups(table: Table) -> str:
    by = table.about.more["by"]
    if "beside" in table.about.more:
        return side_by_side(table, "from" if by == "epoch" else str(by))
    return shares_over_time(table) if by == "epoch" else side_by_side(table, str(by))


_BARS = "bar: estimate · whisker: 95% interval of the population"
_CAPTIONS: Mapping[Callable[..., Any], str] = {
    correlations: "number: correlation · orange: together · blue: against each other · • surely "
    "dependent",
    dependency_tree: "under an attribute stand those that it says most about",
    beginnings: "how each string was grown from its beginnings",
}


FIGURES: Mapping[Callable[..., Any], Callable[[Table], str]] = {
    bars: bar_figure,
    lines: _groups,
    number_lines: numbers_over_time,
    cumulative_picture: curve,
    heat_map: association_figure,
    correlations: correlation_figure,
    dependency_tree: dependency_figure,
    beginnings: beginnings_figure,
}
"""The figure of a page, by the picture of a file: both show the same table."""


def figure_caption(table: Table) -> str:
    """Return the meaning of a figure's marks."""
    by = table.about.more.get("by", "epoch")
    if table.picture is lines and (by != "epoch" or "beside" in table.about.more):
        return _BARS
    told = None if table.picture is None else _CAPTIONS.get(table.picture)
    return told or ("" if table.caption is None else table.caption(table))


def figure_html(table: Table) -> str:
    """Return the figure of a table; every string in it is escaped.

    Raises:
        InvalidParameter: if there is no figure of such a table.
    """
    draw = None if table.picture is None else FIGURES.get(table.picture)
    if draw is None:
        raise InvalidParameter(f"There is no figure of a table of the kind {table.about.kind!r}.")
    return draw(table)

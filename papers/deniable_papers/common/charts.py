"""The look that all figures share; audits have the same one."""

from typing import Any

from deniable.results.charts.look import COLOURS, LOOK, altair, colours, data_of, styled

__all__ = ["COLOURS", "LOOK", "altair", "colours", "data_of", "facets", "styled"]

_HEADER = {"labelColor": LOOK.text, "labelFontSize": 13}


def facets(chart: Any, column: str, *, columns: int | None = None, **options: Any) -> Any:
    """Return a panel for each value of a column; `options` are those of Altair's `Facet`."""
    alt = altair()
    facet = alt.Facet(f"{column}:N", title=None, header=alt.Header(**_HEADER), **options)
    return chart.facet(facet=facet) if columns is None else chart.facet(facet, columns=columns)

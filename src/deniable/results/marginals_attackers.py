"""A second error bar for raw tables: what a share of crafted reports could have done to a cell.

Model: as of `attackers.py`, the 95% interval with what liars can do to any cell of the table added
at both ends (`privacy/table_leverage.py`). Smoothed tables are no linear functions of the reports
and have no intervals: the bar belongs to the raw ones. Nor is there one of shares given a
condition, which are ratios.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from deniable import _validate
from deniable.privacy.table_leverage import table_shift
from deniable.results.marginals import RecordReports
from deniable.results.marginals_cells import CellRow

NOTE = (
    "The attacked interval is that of the raw share, with what a share of {share:.3g} crafted "
    "reports can do at most added at both ends: {shift:.3g} each way. Smoothed shares have no "
    "interval, and liars move them, too."
)
NOTE_OF_MANY = (
    "The attacked interval is that of the raw share, with what a share of {share:.3g} crafted "
    "reports can do at most added at both ends: {shift:.3g} each way, or less, as the table has "
    "it. Smoothed shares have no interval, and liars move them, too."
)


def attacked_tables(
    reports: RecordReports, tables: Sequence[Sequence[CellRow]], attackers: float
) -> tuple[list[list[CellRow]], str]:
    """Return tables with an attacked interval for every cell that was learned, and a note.

    Args:
        reports: what they come from.
        tables: the cells of each, with all attributes of the table in their values.
        attackers: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1.
    """
    share = _validate.probability("attackers", "a table", attackers)
    parameters = reports.mechanism.parameters
    shifts = [table_shift(parameters, reports.places(list(t[0].values)), share) for t in tables]
    note = NOTE if len(tables) == 1 else NOTE_OF_MANY
    widened = [
        [_widened(cell, shift) for cell in cells]
        for cells, shift in zip(tables, shifts, strict=True)
    ]
    return widened, note.format(share=share, shift=max(shifts))


def _widened(cell: CellRow, shift: float) -> CellRow:
    if not math.isfinite(cell.raw):
        return cell
    return replace(cell, attacked_interval=(cell.low - shift, cell.high + shift))

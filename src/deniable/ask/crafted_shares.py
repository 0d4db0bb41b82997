"""A second interval of shares, which allows for a share of crafted reports.

Model: one crafted report counts for at most L honest people (`crafted/leverage.py`), so that a
share beta of them moves a frequency by at most beta L. The second interval is the 95% interval with
beta L added at both ends: it covers the true share as long as at most a share beta of the reports
is crafted, whatever they say. The shares of one attribute of a profile are moved by more, since
crafted reports choose what they are about (`crafted/cells.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deniable import _validate
from deniable.crafted.cells import table_shift
from deniable.crafted.leverage import leverage_of
from deniable.protocol import Field, ProfileParameters
from deniable.results.table import UNLEARNED, Column, Table

NOTE = (
    "The second interval adds what a share of {share:.3g} crafted reports can do at most: "
    "{shift:.3g} each way, since one of them counts for up to {most:.3g} honest people."
)


def crafted_column(crafted: float, name: str = "crafted_interval") -> Column:
    """Return the column of second intervals, for a share of crafted reports."""
    return Column(name, "second_interval", f"with {crafted:.3g} crafted")


def with_crafted(
    table: Table, field: Field, crafted: float, shifts: Sequence[float] | None = None
) -> Table:
    """Return the table with a second interval for every row that was learned.

    Accuracy: where strings are fitted together, leverage is that of a string by itself; many
    candidates in few cells make it larger, as they make the standard error.

    Args:
        table: the table of the field.
        field: the field, whose parameters determine the leverage.
        crafted: the share of reports that may be crafted.
        shifts: the largest shift of each row, where several levels or versions are pooled.

    Raises:
        InvalidParameter: unless `crafted` is a share from 0 to 1.
    """
    share = _validate.probability("crafted", "a result", crafted)
    pooled = shifts is not None
    if shifts is None:
        shifts = _shifts(field, share, len(table.rows))
    # beta L is added at both ends: docs/mathematics.md, section 7 (crafted reports).
    ends = [
        (row.interval[0] - shift, row.interval[1] + shift) if row.learned else UNLEARNED
        for row, shift in zip(table.rows, shifts, strict=False)
    ]
    most = max(shifts) / max(share, 1e-300) if pooled else leverage_of(field).most
    note = NOTE.format(share=share, shift=max(shifts), most=most)
    wider = table.with_column(crafted_column(share), ends)
    return replace(wider, about=replace(table.about, crafted=share), notes=(*table.notes, note))


def crafted_slopes(field: Field, rows: int, crafted: float) -> list[float]:
    """Return how far each answer of a level moves per share of crafted reports.

    Shares of attributes are moved by bounds that need not be straight lines: the steepest counts.
    """
    share = _validate.probability("crafted", "a result", crafted)
    places = (max(share, 1e-6), 1.0)
    slopes = [[shift / at for shift in _shifts(field, at, rows)] for at in places]
    return [max(each) for each in zip(*slopes, strict=True)]


def _shifts(field: Field, crafted: float, rows: int) -> list[float]:
    """Return the largest shift of each row; rows of a profile are in the survey's order."""
    parameters = field.parameters
    # Every attribute of a profile has a shift of its own.
    if not isinstance(parameters, ProfileParameters):
        return [leverage_of(field).shift(crafted)] * max(rows, 1)
    each = enumerate(parameters.answers)
    return [table_shift(parameters, (i,), crafted) for i, count in each for _ in range(count)]

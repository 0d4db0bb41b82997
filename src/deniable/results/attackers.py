"""A second error bar: what a share of crafted reports could have done to a result.

Model: one crafted report counts for at most L honest people (`privacy/leverage/estimates.py`), so
that a share beta of them moves a frequency by at most beta L. The attacked interval is the 95%
interval with that much added at both ends: it covers the true share where at most so many reports
are crafted, whatever the attacker does. A level of an attribute of a record is moved by more, since
attackers choose what their reports are about (`privacy/leverage/profiles.py`).
"""

from __future__ import annotations

from dataclasses import replace

from deniable import _validate
from deniable.privacy.leverage.estimates import leverage_of
from deniable.privacy.leverage.profiles import profile_shift
from deniable.protocol import Field, ProfileParameters
from deniable.results.result import Result, Row

NOTE = (
    "The attacked interval adds what a share of {share:.3g} crafted reports can do at most: "
    "{shift:.3g} each way, since one of them counts for up to {most:.3g} honest people."
)


def with_attackers(result: Result, field: Field, attackers: float) -> Result:
    """Return the result with an attacked interval for every row that was learned.

    Accuracy: where strings are fitted together, leverage is that of a string by itself; many
    candidates in few cells make it larger, as they make the standard error.

    Args:
        result: of the field.
        field: whose parameters tell the leverage.
        attackers: the share of reports that may be crafted.

    Raises:
        InvalidParameter: unless `attackers` is a share from 0 to 1.
    """
    share = _validate.probability("attackers", "a result", attackers)
    shifts = _shifts(field, share, len(result.rows))
    note = NOTE.format(share=share, shift=max(shifts), most=leverage_of(field).most)
    return replace(
        result,
        rows=tuple(_widened(row, shift) for row, shift in zip(result.rows, shifts, strict=False)),
        attackers=share,
        notes=(*result.notes, note),
    )


def _shifts(field: Field, attackers: float, rows: int) -> list[float]:
    """Return how far each row can be moved; rows of a record are in the survey's order."""
    parameters = field.parameters
    if not isinstance(parameters, ProfileParameters):
        return [leverage_of(field).shift(attackers)] * max(rows, 1)
    each = enumerate(parameters.levels)
    return [profile_shift(parameters, i, attackers) for i, count in each for _ in range(count)]


def _widened(row: Row, shift: float) -> Row:
    if not row.learned:
        return row
    low, high = row.interval
    return replace(row, attacked_interval=(low - shift, high + shift))

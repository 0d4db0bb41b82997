"""A second error bar: what a share of crafted reports could have done to a result.

Model: one crafted report counts for at most L honest people (`privacy/leverage.py`), so that a
share beta of them moves a frequency by at most beta L. The attacked interval is the 95% interval
with that much added at both ends: it covers the true share where at most so many reports are
crafted, whatever the attacker does.
"""

from __future__ import annotations

from dataclasses import replace

from deniable import _validate
from deniable.privacy.leverage import leverage_of
from deniable.protocol import Field
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
    leverage = leverage_of(field)
    shift = leverage.shift(share)
    note = NOTE.format(share=share, shift=shift, most=leverage.most)
    return replace(
        result,
        rows=tuple(_widened(row, shift) for row in result.rows),
        attackers=share,
        notes=(*result.notes, note),
    )


def _widened(row: Row, shift: float) -> Row:
    if not row.learned:
        return row
    low, high = row.interval
    return replace(row, attacked_interval=(low - shift, high + shift))

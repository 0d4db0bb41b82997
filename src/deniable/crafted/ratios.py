"""Shares given a condition and odds ratios of a joint table, with all that crafted reports can do.

Model: no cell, row or column sum was moved further than `joint.py` says, so that the table of the
honest reports lies in a box around the one that was found. Of a share given a condition, with cell
a and the rest b of the condition,

    low = a- / (a- + b+),    high = a+ / (a+ + b-),

where a-..a+ are the ends of the cell and those of b are the better ones of two: the sum of its
cells' ends, and the condition's ends less the cell's. Of an odds ratio a d / (b c), with b and c
the rests of row and column and d = 1 - a - b - c, which falls in b and c and is concave in a,

    low = min over a in {a-, a+} of f(a, b+, c+),    high = max over a in a-..a+ of f(a, b-, c-).

The second interval is the statistical one, with the distance from the centre to these ends added:
of odds ratios in the logarithm, as their intervals are made.

Guarantees: as far as the box holds, every table in it has its numbers within these ends. It is
wider than need be, since no crafted reports reach all corners at once.
"""

from __future__ import annotations

import numpy as np

from deniable.associate.derived import Derived
from deniable.associate.joint import Joint
from deniable.crafted.joint import Shifts
from deniable.crafted.search import Ends
from deniable.mechanisms.base import Floats


def crafted_conditional(joint: Joint, found: Derived, shifts: Shifts) -> Ends:
    """Return the second intervals of conditional shares.

    Args:
        joint: the table.
        found: of all its variables.
        shifts: of its cells, and of the margin of what is given.
    """
    axes = tuple(joint.names.index(name) for name in found.names)
    size, shape = found.value.shape[-1], found.value.shape
    cells, up, down = (
        part.transpose(axes).reshape(-1, size) for part in (joint.unbounded, shifts.up, shifts.down)
    )
    given = shifts.margins[axes[:-1]]
    total = cells.sum(axis=1)
    ends = _conditional_ends(
        _ends(cells, up, down), _ends(total, given.up.reshape(-1), given.down.reshape(-1))
    )
    centre = np.divide(cells, total[:, None], out=np.zeros_like(cells), where=total[:, None] > 0)
    low = found.low.reshape(-1, size) - np.maximum(0.0, centre - ends.low)
    high = found.high.reshape(-1, size) + np.maximum(0.0, ends.high - centre)
    return Ends(np.maximum(low, 0.0).reshape(shape), np.minimum(high, 1.0).reshape(shape))


def _conditional_ends(cell: Ends, given: Ends) -> Ends:
    """Return the ends of shares given a condition: a row per condition."""
    total = Ends(given.low[:, None], given.high[:, None])
    rest = _rest(cell, total, axis=1)
    return Ends(
        _part(cell.low, rest.high, nothing=0.0), _part(np.minimum(cell.high, 1), rest.low, 1.0)
    )


def crafted_odds(joint: Joint, found: Derived, shifts: Shifts) -> Ends:
    """Return the second intervals of the odds ratios of two variables.

    Edge cases: an odds ratio that has no error has the interval from 0 to infinity already.
    """
    x = joint.unbounded
    a = _ends(x, shifts.up, shifts.down)
    sums = [x.sum(axis=1 - axis, keepdims=True) for axis in (0, 1)]
    rest = []
    for axis, total in enumerate(sums):
        own = shifts.margins[(axis,)]
        whole = _ends(total, own.up.reshape(total.shape), own.down.reshape(total.shape))
        rest.append(_rest(a, whole, axis=1 - axis))
    b, c = rest
    ends = Ends(
        # Concave in a: the least value is at an end. Without bounds a (1 - a - b - c) is largest
        # at a = (1 - b - c)/2.
        np.minimum(_odds(a.low, b.high, c.high), _odds(a.high, b.high, c.high)),
        _odds(np.clip((1 - b.low - c.low) / 2, a.low, a.high), b.low, c.low),
    )
    centre = _odds(x, sums[0] - x, sums[1] - x)
    known = np.isfinite(centre) & (centre > 0)
    below = np.divide(ends.low, centre, out=np.zeros_like(x), where=known)
    above = np.divide(ends.high, centre, out=np.full_like(x, np.inf), where=known)
    low = found.low * np.minimum(1.0, below)
    with np.errstate(invalid="ignore"):
        high = np.where(found.high > 0, found.high * np.maximum(1.0, above), above)
    return Ends(low, high)


def _ends(centre: Floats, up: Floats, down: Floats) -> Ends:
    """Return the ends of the honest values, none below 0."""
    # Crafted reports that pushed a cell up by `up` hide a value lower by as much.
    return Ends(np.maximum(centre - up, 0.0), np.maximum(centre + down, 0.0))


def _rest(cell: Ends, total: Ends, axis: int) -> Ends:
    """Return the ends of the rest of a row or column beside each cell."""
    low = cell.low.sum(axis=axis, keepdims=True) - cell.low
    high = cell.high.sum(axis=axis, keepdims=True) - cell.high
    return Ends(
        np.maximum(np.maximum(low, total.low - cell.high), 0.0),
        np.maximum(np.minimum(high, total.high - cell.low), 0.0),
    )


def _part(part: Floats, rest: Floats, nothing: float) -> Floats:
    """Return part / (part + rest)."""
    whole = part + rest
    found: Floats = np.divide(part, whole, out=np.full_like(whole, nothing), where=whole > 0)
    return found


def _odds(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return a d / (b c), infinite where nothing is below the line."""
    below = np.maximum(b, 0) * np.maximum(c, 0)
    above = np.maximum(a, 0) * np.maximum(1 - a - b - c, 0)
    found: Floats = np.divide(above, below, out=np.full_like(above, np.inf), where=below > 0)
    return found

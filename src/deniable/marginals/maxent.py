"""The distribution of largest entropy with given margins, for many tables at once.

Model: among the tables of k attributes whose margins over every k - 1 of them are given, the one
of largest entropy has no interaction of all k. Iterative proportional fitting finds it: scale the
cells so that one margin is right, then the next, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.mechanisms.base import Floats

SWEEPS = 200
TOLERANCE = 1e-9

VANISHED = 1e-200
"""The least margin that is not taken for 0."""


def fit_margins(
    start: Floats,
    margins: Sequence[Floats],
    sweeps: int = SWEEPS,
    tolerance: float = TOLERANCE,
) -> Floats:
    """Scale tables until they have given margins.

    Guarantees: of the tables with those margins, the nearest to `start` in relative entropy; from
    a uniform start, of largest entropy. Cells that are 0 at the start stay 0.

    Edge cases: margins that no table has (three correlations that contradict each other) are met
    as far as the last sweep goes: the last margin exactly, the others nearly.

    Cost: O(cells) per sweep; tables that are done leave the loop.

    Args:
        start: tables along the first axis, at least 0.
        margins: for every further axis, the tables summed over that axis.
        sweeps: the most sweeps.
        tolerance: the largest error of a margin at which a table is done.
    """
    fitted = start.copy()
    active = np.arange(len(start))
    for _ in range(sweeps):
        tables = fitted[active]
        worst = np.zeros(len(active))
        for axis, margin in enumerate(margins, start=1):
            tables, error = _scaled(tables, margin[active], axis)
            worst = np.maximum(worst, error)
        fitted[active] = tables
        active = active[worst > tolerance]
        if active.size == 0:
            break
    return fitted


def _scaled(tables: Floats, margin: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return tables with one margin right, and how wrong it was."""
    now = tables.sum(axis=axis)
    # Where shares vanish sweep by sweep, dividing by what is left of them would overflow.
    factor = np.divide(margin, now, out=np.zeros_like(now), where=now > VANISHED)
    error = np.abs(now - margin).reshape(len(tables), -1).max(axis=1)
    return tables * np.expand_dims(factor, axis), error


def margins_of(tables: Floats) -> list[Floats]:
    """Return the tables summed over each axis but the first."""
    return [tables.sum(axis=axis) for axis in range(1, tables.ndim)]


def largest_entropy(margins: Sequence[Floats]) -> Floats:
    """Return the tables of largest entropy with given margins.

    Two attributes need no fitting: the product of their distributions.

    Args:
        margins: as in `fit_margins`; of two attributes, the second's and then the first's.
    """
    if len(margins) == 2:
        second, first = margins
        return first[:, :, None] * second[:, None, :]
    last = margins[0].shape[1:]
    shape = (len(margins[0]), margins[1].shape[1], *last)
    return fit_margins(np.full(shape, 1 / np.prod(shape[1:])), margins)

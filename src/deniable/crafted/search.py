"""The search for what crafted reports did where nothing is linear: take them out, fit again.

Model: whoever crafted reports, they are among the reports. So a number is found again without the
reports that move it most, its most *influential* ones at the fit of all reports; and once more
without those that are the most influential ones then, since crafted reports also add to the
information and so hide each other. The least and the largest of all that were found span what the
honest reports by themselves may say. (That a sum over the most influential observations tells what
leaving out a share of them does is the idea of [Broderick, Giordano, Meager, 2020].)

Of profiles there are counts alone, which know no single report. There a shift of the cells as large
as leverage allows is taken out likewise (`smoothed_tables.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from deniable.mechanisms.base import Floats

MAJORITY = 0.5
"""From this share on crafted reports can say anything."""
ROUNDS = 2
"""The number of fits from each start, each without the reports that are influential before it."""

Progress = Callable[[int, int], None]
"""Called with the searches done and their number."""
Kept = NDArray[np.bool_]
"""Which of the reports are left."""
Fit = TypeVar("Fit")


class Range(NamedTuple):
    """The least and the largest that a number can be without the crafted reports."""

    low: float
    high: float


class Ends(NamedTuple):
    """The least and the largest that numbers can be without the crafted reports."""

    low: Floats
    high: Floats


def refits(
    start: Fit, influence: Callable[[Fit], Floats], again: Callable[[Kept], Fit], count: int
) -> Iterator[Fit]:
    """Yield fits without the `count` most influential reports, found at the fit before each."""
    for _ in range(ROUNDS):
        start = again(all_but_last(influence(start), count))
        yield start


def spanned(seen: Fit, found: Iterable[Fit], read: Callable[[Fit], Sequence[Floats]]) -> list[Ends]:
    """Return the least and the largest of each of some numbers over all fits; NaN counts nowhere.

    Args:
        seen: the fit of all reports.
        found: the fits without some of them.
        read: from a fit to its numbers.
    """
    ends = [Ends(numbers, numbers) for numbers in read(seen)]
    for fit in found:
        both = zip(ends, read(fit), strict=True)
        ends = [Ends(np.fmin(e.low, one), np.fmax(e.high, one)) for e, one in both]
    return ends


def largest(influence: Floats, count: int) -> NDArray[np.intp]:
    """Return the places of the `count` largest numbers, one or more."""
    return np.argpartition(influence, influence.size - count)[influence.size - count :]


def all_but_last(order: Floats, count: int) -> Kept:
    """Tell which reports are left without the `count` that come last in an order."""
    kept = np.ones(order.size, dtype=np.bool_)
    kept[largest(order, count)] = False
    return kept

"""Numbers about arrivals, shown late and in lumps, so that looking at them tells no arrival time.

A monitor that reads counters every 15 seconds would otherwise keep a record of arrivals that is
finer than the epoch, the finest time that anything else here keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass

RELEASE_SECONDS = 600.0
RELEASE_REPORTS = 100


@dataclass
class _Series:
    shown: tuple[float, ...]
    kept: tuple[float, ...]
    reports: int = 0


class Held:
    """Sums that move together at most once in ten minutes, each by at least 100 reports.

    Guarantees: no sum moves between two releases. A release moves those whose reports since their
    last move are at least `reports`; what is fewer is carried over. All sums are looked at in the
    same moments, so that the one in which a sum reaches the number is not seen either. A sum is
    not there before it was released once.

    Args:
        clock: seconds that do not jump.
        seconds: the least time between two releases, and before the first.
        reports: the fewest reports by which a sum moves.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        seconds: float = RELEASE_SECONDS,
        reports: int = RELEASE_REPORTS,
    ) -> None:
        self.clock = clock
        self._seconds, self._reports = seconds, reports
        self._last = clock()
        self._series: dict[Hashable, _Series] = {}

    def add(self, name: Hashable, reports: int, *amounts: float) -> None:
        """Add to a sum; the amounts of several reports, which move together."""
        series = self._series.get(name)
        if series is None:
            nothing = (0.0,) * len(amounts)
            series = self._series[name] = _Series(nothing, nothing)
        series.kept = tuple(map(sum, zip(series.kept, amounts, strict=True)))
        series.reports += reports

    def release(self) -> set[Hashable] | None:
        """Move what may move now, and return its names; None if it is not time yet."""
        now = self.clock()
        if now - self._last < self._seconds:
            return None
        self._last = now
        moved = set()
        for name, series in self._series.items():
            if series.reports >= self._reports:
                series.shown = tuple(map(sum, zip(series.shown, series.kept, strict=True)))
                series.kept, series.reports = (0.0,) * len(series.kept), 0
                moved.add(name)
        return moved

    def shown(self) -> dict[Hashable, tuple[float, ...]]:
        """Return the sums as they may be seen; those that never moved are left out."""
        return {name: each.shown for name, each in self._series.items() if any(each.shown)}

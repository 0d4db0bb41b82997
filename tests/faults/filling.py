"""Many batches of many chunks in a store, for closers to work on."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path

from deniable.store import open_store
from faults.material import report

_FIRST = 10**12


class Filling:
    """Appends reports about a stretch of days.

    Attributes:
        numbers: all that it has appended.
        days: the day that each of them is about.
    """

    def __init__(self, place: str | Path, rng: random.Random) -> None:
        self._place, self._rng = place, rng
        self._fresh = count(_FIRST)
        self.days: dict[int, int] = {}

    @property
    def numbers(self) -> set[int]:
        """All numbers that were appended."""
        return set(self.days)

    def fill(self, first_day: int, days: int, groups: int, size: int) -> None:
        """Append groups, each about every one of the days, so that batches have many chunks."""
        with open_store(self._place) as store:
            for _ in range(groups):
                days_of = {
                    next(self._fresh): day
                    for day in range(first_day, first_day + days)
                    for _ in range(size)
                }
                made = [report(number, day) for number, day in days_of.items()]
                self._rng.shuffle(made)
                appended = store.append(made)
                assert appended.accepted == len(made), appended
                self.days |= days_of

"""Many batches of many chunks in a store, for closers to work on."""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path

from deniable.store import open_store
from faults.material import reports

_FIRST = 10**12


class Filling:
    """Appends reports about a stretch of days; knows all numbers that it has appended."""

    def __init__(self, place: str | Path, rng: random.Random) -> None:
        self._place, self._rng = place, rng
        self._fresh = count(_FIRST)
        self.numbers: set[int] = set()

    def fill(self, first_day: int, days: int, groups: int, size: int) -> None:
        """Append groups, each about every one of the days, so that batches have many chunks."""
        with open_store(self._place) as store:
            for _ in range(groups):
                made = [
                    report
                    for day in range(first_day, first_day + days)
                    for report in reports([next(self._fresh) for _ in range(size)], day)
                ]
                self._rng.shuffle(made)
                appended = store.append(made)
                assert appended.accepted == len(made), appended
                self.numbers |= {int.from_bytes(report.id, "big") for report in made}

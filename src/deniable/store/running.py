"""The running time of collectors since an epoch was over; its closing waits for a day of it.

When an epoch is closed, its ids are forgotten, and a report that is sent once more would count
twice. A clock that is wrong for a while must therefore close nothing. So an epoch closes only after
collectors have run for a day since they found it over, by clocks that do not jump; each of them
adds the seconds it ran to one sum per batch. A collector that finds the epoch not over (because its
own clock is right, or right again) puts the sum back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from deniable.protocol.epochs import days_of
from deniable.store.base import Overdue
from deniable.store.rows import BatchRow
from deniable.store.tables import Tables

EpochDays = Mapping[tuple[str, int], int]
"""The length of an epoch in days, by question id and version."""
BeforeDays = int | Mapping[tuple[str, int], int]
"""The first day that is not over: one for all, or by question id and version."""


def is_over(row: BatchRow, before_day: BeforeDays, epoch_days: EpochDays) -> bool | None:
    """Tell whether a batch's last day is before a day; None if its question is not known.

    A question that is known and has no day is never over.
    """
    key = (row.batch.question, row.batch.version)
    if (length := epoch_days.get(key)) is None:
        return None
    day = before_day if isinstance(before_day, int) else before_day.get(key)
    return day is not None and days_of(row.batch.epoch, length)[1] < day


class Running:
    """The seconds that this process has run, and the batches that it found over meanwhile."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since = monotonic()
        self._over: frozenset[int] = frozenset()

    def look(
        self, tables: Tables, before_day: int, epoch_days: EpochDays
    ) -> tuple[Overdue, Callable[[], None]]:
        """Add the seconds since the last look to what was over then, inside a transaction.

        Returns what was found, and what to call when the transaction is durable.
        """
        seconds = int(self._monotonic() - self._since)
        over: set[int] = set()
        unknown: set[tuple[str, int]] = set()
        for row in tables.judged("open"):
            if row is None:
                continue  # a damaged row is closing's to name
            found = is_over(row, before_day, epoch_days)
            if found is None:
                unknown.add((row.batch.question, row.batch.version))
                continue
            if found:
                over.add(row.number)
            elif row.ran is None:
                continue
            more = seconds if row.number in self._over else 0
            _note(tables, row, more if found else None)

        def durable() -> None:
            self._since += seconds
            self._over = frozenset(over)

        return Overdue(len(over), tuple(sorted(unknown))), durable


def _note(tables: Tables, row: BatchRow, more: int | None) -> None:
    """Add seconds to a batch's sum, or put it back for None; others may look at the same time."""
    if more == 0 and row.ran is not None:
        return
    for now in tables.judged("batch = ?", (row.number,), lock=True):
        if now is not None and now.open:
            tables.update(replace(now, ran=None if more is None else (now.ran or 0) + more))

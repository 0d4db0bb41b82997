"""The running time of collectors since an epoch was past its retention; deleting waits for a day.

As with closing (`running.py`), a clock that is wrong for a while must delete nothing. The sums have
a table of their own: an epoch may be past its retention while late reports to other questions keep
its number open, and the seconds of its closing run beside these. The table is made when it is first
needed and may be lost; then a day of running begins anew.

Order. A collector refuses a question's reports on an epoch as soon as its own day is past their
retention (`collector/admission.py`), and adds no second before that. A collector that still takes
them, by another clock or an older survey, finds the epoch not past and puts the sum back. So
reports are deleted after a day in which no collector that ran would have taken one more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from deniable.store.base import Batch
from deniable.store.rows import BatchRow
from deniable.store.running import EpochDays, is_over
from deniable.store.tables import Tables

TABLE = "expiring"
_CREATE = """
    CREATE TABLE IF NOT EXISTS expiring (
        question TEXT NOT NULL, version BIGINT NOT NULL, epoch BIGINT NOT NULL, ran BIGINT NOT NULL,
        PRIMARY KEY (question, version, epoch)
    )
"""
_READ = "SELECT question, version, epoch, ran FROM expiring"
_ADD = """
    INSERT INTO expiring (question, version, epoch, ran) VALUES (?, ?, ?, ?)
        ON CONFLICT (question, version, epoch) DO UPDATE SET ran = expiring.ran + excluded.ran
        RETURNING ran
"""
_PUT_BACK = "DELETE FROM expiring WHERE question = ? AND version = ? AND epoch = ?"


class _Epoch(NamedTuple):
    """An epoch of one version of a question: what is deleted together."""

    question: str
    version: int
    epoch: int


class Expiring:
    """The seconds that this process has run, and the epochs that it found past their retention."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._since = monotonic()
        self._past: frozenset[_Epoch] = frozenset()

    def look(
        self,
        tables: Tables,
        before_days: Mapping[tuple[str, int], int],
        epoch_days: EpochDays,
        running_seconds: float,
    ) -> tuple[list[Batch], Callable[[], None]]:
        """Add the seconds since the last look to what was past then, inside a transaction.

        Returns the batches that were found so for long enough, and what to call when the
        transaction is durable.
        """
        seconds = int(self._monotonic() - self._since)
        made = tables.has(TABLE)
        there: dict[_Epoch, list[BatchRow]] = {}
        # Without a retention or a sum there is nothing to look for.
        for row in tables.judged() if before_days or made else ():
            if row is not None and row.reports:  # a damaged row is closing's to name
                there.setdefault(_epoch_of(row), []).append(row)
        past = frozenset(
            each for each, rows in there.items() if is_over(rows[0], before_days, epoch_days)
        )
        # What another survey asks is neither past nor put back by this one.
        foreign = {each for each in there if each[:2] not in epoch_days}
        if past and not made:
            tables.make(_CREATE)
        ran = self._note(tables, past, foreign, seconds) if past or made else {}
        due = [row.batch for each in past if ran[each] >= running_seconds for row in there[each]]

        def durable() -> None:
            self._since += seconds
            self._past = past

        return due, durable

    def _note(
        self, tables: Tables, past: frozenset[_Epoch], foreign: set[_Epoch], seconds: int
    ) -> dict[_Epoch, int]:
        """Write the sums, in one order, so that two who do it never wait for each other."""
        ran = {_Epoch(*row[:3]): int(row[3]) for row in tables.execute(_READ)}
        for each in sorted(past | ran.keys()):
            if each in past:
                more = seconds if each in self._past else 0
                if more or each not in ran:
                    ((now,),) = tables.execute(_ADD, (*each, more))
                    ran[each] = int(now)  # another process may have put it back meanwhile
            elif each not in foreign:
                tables.execute(_PUT_BACK, each)
        return ran


def _epoch_of(row: BatchRow) -> _Epoch:
    return _Epoch(row.batch.question, row.batch.version, row.batch.epoch)

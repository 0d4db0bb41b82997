"""The common part of both stores: everything but opening, appending and locking."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from deniable.errors import StoreError
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store.base import (
    ACCEPTED,
    RUNNING_SECONDS,
    SIMULATED,
    Batch,
    Chunk,
    Counters,
    Overdue,
    Scope,
    Store,
    Tally,
)
from deniable.store.closing import MERGE_BYTES, Closing
from deniable.store.counted import read_counted, write_counted
from deniable.store.deleting import take_out
from deniable.store.expiring import Expiring
from deniable.store.reader import read_chunks, read_tallies
from deniable.store.rows import BatchRow
from deniable.store.running import EpochDays, Running, is_over
from deniable.store.shuffle import RandomBytes
from deniable.store.simulated import forget_simulations, note_simulation
from deniable.store.tables import Tables, Transaction

CLOSER_SECONDS = 60.0
"""The time without work after which a closer is dead. A step of closing takes a few seconds."""
_POLL_SECONDS = 0.5

_T = TypeVar("_T")

Closer = tuple[Tables, Transaction]
"""The tables that a closer works on, and its transactions."""


class TabledStore(Store):
    """A store whose batches, chunks and counters are tables of a database.

    Threads may share the object.

    Args:
        random_bytes: the source of randomness for shuffling and keys.
        merge_bytes: the memory that closing an epoch works in, a few times over.
        monotonic: the clock that running and waiting are measured by; it must not jump.
        simulated: mark every report that `append` writes as simulated.
    """

    def __init__(
        self,
        *,
        random_bytes: RandomBytes = os.urandom,
        merge_bytes: int = MERGE_BYTES,
        monotonic: Callable[[], float] = time.monotonic,
        simulated: bool = False,
    ) -> None:
        self._random_bytes = random_bytes
        self._merge_bytes = merge_bytes
        self._monotonic = monotonic
        self._simulated = simulated
        self._running = Running(monotonic)
        self._expiring = Expiring(monotonic)

    @property
    def simulating(self) -> bool:
        """True if every report that `append` writes is marked as simulated."""
        return self._simulated

    @abstractmethod
    def _writing(self) -> AbstractContextManager[Tables]:
        """Open one durable transaction: all of the block, or nothing of it."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Tables]:
        """Open tables that show one moment."""

    @abstractmethod
    def _closer(self, doing: str = "close an epoch") -> AbstractContextManager[Closer | None]:
        """Become the one process that closes; None if another one is.

        `doing` is what an error says that the store cannot do.
        """

    @abstractmethod
    def _put_records(self, batch: Batch, records: bytes, size: int, kept: str) -> int:
        """Write and count records of one batch in a transaction."""

    def append_records(self, batch: Batch, records: bytes, size: int) -> int:
        """Write records in one transaction, shuffled together, in chunks of up to 1 MiB."""
        return self._put_records(batch, records, size, SIMULATED if batch.simulated else ACCEPTED)

    def begin_simulation(
        self, batch: Batch, seed: int, people: int, *, among_real: bool = False
    ) -> None:
        """Check and note a simulated crowd in one transaction."""
        with self._writing() as tables:
            note_simulation(tables, batch, seed, people, among_real=among_real)

    def remove_simulated(self) -> int:
        """Remove all simulated reports: out of sight in one transaction, overwritten in steps.

        Edge cases: chunks that a crash leaves behind are of no batch; the next closing removes
        them.
        """
        with self._writing() as tables:
            found = forget_simulations(tables)
        self._discard(found)
        return sum(row.reports for row in found)

    def delete(self, *scopes: Scope) -> int:
        """Take reports out of sight in one transaction; overwrite them, or drop them, in steps.

        Edge cases: what a crash leaves behind is of no batch; the next closing removes it.
        """
        with self._writing() as tables:
            found = take_out(tables, lambda row: any(one.holds(row.batch) for one in scopes))
        self._discard(found)
        return sum(row.reports for row in found)

    def expire(
        self,
        before_days: Mapping[tuple[str, int], int],
        epoch_days: EpochDays,
        *,
        running_seconds: float = RUNNING_SECONDS,
    ) -> list[Batch]:
        """Add the seconds since the last look to the sums of epochs past their day."""
        with self._writing() as tables:
            due, durable = self._expiring.look(tables, before_days, epoch_days, running_seconds)
        durable()
        return sorted(due)

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield the chunks as they were when the first was asked for."""
        chosen = Scope(question, version, first_epoch, last_epoch)
        return read_chunks(self._reading, lambda row: chosen.holds(row.batch), question)

    def tallies(self) -> list[Tally]:
        """Return the number of reports of each batch, sorted; no chunk is read for it."""
        return read_tallies(self._reading)

    def remembered(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return counts that were kept, from the table of them."""
        with self._reading() as tables:
            return read_counted(tables, keys)

    def remember(self, counted: Mapping[bytes, tuple[int, bytes]]) -> None:
        """Keep counts in one transaction."""
        with self._writing() as tables:
            write_counted(tables, counted)

    def count(self, counters: Counters) -> None:
        """Add to the counters durably. A zero is a real write: it shows that writing works."""
        with self._writing() as tables:
            tables.add_counters(counters)

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counters that are above zero."""
        with self._reading() as tables:
            return tables.counters()

    def find_over(self, before_day: int, epoch_days: EpochDays) -> Overdue:
        """Add the seconds since the last look to the sums of what was over then."""
        with self._writing() as tables:
            found, durable = self._running.look(tables, before_day, epoch_days)
        durable()
        return found

    def close_epochs(
        self,
        before_day: int,
        epoch_days: EpochDays,
        *,
        running_seconds: float = RUNNING_SECONDS,
        floor: int = DEFAULT_FLOOR,
    ) -> int:
        """Close what is over; others may append meanwhile.

        Edge cases: reports that arrive in a closed epoch are kept, and the epoch is closed again
        later; only their duplicates from before the first closing are not known any more. What a
        reader still holds (SQLite's log, PostgreSQL's tables of the epoch) goes with the next
        call.
        """

        def wanted(row: BatchRow) -> bool:
            over = is_over(row, before_day, epoch_days)
            return bool(over) and (row.ran or 0) >= running_seconds

        return self._close_batches(wanted, floor) or 0

    def close_question(
        self,
        question: str,
        version: int | None = None,
        last_epoch: int | None = None,
        *,
        floor: int = DEFAULT_FLOOR,
    ) -> int:
        """Close a question's epochs; waits a minute for a closer that may be dead."""
        chosen = Scope(question, version, None, last_epoch)
        return self._patiently(
            lambda: self._close_batches(lambda row: chosen.holds(row.batch), floor)
        )

    def _close_batches(self, wanted: Callable[[BatchRow], bool], floor: int) -> int | None:
        """Close the batches that are wanted; None if another process is closing."""
        with self._closer() as closer:
            if closer is None:
                return None
            return Closing(*closer, self._merge_bytes, floor).run(wanted)

    def _discard(self, rows: list[BatchRow]) -> None:
        """Delete and overwrite the chunks of rows that are no more."""

        def discard() -> bool | None:
            with self._closer() as closer:
                if closer is None:
                    return None
                Closing(*closer, self._merge_bytes).discard(rows)
                return True

        if rows:
            self._patiently(discard)

    def _patiently(self, work: Callable[[], _T | None]) -> _T:
        """Do a closer's work; wait a minute for another closer, which may be dead."""
        deadline = self._monotonic() + CLOSER_SECONDS + 2 * _POLL_SECONDS
        while (done := work()) is None:
            if self._monotonic() > deadline:
                raise StoreError("Another process is closing epochs. Try again when it is done.")
            time.sleep(_POLL_SECONDS)
        return done

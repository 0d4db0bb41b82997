"""The embedded store: one SQLite file, any number of readers, one writer at a time."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store.base import (
    ACCEPTED,
    RUNNING_SECONDS,
    SIMULATED,
    Appended,
    Batch,
    Chunk,
    Counters,
    Overdue,
    Store,
    Tally,
)
from deniable.store.batches import BatchRow
from deniable.store.closing import MERGE_BYTES, Closing
from deniable.store.connection import (
    connect,
    connect_writer,
    count_commit,
    plain_errors,
    read_commits,
    reading,
    transaction,
)
from deniable.store.files import OpenFiles, prepare_file
from deniable.store.lease import LEASE_SECONDS, Lease
from deniable.store.mark import Mark
from deniable.store.reader import read_chunks, read_counters, read_tallies
from deniable.store.running import EpochDays, Running, is_over
from deniable.store.shuffle import RandomBytes
from deniable.store.simulated import forget_simulations, note_simulation, remove_chunks
from deniable.store.writer import add_counters, append_chunks, append_reports

STORE_FILE = "reports.sqlite3"
"""The name of the store in a data directory."""

_TRUNCATE_SECONDS = 1.0
_POLL_SECONDS = 0.5
_CACHE = -2_000
"""SQLite's own default, in KiB."""


class _RolledBack(Exception):
    """Ends a transaction that must leave nothing."""


class SqliteStore(Store):
    """Reports in one SQLite file with a write-ahead log.

    Guarantees: a group is one transaction, synced to disk before `append` returns; what is deleted
    is overwritten; the file is readable by its owner only; no row says when or in which order
    reports of a closed epoch arrived. Until an epoch is closed, the places of pages in the file
    and the log do show the order of groups (not the order within one). Files that were removed,
    replaced or emptied are noticed before anything is acknowledged; what is read fits its sum.

    Cost: one sync per group. Reading holds one chunk in memory at a time.

    Edge cases: several processes may share the file; writers wait for each other, up to half a
    minute. Threads may share the object.

    Args:
        path: the file.
        create: whether to make it, and its folder, if it is missing.
        random_bytes: the source of randomness for shuffling and keys.
        merge_bytes: the memory that closing an epoch works in, a few times over.
        monotonic: the clock that running and waiting are measured by; it must not jump.
        simulated: mark every report that `append` writes as simulated.

    Raises:
        StoreError: if the file cannot be opened, is not a store, is empty, has lost transactions,
            or is of a newer version.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        random_bytes: RandomBytes = os.urandom,
        merge_bytes: int = MERGE_BYTES,
        monotonic: Callable[[], float] = time.monotonic,
        simulated: bool = False,
    ) -> None:
        self.path = Path(path)
        self._simulated = simulated
        self._random_bytes = random_bytes
        self._merge_bytes = merge_bytes
        self._lock = threading.Lock()
        self._closed = False
        self._monotonic = monotonic
        self._running = Running(monotonic)
        self._lease = Lease(random_bytes, monotonic)
        self._mark = Mark(self.path)
        prepare_file(self.path, create)
        with plain_errors("be opened"):
            self._connection = connect_writer(self.path)
            self._files = OpenFiles(self.path)
            try:
                self._check_mark(create)
            except BaseException:
                self._connection.close()
                raise

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    def append(self, reports: Sequence[Report], refusals: Counters | None = None) -> Appended:
        """Write a group in one transaction: its ids, a shuffled chunk per batch, its counters."""
        with plain_errors("be written"), self._transaction():
            if refusals:
                add_counters(self._connection, refusals)
            return append_reports(
                self._connection, reports, self._random_bytes, simulated=self._simulated
            )

    def append_records(self, batch: Batch, records: bytes, size: int) -> int:
        """Write records in one transaction, shuffled together, in chunks of up to 1 MiB."""
        with plain_errors("be written"), self._transaction():
            count = append_chunks(self._connection, batch, records, size, self._random_bytes)
            kept = SIMULATED if batch.simulated else ACCEPTED
            add_counters(self._connection, {(batch.question, kept): count})
            return count

    def begin_simulation(
        self, batch: Batch, seed: int, people: int, *, among_real: bool = False
    ) -> None:
        """Check and note a simulated crowd in one transaction."""
        with plain_errors("be written"), self._transaction():
            note_simulation(self._connection, batch, seed, people, among_real=among_real)

    def remove_simulated(self) -> int:
        """Remove all simulated reports: out of sight in one transaction, overwritten in steps.

        Edge cases: chunks that a crash leaves behind are of no batch; the next closing removes
        them.
        """
        with plain_errors("be written"):
            with self._transaction():
                numbers, reports = forget_simulations(self._connection)
            for number in numbers:
                more = True
                while more:
                    with self._transaction():
                        more = remove_chunks(self._connection, number)
            if numbers:
                self._truncate_log()
            return reports

    def read(
        self,
        question: str,
        version: int | None = None,
        first_epoch: int | None = None,
        last_epoch: int | None = None,
    ) -> Iterator[Chunk]:
        """Yield the chunks as they were when the first was asked for."""
        return read_chunks(self._reading, question, version, first_epoch, last_epoch)

    def tallies(self) -> list[Tally]:
        """Return the number of reports of each batch, sorted; no chunk is read for it."""
        return read_tallies(self._reading)

    def count(self, counters: Counters) -> None:
        """Add to the counters durably. A zero is a real write: it shows that writing works."""
        with plain_errors("be written"), self._transaction():
            add_counters(self._connection, counters)

    def probe(self, size: int) -> None:
        """Write `size` bytes to the log in a transaction that is rolled back.

        A cache of a few pages makes SQLite write what does not fit before the transaction ends,
        so that a full disk shows; rolled back, the bytes are room for the next transaction.
        """
        with plain_errors("be written"), suppress(_RolledBack), self._transaction():
            self._connection.execute("PRAGMA cache_size = 8")
            try:
                self._connection.execute("CREATE TABLE probe (bytes BLOB)")
                self._connection.execute("INSERT INTO probe VALUES (zeroblob(?))", (size,))
            finally:
                self._connection.execute(f"PRAGMA cache_size = {_CACHE}")
            raise _RolledBack

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counters that are above zero."""
        return read_counters(self._reading)

    def find_over(self, before_day: int, epoch_days: EpochDays) -> Overdue:
        """Add the seconds since the last look to the sums of what was over then."""
        with plain_errors("be written"):
            with self._transaction():
                found, durable = self._running.look(self._connection, before_day, epoch_days)
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
        later; only their duplicates from before the first closing are not known any more. The
        log is truncated unless a reader holds it; then the next call does.
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

        def wanted(row: BatchRow) -> bool:
            return (
                row.batch.question == question
                and version in (None, row.batch.version)
                and (last_epoch is None or row.batch.epoch <= last_epoch)
            )

        deadline = self._monotonic() + LEASE_SECONDS + 2 * _POLL_SECONDS
        while (closed := self._close_batches(wanted, floor)) is None:
            if self._monotonic() > deadline:
                raise StoreError("Another process is closing epochs. Try again when it is done.")
            time.sleep(_POLL_SECONDS)
        return closed

    def _close_batches(self, wanted: Callable[[BatchRow], bool], floor: int) -> int | None:
        """Close the batches that are wanted; None if another process is closing."""
        with plain_errors("close an epoch"):
            self._files.check(not self._closed)
            # A second connection: on the first, this thread would see half of another's group.
            with closing(connect_writer(self.path)) as connection:
                with self._transaction(connection):
                    if not self._lease.take(connection):
                        return None
                work = Closing(
                    connection,
                    lambda: self._step(connection),
                    self._random_bytes,
                    self._merge_bytes,
                    floor,
                )
                try:
                    closed = work.run(wanted)
                finally:
                    # On a full disk the row stays; the next closer takes it over.
                    with suppress(sqlite3.Error, StoreError), self._transaction(connection):
                        self._lease.release(connection)
            self._truncate_log()
            return closed

    def close(self) -> None:
        """Close the writing connection; iterators of `read` have their own and live on."""
        with self._lock:
            self._closed = True
            self._connection.close()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection | None = None) -> Iterator[None]:
        """Run the block as one transaction; threads of this process take turns.

        The files are looked at before, and once more when the transaction is durable: only then
        may anybody be told that it is.
        """
        connection = connection or self._connection
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed. Open it again.")
            self._files.check()
            with transaction(connection):
                yield
                number = count_commit(connection)
            self._files.check()
            self._mark.note(number)

    @contextmanager
    def _step(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Run a step of closing, if the lease is still ours."""
        with self._transaction(connection):
            self._lease.beat(connection)
            yield

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one moment of this store, and of no other file."""
        self._files.check(not self._closed)
        with reading(self.path) as connection:
            self._files.check(not self._closed)
            yield connection

    def _check_mark(self, create: bool) -> None:
        # The mark first: a transaction in between may only make the store look better.
        marked = self._mark.read()
        number = read_commits(self._connection)
        if marked is not None and number < marked:
            raise StoreError(
                f"The store at {self.path} has lost {marked - number:,} of the {marked:,} "
                f"transactions that were written: {self.path.name}-wal was lost, or an older copy "
                f"was put back. Restore what belongs to it. To go on without what was lost, remove "
                f"{self._mark.path.name}."
            )
        if create:
            self._mark.note(number)

    def _truncate_log(self) -> None:
        # A connection of its own with a short patience: a slow reader must not stop collecting.
        with closing(connect(self.path, _TRUNCATE_SECONDS)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def open_store(directory: str | Path, *, create: bool = True, simulated: bool = False) -> Store:
    """Open the store of a data directory.

    Args:
        directory: where it is.
        create: whether to make it if it is missing.
        simulated: mark every report that `append` writes as simulated.

    Raises:
        StoreError: if it cannot be opened, or is missing and must not be created.
    """
    return SqliteStore(Path(directory) / STORE_FILE, create=create, simulated=simulated)

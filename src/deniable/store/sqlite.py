"""The embedded store: one SQLite file, any number of readers, one writer at a time."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from deniable.errors import StoreError
from deniable.protocol import Report
from deniable.store.base import (
    ACCEPTED,
    SIMULATED,
    Appended,
    Batch,
    Chunk,
    Counters,
    Store,
    Tally,
)
from deniable.store.closing import MERGE_BYTES, Closing
from deniable.store.connection import (
    connect,
    connect_writer,
    plain_errors,
    prepare_file,
    transaction,
)
from deniable.store.reader import read_chunks, read_counters, read_tallies
from deniable.store.shuffle import RandomBytes
from deniable.store.simulated import forget_simulations, note_simulation, remove_chunks
from deniable.store.writer import add_counters, append_chunks, append_reports

STORE_FILE = "reports.sqlite3"
"""The name of the store in a data directory."""

_TRUNCATE_SECONDS = 1.0


class SqliteStore(Store):
    """Reports in one SQLite file with a write-ahead log.

    Guarantees: a group is one transaction, synced to disk before `append` returns; what is deleted
    is overwritten; the file is readable by its owner only; no row says when or in which order
    reports of a closed epoch arrived. Until an epoch is closed, the places of pages in the file
    and the log do show the order of groups (not the order within one).

    Cost: one sync per group. Reading holds one chunk in memory at a time.

    Edge cases: several processes may share the file; writers wait for each other, up to half a
    minute. Threads may share the object.

    Args:
        path: the file.
        create: whether to make it, and its folder, if it is missing.
        random_bytes: the source of randomness for shuffling and keys.
        merge_bytes: the memory that closing an epoch works in, a few times over.
        simulated: mark every report that `append` writes as simulated.

    Raises:
        StoreError: if the file cannot be opened, is not a store, or is of a newer version.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = True,
        random_bytes: RandomBytes = os.urandom,
        merge_bytes: int = MERGE_BYTES,
        simulated: bool = False,
    ) -> None:
        self.path = Path(path)
        self._simulated = simulated
        self._random_bytes = random_bytes
        self._merge_bytes = merge_bytes
        self._lock = threading.Lock()
        self._closed = False
        prepare_file(self.path, create)
        with plain_errors("be opened"):
            self._connection = connect_writer(self.path)

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
        return read_chunks(self.path, question, version, first_epoch, last_epoch)

    def tallies(self) -> list[Tally]:
        """Return how many reports there are of each batch, sorted; no chunk is read for it."""
        return read_tallies(self.path)

    def count(self, counters: Counters) -> None:
        """Add to the counters durably. A zero is a real write: it shows that writing works."""
        with plain_errors("be written"), self._transaction():
            add_counters(self._connection, counters)

    def counters(self) -> dict[tuple[str, str], int]:
        """Return the counters that are above zero."""
        return read_counters(self.path)

    def close_epochs(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> int:
        """Close what is over; others may append meanwhile.

        Edge cases: reports that arrive in a closed epoch are kept, and the epoch is closed again
        next time; only their duplicates from before the first closing are not known any more. The
        log is truncated unless a reader holds it; then the next call does.
        """
        with plain_errors("close an epoch"):
            # A second connection: on the first, this thread would see half of another's group.
            with closing(connect_writer(self.path)) as connection:
                work = Closing(
                    connection,
                    lambda: self._transaction(connection),
                    self._random_bytes,
                    self._merge_bytes,
                )
                closed = work.run(before_day, epoch_days)
            self._truncate_log()
            return closed

    def close(self) -> None:
        """Close the writing connection; iterators of `read` have their own and live on."""
        with self._lock:
            self._closed = True
            self._connection.close()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection | None = None) -> Iterator[None]:
        """Run the block as one transaction; threads of this process take turns."""
        with self._lock:
            if self._closed:
                raise StoreError("The store is closed. Open it again.")
            with transaction(connection or self._connection):
                yield

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

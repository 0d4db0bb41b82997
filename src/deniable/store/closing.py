"""Closing an epoch: its chunks become one, shuffled; its ids are dropped; the log is truncated.

Model. Up to MERGE_BYTES the records of a batch are read, shuffled and written as one chunk. A
larger batch is shuffled outside memory: every record is thrown into one of B buckets, uniformly and
independently, and each bucket is then shuffled by itself. Given the sizes of the buckets, all ways
of filling them are equally likely, and so are all orders within them; the buckets one after the
other are therefore a uniform permutation of all records [Rao61, San62].

Crash safety. The new chunks are written under a batch number that no row of `batches` has, in
transactions of a bounded size, so that collecting goes on meanwhile. A single update then gives the
batch its new number. Chunks without a batch, old ones or unfinished new ones, are invisible to
readers and removed at the next occasion.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from deniable.protocol.epochs import days_of
from deniable.store.schema import epochs_with_ids, ids_table
from deniable.store.shuffle import RandomBytes, scattered, shuffled
from deniable.store.writer import insert_chunk, random_number

MERGE_BYTES = 16 * 2**20
"""The memory that closing works in, a few times over; also the size of a closed chunk."""

MAX_BUCKETS = 2**16
STEP_CHUNKS = 10_000
"""At most so many chunks are touched in one transaction."""


@dataclass(frozen=True)
class OpenBatch:
    """A batch that is to be closed: its number, the size of a record, and its reports."""

    number: int
    size: int
    reports: int


@dataclass(frozen=True)
class Closing:
    """The work of closing, on a connection of its own.

    `transaction` opens one durable transaction on it each time it is called; between two of them
    others may write.
    """

    connection: sqlite3.Connection
    transaction: Callable[[], AbstractContextManager[None]]
    random_bytes: RandomBytes
    merge_bytes: int = MERGE_BYTES

    def run(self, before_day: int, epoch_days: Mapping[tuple[str, int], int]) -> int:
        """Close what is over, drop the ids that nobody needs, and return the number closed."""
        self._remove_leftovers()
        closed = sum(self._close(batch) for batch in self._over(before_day, epoch_days))
        self._drop_ids()
        return closed

    def _over(
        self, before_day: int, epoch_days: Mapping[tuple[str, int], int]
    ) -> Iterator[OpenBatch]:
        rows = self.connection.execute(
            "SELECT question, version, epoch, batch, size, reports FROM batches WHERE open"
        ).fetchall()
        for question, version, epoch, number, size, reports in rows:
            length = epoch_days.get((question, version))
            if length is None or days_of(epoch, length)[1] < before_day:
                yield OpenBatch(number, size, reports)

    def _close(self, batch: OpenBatch) -> bool:
        """Replace a batch's chunks by shuffled ones; False if it changed under our hands."""
        merged = random_number(self.random_bytes)
        if batch.reports * batch.size <= self.merge_bytes:
            self._merge(batch.number, merged, batch.size)
        else:
            self._scatter_and_merge(batch, merged)
        done = self._swap(batch, merged)
        self._remove(batch.number if done else merged)
        return done

    def _merge(self, source: int, target: int, size: int) -> None:
        rows = self.connection.execute("SELECT records FROM chunks WHERE batch = ?", (source,))
        records = b"".join(records for (records,) in rows)
        if records:
            with self.transaction():
                mixed = shuffled(records, size, self.random_bytes)
                insert_chunk(self.connection, target, mixed, self.random_bytes)

    def _scatter_and_merge(self, batch: OpenBatch, merged: int) -> None:
        wanted = -(-batch.reports * batch.size // self.merge_bytes)
        buckets = min(MAX_BUCKETS, 1 << (wanted - 1).bit_length())
        numbers = [random_number(self.random_bytes) for _ in range(buckets)]
        for first, last in self._spans(batch.number):
            rows = self.connection.execute(
                "SELECT records FROM chunks WHERE batch = ? AND key BETWEEN ? AND ?",
                (batch.number, first, last),
            )
            records = b"".join(records for (records,) in rows)
            with self.transaction():
                for bucket, part in scattered(records, batch.size, buckets, self.random_bytes):
                    insert_chunk(self.connection, numbers[bucket], part, self.random_bytes)
        for number in numbers:
            self._merge(number, merged, batch.size)
            self._remove(number)

    def _swap(self, batch: OpenBatch, merged: int) -> bool:
        """Give the batch its new chunks, if they hold exactly its records.

        They do not when a report arrived meanwhile, or another process was closing too and took
        our unfinished chunks for leftovers. Then the batch stays as it was, until next time.
        """
        with self.transaction():
            (written,) = self.connection.execute(
                "SELECT coalesce(sum(length(records)), 0) FROM chunks WHERE batch = ?", (merged,)
            ).fetchone()
            if written != batch.reports * batch.size:
                return False
            changed = self.connection.execute(
                "UPDATE batches SET batch = ?, open = 0 WHERE batch = ? AND reports = ? AND open",
                (merged, batch.number, batch.reports),
            )
            return changed.rowcount == 1

    def _drop_ids(self) -> None:
        with self.transaction():
            for epoch in epochs_with_ids(self.connection):
                still_open = self.connection.execute(
                    "SELECT 1 FROM batches WHERE epoch = ? AND open LIMIT 1", (epoch,)
                )
                if still_open.fetchone() is None:
                    self.connection.execute(f"DROP TABLE {ids_table(epoch)}")

    def _remove_leftovers(self) -> None:
        """Remove the chunks of no batch, which an interrupted closing left behind."""
        number = -1
        while True:
            (found,) = self.connection.execute(
                "SELECT min(batch) FROM chunks WHERE batch > ?", (number,)
            ).fetchone()
            if found is None:
                return
            number = found
            known = self.connection.execute("SELECT 1 FROM batches WHERE batch = ?", (number,))
            if known.fetchone() is None:
                self._remove(number)

    def _remove(self, number: int) -> None:
        """Delete and overwrite the chunks under a batch number, a bounded step at a time."""
        for first, last in self._spans(number):
            with self.transaction():
                self.connection.execute(
                    "DELETE FROM chunks WHERE batch = ? AND key BETWEEN ? AND ?",
                    (number, first, last),
                )

    def _spans(self, number: int) -> list[tuple[bytes, bytes]]:
        """Return ranges of keys whose chunks together fit in MERGE_BYTES (or are one chunk)."""
        spans: list[tuple[bytes, bytes]] = []
        rows = self.connection.execute(
            "SELECT key, length(records) FROM chunks WHERE batch = ? ORDER BY key", (number,)
        )
        chunks = size = 0
        for key, length in rows:
            if spans and size + length <= self.merge_bytes and chunks < STEP_CHUNKS:
                spans[-1] = (spans[-1][0], key)
                chunks, size = chunks + 1, size + length
            else:
                spans.append((key, key))
                chunks, size = 1, length
        return spans

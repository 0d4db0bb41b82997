"""Closing an epoch: its chunks become one, shuffled; its ids are dropped; the log is truncated.

Model. Up to MERGE_BYTES the records of a batch are read, shuffled and written as one chunk. A
larger batch is shuffled outside memory: every record is thrown into one of B buckets, uniformly and
independently, and each bucket is then shuffled by itself. Given the sizes of the buckets, all ways
of filling them are equally likely, and so are all orders within them; the buckets one after the
other are therefore a uniform permutation of all records [Rao61, San62].

Where a store overwrites what it deletes (SQLite), a batch is shuffled where it lies: `mixing.py`.
What follows is about the other (PostgreSQL), whose old chunks go with their table.

Crash safety. The new chunks are written under a batch number that no row of `batches` has, in
transactions of a bounded size, so that collecting goes on meanwhile. A single update then gives the
batch its new number. Chunks without a batch, old ones or unfinished new ones, are invisible to
readers and removed at the next occasion.

Two closers. Whether chunks belong to a batch is asked in the transaction that deletes them, and a
batch gets its new chunks only if they hold all its bytes. So two closers on one store may undo each
other's unfinished work, and never a record; the lease that keeps them apart only saves that work.

Small combinations. The batches of one question, version, level and epoch are closed together. Those
that `small.py` calls small lose their segments first: one transaction puts the records of all of
them into the largest, and writes "(small)" over its segments. What is closed then is that batch,
shuffled together.

Damage. Every chunk that is read must fit its sum, and a batch's chunks must hold the bytes of its
reports. A damaged batch stays as it is, with its ids, and is named; the others are closed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from deniable._words import plural
from deniable.errors import StoreError
from deniable.protocol.segments import small_combination
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store.base import Batch
from deniable.store.mixing import Mixing, buckets_for, is_unchanged
from deniable.store.rows import DAMAGED_ROW, BatchRow, Damaged, check_bytes, damage
from deniable.store.shuffle import scattered, shuffled
from deniable.store.small import is_small, small_ones
from deniable.store.tables import Tables, Transaction

MERGE_BYTES = 8 * 2**20
"""The memory that closing works in, a few times over; also the size of a closed chunk."""

_STEP_CHUNKS = 10_000
"""The most chunks that one transaction touches."""


@dataclass(frozen=True)
class Closing:
    """The work of closing, on a connection of its own.

    `transaction` opens one durable transaction on it each time it is called; between two of them
    others may write.
    """

    tables: Tables
    transaction: Transaction
    merge_bytes: int = MERGE_BYTES
    floor: int = DEFAULT_FLOOR

    def run(self, wanted: Callable[[BatchRow], bool]) -> int:
        """Close the open batches that are wanted, drop the ids that nobody needs any more.

        Returns the number closed.

        Raises:
            StoreError: if batches are damaged, after the others were closed.
            Exception: the database's own, if the disk is full, say. What was half done is undone
                as far as there is room for it, the rest of it next time.
        """
        try:
            self._remove_leftovers()
            return self._run(wanted)
        except self.tables.errors:
            with suppress(*self.tables.errors, StoreError):
                self._remove_leftovers()
            raise

    def discard(self, rows: Iterable[BatchRow]) -> None:
        """Remove the chunks of batches that are no more, and what else belongs to no batch."""
        for row in rows:
            self._remove(row)
        self._drop_ids()
        self.tables.give_back(self.transaction)

    def _run(self, wanted: Callable[[BatchRow], bool]) -> int:
        closed, problems = 0, list[str]()
        decided = self._overwrite_small(wanted, problems)
        found = list(self.tables.judged())
        for row in found:
            if row is None or not row.open or not wanted(row):
                continue
            if not row.batch.segments or row.number in decided:
                try:
                    closed += self._close(row)
                except Damaged as error:
                    problems.append(str(damage(row, error)))
        if None in found:
            # Such a row may have said that its epoch is open: no ids are dropped.
            problems.append(f"{DAMAGED_ROW} Run: deniable store check")
        else:
            self._drop_ids()
        self.tables.give_back(self.transaction)
        if problems:
            more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
            raise Damaged(
                f"{problems[0]}{more} Closed beside it: {plural(closed, 'batch', 'batches')}."
            )
        return closed

    def _overwrite_small(self, wanted: Callable[[BatchRow], bool], problems: list[str]) -> set[int]:
        """Take the segments off small combinations; return the batches that may be closed then.

        What is small is decided for all batches of a group together. So none of them is closed
        while one is not to be closed yet, is damaged, or has changed under our hands; and a batch
        that is new since was not decided on, and is closed next time.
        """
        groups: dict[tuple[Batch, int], list[BatchRow]] = {}
        for row in self.tables.judged("segments <> ''"):
            if row is not None:
                groups.setdefault(_group_of(row), []).append(row)
        decided: set[int] = set()
        for found in groups.values():
            open_ones = [row for row in found if row.open]
            if open_ones and all(wanted(row) for row in open_ones):
                try:
                    decided |= self._join_small(found)
                except Damaged as error:
                    problems.append(str(error))
        return decided

    def _join_small(self, found: list[BatchRow]) -> set[int]:
        """Join the small batches of a group under "(small)"; return those that are left."""
        small = small_ones({row.batch.segments: row.reports for row in found}, self.floor)
        joined = sorted(
            (row for row in found if row.batch.segments in small), key=lambda row: row.reports
        )
        if joined and not (len(joined) == 1 and is_small(joined[0].batch.segments)):
            with self.transaction():
                self.tables.hold(found)
                if not all(is_unchanged(self.tables, row) for row in found):
                    return set()
                self._join(joined[:-1], joined[-1])
        return {row.number for row in found} - {row.number for row in joined[:-1]}

    def _join(self, smaller: list[BatchRow], largest: BatchRow) -> None:
        """Put the records of batches into the largest of them, which then says "(small)".

        Only those below the floor are moved, never many records: at most one of those that become
        small reaches the floor, and it is the largest.
        """
        for row in smaller:
            try:
                records = b"".join(self.tables.checked_records(row))
                check_bytes(row, len(records))
            except Damaged as error:
                raise damage(row, error) from None
            if records:
                self.tables.insert_chunk(largest, records)
            self.tables.delete(row)
        batch = replace(largest.batch, segments=small_combination(largest.batch.segments))
        # They were all found over for long enough, or are closed already.
        ran = max((row.ran for row in (*smaller, largest) if row.ran is not None), default=None)
        more = sum(row.reports for row in smaller)
        self.tables.update(replace(largest.more(more), batch=batch, ran=ran))

    def _close(self, row: BatchRow) -> bool:
        """Replace a batch's chunks by shuffled ones; False if it changed under our hands."""
        if not self._is_whole(row):
            return False
        if row.bytes > self.merge_bytes:
            for _ in self.tables.checked_records(row):
                pass  # a damaged batch must not be scattered again and again
        if self.tables.in_place:
            mixing = Mixing(self.tables, self.transaction, self.merge_bytes)
            return mixing.mix(row, self._spans(row)) and self._end(row, mixing)
        merged = self.tables.renumbered(row)
        if row.bytes <= self.merge_bytes:
            self._merge(row, merged)
        else:
            self._scatter_and_merge(row, merged)
        done = self._swap(row, merged)
        self._remove(row if done else merged)
        return done

    def _is_whole(self, row: BatchRow) -> bool:
        """Check that a batch has all its bytes; False if it is another one by now."""
        with self.tables.moment():
            if not is_unchanged(self.tables, row):
                return False
            check_bytes(row, self.tables.stored_bytes(row))
            return True

    def _merge(self, source: BatchRow, target: BatchRow) -> None:
        records = b"".join(self.tables.checked_records(source))
        if records:
            with self.transaction():
                mixed = shuffled(records, source.size, self.tables.random_bytes)
                self.tables.insert_chunk(target, mixed)

    def _scatter_and_merge(self, row: BatchRow, merged: BatchRow) -> None:
        count = buckets_for(row.bytes, self.merge_bytes)
        buckets = [self.tables.temporary(row) for _ in range(count)]
        for span in self._spans(row):
            records = b"".join(self.tables.checked_records(row, span))
            with self.transaction():
                parts = scattered(records, row.size, count, self.tables.random_bytes)
                for bucket, part in parts:
                    self.tables.insert_chunk(buckets[bucket], part)
        for each in buckets:
            self._merge(each, merged)
            self._remove(each)

    def _end(self, row: BatchRow, mixing: Mixing) -> bool:
        """Close a batch whose records were shuffled where they lie, if nothing came meanwhile."""
        with self.transaction():
            if not mixing.is_done(row):
                return False
            self._put_closed(row, row.number)
            return True

    def _put_closed(self, row: BatchRow, number: int) -> None:
        """Write that a batch is closed, whose chunks lie under a number."""
        if not row.reports:  # all of them were deleted
            self.tables.delete(row)
            return
        # The sum starts again should a late report open the batch once more.
        closed = replace(row, number=number, open=False, ran=None, beside=0)
        self.tables.update(closed, row.number)

    def _swap(self, row: BatchRow, merged: BatchRow) -> bool:
        """Give the batch its new chunks, if they hold exactly its records.

        They do not when a report arrived meanwhile, or another process was closing too and took
        our unfinished chunks for leftovers. Then the batch stays as it was, until next time.
        """
        with self.transaction():
            self.tables.hold([row])
            if not is_unchanged(self.tables, row) or self.tables.stored_bytes(merged) != row.bytes:
                return False
            self._put_closed(row, merged.number)
            return True

    def _drop_ids(self) -> None:
        self.tables.drop_ids(self.transaction)

    def _remove_leftovers(self) -> None:
        """Remove the chunks of no batch, which an interrupted closing left behind."""
        for row in self.tables.unowned():
            self._remove(row)

    def _remove(self, row: BatchRow) -> None:
        """Delete and overwrite the chunks under a number that no batch has, step by step.

        The statement itself asks whether a batch has it: another closer may have given it to one
        a moment ago, and then these chunks are that batch's records.
        """
        for first, last in self._spans(row, removable=True):
            with self.transaction():
                self.tables.remove(row, first, last)

    def _spans(self, row: BatchRow, *, removable: bool = False) -> list[tuple[bytes, bytes]]:
        """Return ranges of keys whose chunks together fit in MERGE_BYTES (or are one chunk)."""
        spans: list[tuple[bytes, bytes]] = []
        chunks = size = 0
        for key, length in self.tables.lengths(row, removable=removable):
            if spans and size + length <= self.merge_bytes and chunks < _STEP_CHUNKS:
                spans[-1] = (spans[-1][0], key)
                chunks, size = chunks + 1, size + length
            else:
                spans.append((key, key))
                chunks, size = 1, length
        return spans


def _group_of(row: BatchRow) -> tuple[Batch, int]:
    """Return what batches share that differ in their segments alone."""
    return replace(row.batch, segments=""), row.size

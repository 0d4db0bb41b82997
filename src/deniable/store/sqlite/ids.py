"""The ids of open epochs: claimed in one transaction with the reports that carry them.

Membership. Every process has a filter of the ids that it has seen. What the filter does not know
is new, unless it stands in a part of a run that this process has not read yet; what it may know is
looked up on disk. Which runs were read is known by their random numbers, and a merged run tells of
which runs it was made. All of this happens in a write transaction, which sees what every other
process has committed. After one that was rolled back nothing in memory is wrong: a filter may know
too much, and the disk decides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from deniable import _validate
from deniable.protocol.report import MAX_EPOCH
from deniable.store.shuffle import RandomBytes
from deniable.store.sqlite import id_runs
from deniable.store.sqlite.id_filter import Hashed, IdFilter
from deniable.store.sqlite.id_runs import ID_BYTES, EpochRuns, Run

MOST_BYTES = 2**28
"""The memory of all filters but the one in use."""


class Ids:
    """Claims ids for one store; its caller lets one thread in at a time."""

    def __init__(self, random_bytes: RandomBytes) -> None:
        self._random_bytes = random_bytes
        self._known: dict[int, _Known] = {}
        self._paid = id_runs.SIZES.step

    def claim(
        self, connection: sqlite3.Connection, epoch: int, wanted: Iterable[bytes]
    ) -> set[bytes]:
        """Write those of some ids that are new in their epoch, and return them.

        Raises:
            InvalidParameter: if it is no number of an epoch.
        """
        _validate.integer("epoch", "a report", epoch, 0, MAX_EPOCH)
        asked = sorted(set(wanted))
        on_disk = EpochRuns(connection, epoch, self._random_bytes)
        runs = on_disk.runs()
        known = self._known_of(connection, epoch)
        known.follow(runs)
        known.load(on_disk, runs, len(asked))
        hashed = known.hashed(asked)
        old = known.old(asked, hashed, on_disk, runs)
        new = [each for each in asked if each not in old]
        if new:
            self._merge(on_disk, runs, len(new))
            known.add(on_disk.add(b"".join(new)), known.hashed(new) if old else hashed)
        return set(asked) - old

    def _known_of(self, connection: sqlite3.Connection, epoch: int) -> _Known:
        """Return what is known of an epoch; of others, those asked about last stay in memory."""
        known = self._known.pop(epoch, None)
        if known is None:
            there = {each for (each,) in connection.execute("SELECT DISTINCT epoch FROM runs")}
            self._known = {each: of for each, of in self._known.items() if each in there}
            known = _Known(self._random_bytes)
        while self._known and sum(of.memory for of in self._known.values()) > MOST_BYTES:
            del self._known[next(iter(self._known))]
        self._known[epoch] = known
        return known

    def _merge(self, on_disk: EpochRuns, runs: dict[int, Run], new: int) -> None:
        """Take the steps of merges that the new ids pay for, and save up to a step's worth."""
        sizes = on_disk.sizes
        self._paid = min(self._paid, sizes.step) + sizes.work * new
        for target, left in on_disk.merges(runs):
            while left and self._paid >= min(sizes.step, sum(run.ids for run in left)):
                before = target.ids
                target, left = on_disk.step(target, left)
                self._paid -= target.ids - before


class _Known:
    """The ids of one epoch that this process has seen."""

    def __init__(self, random_bytes: RandomBytes) -> None:
        self._filter = IdFilter(random_bytes)
        self._read: dict[int, bytes | None] = {}
        """How far each run was read: every id below is in the filter; None stands for all."""

    def follow(self, runs: dict[int, Run]) -> None:
        """Take note of the runs that there are now: one that was made of known ones is known."""
        before = self._read
        self._read = {
            number: before[number]
            if number in before
            else None
            if run.parts and all(before.get(part, b"") is None for part in run.parts)
            else b""
            for number, run in runs.items()
        }

    @property
    def memory(self) -> int:
        """The bytes that the filter takes."""
        return self._filter.memory

    def load(self, on_disk: EpochRuns, runs: dict[int, Run], asked: int) -> None:
        """Read runs that others wrote, the smallest first, some for each id that is asked about.

        Reading them costs about what looking for that id on disk costs: so an epoch to which few
        reports come is never read as a whole, and one to which many come soon is.
        """
        sizes = on_disk.sizes
        left = -(-min(sizes.load, sizes.load_each * asked) // sizes.row)
        for number in sorted(self._unread(), key=lambda number: runs[number].ids):
            if left <= 0:
                return
            rows = on_disk.rows(number, self._read[number] or b"", left)
            if rows:
                self._filter.add(self._filter.hashed(b"".join(ids for _, ids in rows)))
                self._read[number] = rows[-1][1][-ID_BYTES:] + b"\0"  # right behind the last id
            if len(rows) < left and runs.keys().isdisjoint(runs[number].parts):
                self._read[number] = None
            left -= max(1, len(rows))

    def hashed(self, ids: list[bytes]) -> Hashed:
        """Return what the filter needs of ids: worked out once for asking and adding."""
        return self._filter.hashed(b"".join(ids))

    def old(
        self, asked: list[bytes], hashed: Hashed, on_disk: EpochRuns, runs: dict[int, Run]
    ) -> set[bytes]:
        """Return those ids that stand in a run."""
        maybe = self._filter.holds(hashed)
        unread = {number: self._read[number] or b"" for number in self._unread()}
        if not unread and not maybe.any():
            return set()
        # Most retries come soon, and what came last is in the smallest runs.
        smallest = sorted(runs, key=lambda number: runs[number].ids)
        return {
            each
            for each, known in zip(asked, maybe.tolist(), strict=True)
            if any(
                on_disk.holds(number, each)
                for number in smallest
                if known or (number in unread and each >= unread[number])
            )
        }

    def add(self, number: int, ids: Hashed) -> None:
        """Take note of a run that this process writes."""
        self._filter.add(ids)
        self._read[number] = None

    def _unread(self) -> list[int]:
        return [number for number, place in self._read.items() if place is not None]

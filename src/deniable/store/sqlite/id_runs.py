"""The ids of an open epoch on disk: sorted runs that are merged step by step.

Model. The new ids of a group are one run: rows of sorted ids, each under its first one. When eight
runs are of one size they are merged into one of the next (a log-structured merge tree [One96]), so
that an id is written once for each power of eight, and never a page for each id. A merge goes from
the lowest ids to the highest, in steps: a step takes the lowest ids out of the runs and puts them
into the merged one, in the transaction of the group that pays for it. So every id is in one run at
every moment, and no group waits for more than a few steps.

Privacy. A row is sorted, and a run has a random number and a size. Merging forgets which ids came
together; nothing says when. What is deleted is overwritten, as everywhere in the store.
"""

from __future__ import annotations

import sqlite3
import struct
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deniable.store.shuffle import RandomBytes
from deniable.store.tables import random_number

ID_BYTES = 16


@dataclass(frozen=True)
class Sizes:
    """Numbers of ids: in a row, in a step of a merge, read into memory by one group at most.

    `load_each` is how many are read for each id that is asked about, `fan` how many runs of one
    size are merged, `work` how many ids are merged for each new one: more than the powers of `fan`
    in an epoch.
    """

    row: int = 512
    step: int = 32_768
    load: int = 2**20
    load_each: int = 2**10
    fan: int = 8
    work: int = 12


SIZES = Sizes()


class Run(NamedTuple):
    """A run: its random number, its size, and of which runs it was or is being made."""

    number: int
    ids: int
    parts: tuple[int, ...] = ()


class EpochRuns:
    """The runs of one epoch on a connection; what writes runs in a transaction of the caller's."""

    def __init__(
        self, connection: sqlite3.Connection, epoch: int, random_bytes: RandomBytes
    ) -> None:
        self._connection, self._epoch = connection, epoch
        self._random_bytes = random_bytes
        self.sizes = SIZES

    def runs(self) -> dict[int, Run]:
        """Return all runs by their numbers."""
        found = self._connection.execute(
            "SELECT run, ids, parts FROM runs WHERE epoch = ?", (self._epoch,)
        )
        return {
            number: Run(number, ids, struct.unpack(f"<{len(parts) // 8}q", parts))
            for number, ids, parts in found
        }

    def rows(self, run: int, first: bytes, limit: int) -> list[tuple[bytes, bytes]]:
        """Return the lowest rows of a run that begin at an id or above it."""
        return self._connection.execute(
            "SELECT first, ids FROM ids WHERE epoch = ? AND run = ? AND first >= ?"
            " ORDER BY first LIMIT ?",
            (self._epoch, run, first, limit),
        ).fetchall()

    def holds(self, run: int, wanted: bytes) -> bool:
        """Tell whether an id is in a run: one row is read."""
        found = self._connection.execute(
            "SELECT ids FROM ids WHERE epoch = ? AND run = ? AND first <= ?"
            " ORDER BY first DESC LIMIT 1",
            (self._epoch, run, wanted),
        ).fetchone()
        if found is None:
            return False
        at = ID_BYTES * _place(wanted, found[0])
        return bool(found[0][at : at + ID_BYTES] == wanted)

    def add(self, ids: bytes) -> int:
        """Write sorted ids as a run, and return its number."""
        made = Run(random_number(self._random_bytes), len(ids) // ID_BYTES)
        self._put_rows(made.number, ids)
        self._put_run(made)
        return made.number

    def merges(self, runs: dict[int, Run]) -> list[tuple[Run, list[Run]]]:
        """Return the merges that are under way or due, each with what is left, the smallest first.

        A run that a transaction makes takes part in none of that transaction's merges: other
        processes see it first, and then know what the merged one is made of.
        """
        found, free = [], dict(runs)
        for run in runs.values():
            if left := [runs[part] for part in run.parts if part in runs]:
                found.append((run, left))
                for each in (run, *left):
                    free.pop(each.number, None)
        levels: dict[int, list[Run]] = {}
        for run in free.values():
            levels.setdefault(self._level(run.ids), []).append(run)
        for alike in levels.values():
            if len(alike) >= self.sizes.fan:
                parts = tuple(run.number for run in alike)
                found.append((Run(random_number(self._random_bytes), 0, parts), alike))
        return sorted(found, key=lambda merge: sum(run.ids for run in merge[1]))

    def step(self, target: Run, left: list[Run]) -> tuple[Run, list[Run]]:
        """Move the lowest ids of some runs into another; return both as they are then.

        Every id below a bound is moved: the lowest id of the rows that were not read. A row that
        holds ids on both sides is cut there.
        """
        count = max(1, self.sizes.step // (self.sizes.row * len(left)))
        read = [self.rows(run.number, b"", count + 1) for run in left]
        bound = min((rows[count][0] for rows in read if len(rows) > count), default=None)
        moved, still = list[bytes](), list[Run]()
        for run, rows in zip(left, read, strict=True):
            taken = 0
            for first, ids in rows:
                cut = len(ids) if bound is None else ID_BYTES * _place(bound, ids)
                if cut:
                    self._delete_row(run.number, first)
                    self._put_rows(run.number, ids[cut:])
                    moved.append(ids[:cut])
                    taken += cut // ID_BYTES
            if taken == sum(len(ids) // ID_BYTES for _, ids in rows):  # nothing is left of it
                self._connection.execute(
                    "DELETE FROM runs WHERE epoch = ? AND run = ?", (self._epoch, run.number)
                )
            else:
                still.append(Run(run.number, run.ids - taken, run.parts))
        data = np.sort(np.frombuffer(b"".join(moved), dtype="S16")).tobytes()
        self._put_rows(target.number, data)
        made = Run(target.number, target.ids + len(data) // ID_BYTES, target.parts)
        for run in (made, *still):
            self._put_run(run)
        return made, still

    def drop(self, rows: int) -> bool:
        """Delete and overwrite some rows; say whether none are left, and forget the runs then."""
        self._connection.execute(
            "DELETE FROM ids WHERE (epoch, run, first) IN"
            " (SELECT epoch, run, first FROM ids WHERE epoch = ? LIMIT ?)",
            (self._epoch, rows),
        )
        if self._connection.execute(
            "SELECT 1 FROM ids WHERE epoch = ? LIMIT 1", (self._epoch,)
        ).fetchone():
            return False
        self._connection.execute("DELETE FROM runs WHERE epoch = ?", (self._epoch,))
        return True

    def _level(self, ids: int) -> int:
        level = 0
        while ids := ids // self.sizes.fan:
            level += 1
        return level

    def _put_run(self, run: Run) -> None:
        self._connection.execute(
            "INSERT OR REPLACE INTO runs (epoch, run, ids, parts) VALUES (?, ?, ?, ?)",
            (self._epoch, run.number, run.ids, struct.pack(f"<{len(run.parts)}q", *run.parts)),
        )

    def _put_rows(self, run: int, ids: bytes) -> None:
        step = self.sizes.row * ID_BYTES
        self._connection.executemany(
            "INSERT INTO ids (epoch, run, first, ids) VALUES (?, ?, ?, ?)",
            (
                (self._epoch, run, ids[at : at + ID_BYTES], ids[at : at + step])
                for at in range(0, len(ids), step)
            ),
        )

    def _delete_row(self, run: int, first: bytes) -> None:
        self._connection.execute(
            "DELETE FROM ids WHERE epoch = ? AND run = ? AND first = ?", (self._epoch, run, first)
        )


def epochs_with_ids(connection: sqlite3.Connection) -> list[int]:
    """Return the epochs whose ids are kept."""
    return [epoch for (epoch,) in connection.execute("SELECT DISTINCT epoch FROM runs")]


def _place(wanted: bytes, ids: bytes) -> int:
    """Return how many of sorted ids are below one."""
    return bisect_left(
        range(len(ids) // ID_BYTES), wanted, key=lambda n: ids[ID_BYTES * n : ID_BYTES * (n + 1)]
    )

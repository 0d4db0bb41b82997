"""What a store goes through while its writes are recorded: `python -m faults.store_workload`.

Every append and closing is announced before, and promised after, on standard output.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

from deniable.store import STORE_FILE
from faults.material import EPOCH_DAYS, TODAY, reports
from faults.store_child import HastyStore

OLD = TODAY - 100
BEFORE = TODAY - 30
GROUP = 24
"""Reports in an append: the combinations of a week come below and above the floor."""
_LITTLE_MEMORY = 60
"""Bytes: a batch of more is shuffled outside memory."""

_PAGES = 24
"""SQLite folds its log into the file when it has so many pages, in place of 1,000."""


class _Connection(sqlite3.Connection):
    """A connection that folds its log often, so that a short recording has many foldings."""

    careless = False

    def execute(self, sql: str, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
        if self.careless and sql.startswith("PRAGMA synchronous"):
            sql = "PRAGMA synchronous = OFF"
        done = super().execute(sql, *arguments)  # type: ignore[arg-type]
        if sql.startswith("PRAGMA synchronous"):
            super().execute(f"PRAGMA wal_autocheckpoint = {_PAGES}")
        return done


def use_small_log(careless: bool) -> None:
    """Let every connection of this process fold its log often; `careless` syncs nothing."""
    _Connection.careless = careless
    original = sqlite3.connect

    def connect(*arguments: object, **named: object) -> sqlite3.Connection:
        return original(*arguments, factory=_Connection, **named)  # type: ignore[call-overload]

    sqlite3.connect = connect  # type: ignore[assignment]


def say(line: str) -> None:
    """Print a line at once, in one write."""
    os.write(1, (line + "\n").encode())


class _Work:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._group = 0

    def append(self, store: HastyStore, day: int, group: int | None = None) -> None:
        if group is None:
            group, self._group = self._group, self._group + 1
        say(f"begin {group} {day}")
        store.append(reports(range(group * GROUP, (group + 1) * GROUP), day))
        say(f"kept {group} {day}")

    def round(self, memory: int) -> None:
        with HastyStore(self._path, merge_bytes=memory) as store:
            for day in (OLD, TODAY, OLD, TODAY - 1, OLD - 7):
                self.append(store, day)
            self.append(store, TODAY - 1, self._group - 2)  # a retry
            say("closing")
            store.close_epochs(BEFORE, EPOCH_DAYS)
            say("closed")
            self.append(store, TODAY)
            self.append(store, OLD)  # an epoch that was closed
            store.close_epochs(BEFORE, EPOCH_DAYS)
            say("closed")


def main() -> None:
    """Work for some rounds, and end without a word in the middle of another."""
    root, rounds, careless = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "careless"
    use_small_log(careless)
    work = _Work(root / "data" / STORE_FILE)
    for number in range(rounds):
        work.round(_LITTLE_MEMORY if number % 2 else 2**20)
    store = HastyStore(root / "data" / STORE_FILE)
    work.append(store, TODAY)
    os._exit(0)


if __name__ == "__main__":
    main()

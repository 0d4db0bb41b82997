"""Processes that work on a store directly: one appends groups, others close or delete epochs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from deniable.collector.retention import days_that_stay, delete_past
from deniable.errors import StoreError
from deniable.protocol.retention import keeping_of
from deniable.store import STORE_FILE, Batch, SqliteStore
from deniable.store.postgres import PostgresStore
from deniable.store.sqlite import id_runs
from deniable.store.tabled import TabledStore
from faults.limits import limit_files
from faults.material import EPOCH_DAYS, FLOOR, SHORT_SURVEY, reports

id_runs.SIZES = id_runs.Sizes(row=16, step=96, load=4_096, fan=4, work=8)
"""Small ones: drivers merge ids, in several steps each, though they send few."""


class _Hasty(TabledStore):
    """A store that closes and deletes what is over at once: drivers have no day to wait."""

    def close_epochs(
        self,
        before_day: int,
        epoch_days: Mapping[tuple[str, int], int],
        *,
        running_seconds: float = 0.0,
        floor: int = FLOOR,
    ) -> int:
        """Close what is over, whoever else was closing."""
        wait = {"running_seconds": running_seconds, "floor": floor}
        closed = super().close_epochs(before_day, epoch_days, **wait)
        return closed or super().close_epochs(before_day, epoch_days, **wait)

    def expire(
        self,
        before_days: Mapping[tuple[str, int], int],
        epoch_days: Mapping[tuple[str, int], int],
        *,
        running_seconds: float = 0.0,
    ) -> list[Batch]:
        """Return what is past its retention at the first look."""
        return super().expire(before_days, epoch_days, running_seconds=running_seconds)


class HastyStore(_Hasty, SqliteStore):
    """A hasty store in a file.

    Its clock leaps at every look, so that a closer that was killed counts as dead at the second
    one. A closer that lives may be taken for dead, too, which must lose nothing either.
    """

    def __init__(self, path: Path, **more: Any) -> None:
        super().__init__(path, monotonic=count(0, 1_000).__next__, **more)


class HastyDatabase(_Hasty, PostgresStore):
    """A hasty store in PostgreSQL."""


def append(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Append groups of consecutive numbers; tell the first number of each when it is kept.

    Args:
        choice: folder, day, and groups: pairs of a first number and how many follow.
        tell: called with (first number, how many were there already).
    """
    path = Path(choice["folder"]) / "data" / STORE_FILE
    with SqliteStore(path) as store:
        for first, count in choice["groups"]:
            done = store.append(reports(range(first, first + count), choice["day"]))
            tell((first, done.duplicates))


def close(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Close every epoch that ended before a day; tell how many batches that were.

    Args:
        choice: folder, before (a day), and perhaps merge_bytes, the memory to work in, and
            largest_file.
        tell: called with "open" before the work begins, then with the number of batches, or with
            the text of the store's error.
    """
    limit_files(choice.get("largest_file"))
    path = Path(choice["folder"]) / "data" / STORE_FILE
    memory = {"merge_bytes": choice["merge_bytes"]} if "merge_bytes" in choice else {}
    try:
        with HastyStore(path, **memory) as store:
            tell("open")
            tell(store.close_epochs(choice["before"], EPOCH_DAYS))
    except StoreError as error:
        tell(str(error))


def expire(choice: dict[str, Any], tell: Callable[[Any], None]) -> None:
    """Delete every report that is past its retention on a day, as a collector does it.

    Args:
        choice: folder, today, and perhaps place, the address of a database instead.
        tell: called with "open" before the work begins, then with the number of reports, or with
            the text of the store's error.
    """
    keepings = {(q.id, q.version): keeping_of(SHORT_SURVEY, q) for q in SHORT_SURVEY.questions}
    days = days_that_stay(keepings, choice["today"])
    path = Path(choice["folder"]) / "data" / STORE_FILE
    try:
        with HastyDatabase(choice["place"]) if "place" in choice else HastyStore(path) as store:
            tell("open")
            tell(delete_past(store, days, EPOCH_DAYS, keepings))
    except StoreError as error:
        tell(str(error))

"""Processes that work on a store directly: one that appends groups, one that closes epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.errors import StoreError
from deniable.store import STORE_FILE, SqliteStore
from faults.collector_child import limit_files
from faults.material import EPOCH_DAYS, reports


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
        with SqliteStore(path, **memory) as store:
            tell("open")
            tell(close_epochs(store, choice["before"]))
    except StoreError as error:
        tell(str(error))


def close_epochs(store: SqliteStore, before: int) -> int:
    """Close what ended before a day, as a collector does that may."""
    return store.close_epochs(before, EPOCH_DAYS)

"""Reports past their retention are deleted; counts of them stay where the survey says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from deniable.errors import StoreError
from deniable.store import Scope, Store


class Past(NamedTuple):
    """An epoch of a question whose retention is over."""

    question: str
    version: int
    epoch: int


KeepCounts = Callable[[Past], None]
"""Keeps the counts of an epoch whose reports go."""


def cannot_keep(past: Past) -> None:
    """Refuse to let reports go whose counts were promised to stay, where nobody can count.

    Raises:
        StoreError: always.
    """
    raise StoreError(
        f"Reports to {past.question} are past their retention, and stay: the survey keeps their "
        "counts, which this collector cannot make."
    )


def delete_past(
    store: Store,
    before_day: int,
    epoch_days: Mapping[tuple[str, int], int],
    keep: KeepCounts | None,
) -> int:
    """Delete what ended before a day, for as long as a wrong clock could not have said so.

    Args:
        store: whose reports they are; several collectors may do this at once.
        before_day: the first day whose epochs stay.
        epoch_days: the epoch length of each (question id, version); nothing else is deleted.
        keep: called with each epoch before it goes; if it fails, the epoch stays.

    Returns the number of reports deleted.
    """
    due = {
        Past(batch.question, batch.version, batch.epoch)
        for batch in store.expire(before_day, epoch_days)
    }
    deleted = 0
    for past in sorted(due):
        if keep is not None:
            keep(past)
        chosen = Scope(past.question, past.version, past.epoch, past.epoch)
        deleted += store.delete(chosen)
    return deleted

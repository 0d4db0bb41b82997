"""Reports past their retention are deleted; counts of them stay where the survey says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from deniable.errors import DeniableError, StoreError
from deniable.protocol.retention import Keeping
from deniable.store import Scope, Store


class Past(NamedTuple):
    """An epoch of a question whose retention is over."""

    question: str
    version: int
    epoch: int


KeepCounts = Callable[[Past], None]
"""Keeps the counts of an epoch whose reports go."""
Keepings = Mapping[tuple[str, int], Keeping]
"""How long reports stay, by question id and version."""


def cannot_keep(past: Past) -> None:
    """Refuse to let reports go whose counts were promised to stay, where nobody can count.

    Raises:
        StoreError: always.
    """
    raise StoreError(
        f"Reports to {past.question} are past their retention, and stay: the survey keeps their "
        "counts, which this collector cannot make."
    )


def days_that_stay(keepings: Keepings, today: int) -> dict[tuple[str, int], int]:
    """Return the first day whose epochs stay, of each question that has a retention.

    Reports on an epoch before that day are refused as too late (`Keeping.accepted_days`).

    Args:
        keepings: how long reports stay.
        today: the day from which retention counts back.
    """
    return {
        key: today - keeping.days for key, keeping in keepings.items() if keeping.days is not None
    }


def delete_past(
    store: Store,
    before_days: Mapping[tuple[str, int], int],
    epoch_days: Mapping[tuple[str, int], int],
    keepings: Keepings,
    keep: KeepCounts = cannot_keep,
) -> int:
    """Delete what ended before its day, for as long as a wrong clock could not have said so.

    Args:
        store: whose reports they are; several collectors may do this at once.
        before_days: the first day whose epochs stay, of each question that has one. Reports on
            earlier ones must be refused already.
        epoch_days: the epoch length of each (question id, version); nothing else is deleted.
        keepings: says of which questions counts stay.
        keep: called with each epoch of those before it goes; if it fails, the epoch stays.

    Returns the number of reports deleted.

    Raises:
        DeniableError: the first failure of `keep`, after everything else that is due has gone.
    """
    due = {
        Past(batch.question, batch.version, batch.epoch)
        for batch in store.expire(before_days, epoch_days)
    }
    going, failed = list[Scope](), list[DeniableError]()
    for past in sorted(due):
        try:
            if keepings[past.question, past.version].counts:
                keep(past)
        except DeniableError as error:
            failed.append(error)
            continue
        going.append(Scope(past.question, past.version, past.epoch, past.epoch))
    # At once: another closer that is at work for long is waited for once, not for each epoch.
    deleted = store.delete(*going)
    if failed:
        raise failed[0]
    return deleted

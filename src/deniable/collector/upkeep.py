"""The collector's housekeeping: epochs that nobody reports on any more are closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from deniable.collector.retention import (
    KeepCounts,
    Keepings,
    cannot_keep,
    days_that_stay,
    delete_past,
)
from deniable.errors import DeniableError
from deniable.protocol.survey import DEFAULT_FLOOR
from deniable.store import Store

_UPKEEP_SECONDS = 300.0
_SPARE_DAYS = 1
"""A request may begin before midnight and end after it; its duplicates must still be known."""

_log = logging.getLogger("deniable.collector")


class Rules(NamedTuple):
    """Which epochs are closed and deleted, as the survey says it now.

    Attributes:
        epoch_days: the epoch length of each (question id, version).
        floor: combinations of segments with fewer reports are told apart no more.
        keepings: for how long reports to each (question id, version) stay; what is not named
            stays.
        keep: keeps the counts of an epoch before its reports go, where they are to stay.
    """

    epoch_days: Mapping[tuple[str, int], int]
    floor: int = DEFAULT_FLOOR
    keepings: Keepings = MappingProxyType({})
    keep: KeepCounts = cannot_keep


async def keep_closing(
    store: Store,
    rules: Callable[[], Rules],
    past_days: int,
    today: Callable[[], int],
    seconds: float = _UPKEEP_SECONDS,
    closed: Callable[[int], object] = lambda batches: None,
) -> None:
    """Close the epochs that are due, at once and again every `seconds` seconds, for ever.

    Then delete those that are past their retention. The rules are asked for in every round, and
    `closed` is told how many batches a round has closed.

    An epoch is due when collectors have run for a day since they found it over, so that a clock
    that is wrong for a while closes nothing. What the survey does not name stays open, and is
    named in the log: once, and again when the list changes.

    Edge cases: a store that cannot be written is logged and tried again. A process that is killed
    adds nothing for the time since its last look.
    """
    named: tuple[tuple[str, int], ...] = ()
    while True:
        before = today() - past_days - _SPARE_DAYS
        epoch_days, floor, keepings, keep = rules()
        try:
            found = await asyncio.to_thread(store.find_over, before, epoch_days)
            if found.unknown != named:
                named = found.unknown
                _warn_of_unknown(named)
            closed(await asyncio.to_thread(store.close_epochs, before, epoch_days, floor=floor))
            # Also where nothing has a retention: a survey that has none puts back the sums of one
            # that has, while a collector with it still takes reports.
            days = days_that_stay(keepings, today())
            await asyncio.to_thread(delete_past, store, days, epoch_days, keepings, keep)
        except DeniableError as error:
            _log.warning(
                "Epochs were not closed, or not deleted; next try in %g seconds. %s", seconds, error
            )
        await asyncio.sleep(seconds)


def _warn_of_unknown(unknown: tuple[tuple[str, int], ...]) -> None:
    if unknown:
        listed = ", ".join(f"{question} version {version}" for question, version in unknown[:10])
        more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
        _log.warning(
            "The store has open epochs of questions that the survey does not have: %s%s. They "
            "stay open. If this is the right survey, close them: deniable store close QUESTION",
            listed,
            more,
        )

"""The collector's housekeeping: epochs that nobody reports on any more are closed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from deniable.errors import StoreError
from deniable.store import Store

UPKEEP_SECONDS = 3_600.0
SPARE_DAYS = 1
"""A request may begin before midnight and end after it; its duplicates must still be known."""

_log = logging.getLogger("deniable.collector")


async def keep_closing(
    store: Store,
    epoch_days: Mapping[tuple[str, int], int],
    past_days: int,
    today: Callable[[], int],
    seconds: float = UPKEEP_SECONDS,
) -> None:
    """Close old epochs now and every so many seconds, for ever.

    Edge cases: a store that cannot be written is logged and tried again. A clock that jumps ahead
    closes epochs early; their reports are still taken when it returns.
    """
    while True:
        before = today() - past_days - SPARE_DAYS
        try:
            await asyncio.to_thread(store.close_epochs, before, epoch_days)
        except StoreError as error:
            _log.warning("Epochs were not closed; next try in %g seconds. %s", seconds, error)
        await asyncio.sleep(seconds)

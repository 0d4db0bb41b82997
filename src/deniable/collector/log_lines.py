"""A log that nobody can fill: each message at most once a minute, with a number for the rest."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

_LINE_SECONDS = 60.0
_MOST_MESSAGES = 100


class OnceAMinute(logging.Filter):
    """Lets each message through once in a while, and says how many like it were left out.

    A message is known by its wording before anything is put into it; after some dozens of
    different ones, all others count as one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lines: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is written."""
        key = str(record.msg)
        if key not in self._lines and len(self._lines) >= _MOST_MESSAGES:
            key = ""
        last, left_out = self._lines.get(key, (float("-inf"), 0))
        if self._clock() < last + _LINE_SECONDS:
            self._lines[key] = last, left_out + 1
            return False
        self._lines[key] = self._clock(), 0
        if left_out:
            record.msg = f"{record.msg} (and {left_out:,} more like this since the last line)"
        return True


_ONCE_A_MINUTE = OnceAMinute()


def bound_log() -> None:
    """Bound what the server and the event loop write; safe to call twice."""
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(_ONCE_A_MINUTE)

"""Retries: full-jitter exponential back-off, and the collector's Retry-After."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from deniable.client.randomness import SystemDraws

LONGEST_RETRY_AFTER = 86_400.0
"""A day. A server that asks for more may be mistaken, or may want to silence a device."""

_UNIT = 2**32


class Backoff:
    """Waiting times after failures in a row.

    Model: the n-th (from 0) is uniform on 0 .. min(cap, base 2^n), which spreads a crowd of
    devices that failed at the same moment.
    """

    def __init__(self, base: float, cap: float, draws: SystemDraws) -> None:
        self._base = base
        self._cap = cap
        self._draws = draws
        self._failures = 0

    def failed(self) -> float:
        """Note a failure and return the seconds to wait."""
        self._failures += 1
        return self.after(self._failures - 1)

    def after(self, failures: int) -> float:
        """Return the seconds to wait after a failure that follows `failures` earlier ones."""
        highest = min(self._cap, self._base * 2.0 ** min(failures, 64))
        return highest * self._draws.below(_UNIT) / _UNIT

    def succeeded(self) -> None:
        """Note a success: the next failure waits briefly again."""
        self._failures = 0


def retry_after(header: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks for; None if it asks for nothing clear.

    Both forms of RFC 9110 are read: seconds, and a date. At most a day is granted.
    """
    if header is None:
        return None
    text = header.strip()
    if re.fullmatch(r"[0-9]{1,12}", text):
        seconds = float(text)
    else:
        from email.utils import parsedate_to_datetime  # with a first answer, not with the app

        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError, OverflowError):
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)

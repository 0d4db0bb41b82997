"""The keys that a collector accepts, from its settings and from a file that may change."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from pathlib import Path

from deniable.collector.keys_file import Key, Purpose, hash_of, read_keys


def utc_date() -> date:
    """Return today's date, UTC."""
    return datetime.now(UTC).date()


class Keyring:
    """Who may send, read and measure.

    Guarantees: every live key is compared, in constant time each, so that the time of an answer
    says neither which key was shown nor how much of one was right. What once needed a key never
    opens because its keys have ended. The event loop is its only thread.

    Args:
        fixed: keys of the settings, which do not change.
        path: the file of keys, if there is one.
        today: the date by which keys end.

    Raises:
        InvalidParameter: if the file cannot be read.
    """

    def __init__(
        self,
        fixed: Iterable[Key] = (),
        path: Path | None = None,
        today: Callable[[], date] = utc_date,
    ) -> None:
        self._fixed = tuple(fixed)
        self._path = path
        self._today = today
        self.reload()

    def reload(self) -> None:
        """Read the file again; if it cannot be read, everything stays as it was.

        Raises:
            InvalidParameter: saying why it cannot be read.
        """
        self._keys = self._fixed + (read_keys(self._path) if self._path else ())
        self._day: date | None = None  # whose live keys are at hand
        self._live: list[Key] = []
        self.writing_open = not any(key.purpose is Purpose.APP for key in self._keys)
        self.reading_open = not any(key.purpose is Purpose.ANALYST for key in self._keys)

    def may_write(self, secret: bytes, survey: str = "") -> bool:
        """Tell whether a sender may send reports to a survey."""
        return self.writing_open or self._opens(secret, survey, Purpose.APP)

    def may_read(self, secret: bytes, survey: str = "") -> bool:
        """Tell whether a token opens a survey's results; not whether they are open without one."""
        return self._opens(secret, survey, Purpose.ANALYST)

    def may_measure(self, secret: bytes) -> bool:
        """Tell whether a token opens the metrics, which are of all surveys."""
        return self._opens(secret, "", Purpose.METRICS, Purpose.ANALYST)

    def _opens(self, secret: bytes, survey: str, *purposes: Purpose) -> bool:
        today = self._today()
        if today != self._day:
            self._day, self._live = today, [key for key in self._keys if key.live(today)]
        shown = hash_of(secret)
        matches = [
            hmac.compare_digest(shown, key.hash) and key.survey in ("", survey)
            for key in self._live
            if key.purpose in purposes
        ]
        return True in matches

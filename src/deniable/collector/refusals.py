"""Refusals that wait for the next commit: numbers only, and few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from deniable.collector.reasons import Reason
from deniable.store.base import Counters


class Refusals:
    """Counts refusals in memory, by question and reason.

    Guarantees: at most one number per question of the survey and reason, whatever is sent. The
    event loop is its only thread.
    """

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._wake: Callable[[], object] = lambda: None

    def on_first(self, wake: Callable[[], object]) -> None:
        """From now on, call `wake` whenever there is something to write after there was nothing."""
        self._wake = wake

    def add(self, question: str, reason: Reason, times: int = 1) -> None:
        """Count a refusal. `question` is an id of the survey, or empty."""
        if not self._counts:
            self._wake()
        self._counts[question, reason.value] += times

    def take(self) -> Counters:
        """Return the counts, and begin again at zero."""
        taken, self._counts = self._counts, Counter()
        return taken

    def put_back(self, counts: Counters) -> None:
        """Add counts back that could not be written, for the next try."""
        if counts:
            self._wake()
        self._counts.update(counts)

    def waiting(self) -> Counters:
        """Return the counts that are not written yet."""
        return dict(self._counts)

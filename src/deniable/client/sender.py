"""The thread that waits for the network, so that the one that commits records never does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from deniable.client.daemon import Daemon


class Flush:
    """A request to do everything that is due, and to say whether that succeeded."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.complete = False


class _Wake:
    """There is something new to send."""


class _Stop:
    """The end of the queue."""


class Sender:
    """Does what is due, again and again.

    Args:
        cycle: does what is due, sending at most one batch, and returns the seconds until it wants
            to be called again; must not raise.
        send_all: does all that is due, each report at most once, and tells whether nothing is
            left; must not raise.
    """

    def __init__(self, cycle: Callable[[], float], send_all: Callable[[], bool]) -> None:
        self._cycle = cycle
        self._send_all = send_all
        self._daemon = Daemon("deniable-upload", self._run)
        self.reset()

    def reset(self) -> None:
        """Start over with nothing to do and no thread, as a forked child must."""
        self._queue: SimpleQueue[Flush | _Wake | _Stop] = SimpleQueue()
        self._daemon.reset()

    def start(self) -> None:
        """Start the thread unless it runs."""
        self._daemon.start()

    def wake(self) -> None:
        """Say that there is something to send; never waits."""
        if self._queue.empty():  # else it will look anyhow
            self._queue.put(_Wake())
        self.start()

    def flush(self, request: Flush) -> None:
        """Let a request be carried out; never waits."""
        self._queue.put(request)
        self.start()

    def stop(self, timeout: float) -> None:
        """End the thread; one that waits for the network ends when that does, or the process."""
        self._queue.put(_Stop())
        self._daemon.join(timeout)

    def _run(self) -> None:
        queue, due = self._queue, 0.0
        while True:
            try:
                wish = queue.get(timeout=max(0.0, due - time.monotonic()))
            except Empty:
                due = time.monotonic() + self._cycle()
                continue
            if isinstance(wish, _Stop):
                return
            if isinstance(wish, Flush):
                wish.complete = self._send_all()
                wish.done.set()
            due = 0.0  # look at once

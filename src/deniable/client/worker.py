"""One thread that takes entries from a bounded queue, commits them, and looks after the rest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from deniable.client.recorder import Entry


class _Flush:
    """A request to do everything that is due, and to say whether that succeeded."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.complete = False


class _Stop:
    """The end of the queue."""


class Worker:
    """The client's queue and its daemon thread, which starts with the first use.

    Guarantees: `put` never blocks, not even in a signal handler or a destructor that interrupts
    another `put`: the queue is re-entrant and its bound is read, not waited for. (Threads that
    put at the same instant can exceed the bound by their number.)

    Args:
        limit: how many entries may wait.
        commit: makes the report of an entry; must not raise.
        cycle: does what is due, sending at most one batch, and returns the seconds until it wants
            to be called again; must not raise. Its argument says whether to hurry.
        complete: tells after a flush whether everything was done; must not raise.
    """

    def __init__(
        self,
        limit: int,
        commit: Callable[[Entry], object],
        cycle: Callable[[bool], float],
        complete: Callable[[], bool],
    ) -> None:
        self._limit = limit
        self._commit = commit
        self._cycle = cycle
        self._complete = complete
        self.reset()

    def reset(self) -> None:
        """Start over with an empty queue and no thread, as a forked child must."""
        self._queue: SimpleQueue[Entry | _Flush | _Stop] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def put(self, entry: Entry) -> bool:
        """Let an entry wait for the thread; False if too many wait already."""
        if self._queue.qsize() >= self._limit:
            return False
        self._queue.put(entry)
        self.start()
        return True

    def start(self) -> None:
        """Start the thread unless it runs."""
        # Not waiting for the lock: whoever holds it is starting the thread.
        if self._thread is None and self._starting.acquire(blocking=False):
            try:
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name="deniable", daemon=True)
                    thread.start()
                    self._thread = thread
            except RuntimeError:
                pass  # no thread to be had, or the interpreter is ending: tried again next time
            finally:
                self._starting.release()

    def flush(self, timeout: float) -> bool:
        """Wait until all that was put is committed and all that is due was sent, or was tried."""
        request = _Flush()
        self._queue.put(request)
        self.start()
        return request.done.wait(timeout) and request.complete

    def stop(self, timeout: float) -> None:
        """Commit what waits, and end the thread; what it cannot do in time is done here."""
        self._queue.put(_Stop())
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout)
        while True:
            try:
                entry = self._queue.get_nowait()
            except Empty:
                break
            if isinstance(entry, Entry):
                self._commit(entry)
        self._queue.put(_Stop())  # for a thread that was late

    def _run(self) -> None:
        queue, due = self._queue, 0.0
        while True:
            try:
                entry = queue.get(timeout=max(0.0, due - time.monotonic()))
            except Empty:
                due = time.monotonic() + self._cycle(False)
                continue
            if isinstance(entry, _Stop):
                return
            if isinstance(entry, _Flush):
                self._do_flush(entry)
            else:
                self._commit(entry)
            due = 0.0  # as soon as nothing waits

    def _do_flush(self, request: _Flush) -> None:
        while self._cycle(True) == 0.0:
            pass
        request.complete = self._complete()
        request.done.set()

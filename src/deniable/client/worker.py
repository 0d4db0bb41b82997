"""One thread that takes entries from a bounded queue and commits them, and does nothing else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue

from deniable.client.daemon import Daemon
from deniable.client.recorder import Entry
from deniable.client.sender import Flush, Sender

_LOOK_SECONDS = 0.1
"""The time between two checks, by a waiting caller, that there is a thread to wait for."""


_IN_HAND_SECONDS = 2.0
"""The longest wait for the one entry that the thread is committing, which needs no network."""


class _Ticket:
    """An entry in the queue, and its outcome. It prints nothing."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.done = threading.Event()
        self.committed = False


class _Stop:
    """The end of the queue."""


class Worker:
    """The client's queue and its daemon thread, which starts with the first use.

    Guarantees: `put` never blocks, not even in a signal handler or a destructor that interrupts
    another `put`: the queue is re-entrant and its bound is read, not waited for. (Threads that
    put at the same instant can exceed the bound by their number.) Entries are committed in the
    order in which they were put, and no commit waits for the network.

    Args:
        limit: the most entries that may wait.
        commit: makes the report of an entry, and tells whether there is one; must not raise.
        sender: is told when there is something to send.
    """

    def __init__(self, limit: int, commit: Callable[[Entry], bool], sender: Sender) -> None:
        self._limit = limit
        self._commit = commit
        self._sender = sender
        self._daemon = Daemon("deniable", self._run)
        self.reset()

    def reset(self) -> None:
        """Start over with an empty queue and no thread, as a forked child must."""
        self._queue: SimpleQueue[_Ticket | Flush | _Stop] = SimpleQueue()
        self._daemon.reset()
        self._sender.reset()

    def start(self) -> None:
        """Start both threads unless they run."""
        self._daemon.start()
        self._sender.start()

    def put(self, entry: Entry) -> bool:
        """Let an entry wait for the thread; False if too many wait already."""
        if self._queue.qsize() >= self._limit:
            return False
        self._queue.put(_Ticket(entry))
        self._daemon.start()
        return True

    def put_and_wait(self, entry: Entry) -> bool:
        """Wait until an entry is committed after all before it; True if it became a report.

        There is always room: those who wait are no more than the app's threads.

        Edge cases: in the worker's own thread, as in a handler of its log, it is committed at once.
        Where no thread can be started, the queue is worked off here.
        """
        if self._daemon.is_current():
            return self._commit(entry)
        ticket = _Ticket(entry)
        self._queue.put(ticket)
        self._daemon.start()
        while not ticket.done.wait(_LOOK_SECONDS):
            if not self._daemon.runs():
                self._work_off()
        return ticket.committed

    def flush(self, timeout: float) -> bool:
        """Wait until all that was put is committed and all that is due was sent, or was tried."""
        request = Flush()
        self._queue.put(request)
        self.start()
        return request.done.wait(timeout) and request.complete

    def stop(self, timeout: float) -> None:
        """Commit what waits, and end the threads; what they cannot do in time is done here."""
        deadline = time.monotonic() + timeout
        self._queue.put(_Stop())
        self._daemon.join(timeout)
        self._work_off()
        self._queue.put(_Stop())  # for a thread that was late:
        self._daemon.join(_IN_HAND_SECONDS)  # what it has in hand is in no queue any more
        self._sender.stop(max(0.0, deadline - time.monotonic()))

    def _work_off(self) -> None:
        """Commit in the calling thread what waits."""
        while True:
            try:
                wish = self._queue.get_nowait()
            except Empty:
                return
            if isinstance(wish, _Ticket):
                self._finish(wish)
            elif isinstance(wish, Flush):
                self._sender.flush(wish)

    def _run(self) -> None:
        queue = self._queue
        while True:
            wish = queue.get()
            if isinstance(wish, _Stop):
                return
            if isinstance(wish, Flush):
                self._sender.flush(wish)
                continue
            self._finish(wish)
            if queue.empty():  # so that what is recorded together is sent together
                self._sender.wake()

    def _finish(self, ticket: _Ticket) -> None:
        ticket.committed = self._commit(ticket.entry)
        ticket.done.set()

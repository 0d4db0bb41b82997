"""The two threads of a client, and their life: forks, closing, the end of the process.

One thread commits records, the other waits for the network.

The one that commits does nothing else, so that a slow server can delay no report on its way to the
disk. Both start with their first use, end with the process, and start over after a fork.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from weakref import WeakSet

from deniable.client.device import Device
from deniable.client.recorder import Entry

_LOOK_SECONDS = 0.1
"""The time between two checks, by a waiting caller, that there is a thread to wait for."""

_IN_HAND_SECONDS = 2.0
"""The longest wait for the one entry that the thread is committing, which needs no network."""

_EXIT_SECONDS = 2.0
"""The longest time that the end of the process waits for the thread."""

_FORK_SECONDS = 1.0
"""The longest time that a fork waits for the thread to leave the database."""


class Daemon:
    """Runs one function in a daemon thread, which starts with its first use and survives a fork.

    Args:
        name: the thread's name, for whoever looks at a list of them.
        run: the work of the thread, which ends when it returns.
    """

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self._name = name
        self._run = run
        self.reset()

    def reset(self) -> None:
        """Forget the thread, as a forked child must: it has only the one that forked."""
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self) -> None:
        """Start the thread unless it runs."""
        # Not waiting for the lock: whoever holds it is starting the thread.
        if self._thread is None and self._starting.acquire(blocking=False):
            try:
                if self._thread is None:
                    thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                    thread.start()
                    self._thread = thread
            except RuntimeError:
                pass  # no thread to be had, or the interpreter is ending: tried again next time
            finally:
                self._starting.release()

    def runs(self) -> bool:
        """Tell whether the thread is alive."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def is_current(self) -> bool:
        """Tell whether the calling thread is this one."""
        return threading.current_thread() is self._thread

    def join(self, timeout: float) -> None:
        """Wait until the thread has ended, and forget it when it has."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
            if thread.is_alive():
                return
        self._thread = None


class Flush:
    """A request to send what is due, or everything, and to say whether nothing is left."""

    def __init__(self, everything: bool) -> None:
        self.everything = everything
        self.done = threading.Event()
        self.complete = False


class _Wake:
    """There is something new to send."""


class _Stop:
    """The end of the queue."""


class Sender:
    """Does what is due, again and again, in the thread that waits for the network.

    Args:
        cycle: does what is due, sending at most one batch, and returns the seconds until it wants
            to be called again; must not raise.
        send_all: sends everything, or only what is due, each report at most once, and tells
            whether nothing is left; must not raise.
    """

    def __init__(self, cycle: Callable[[], float], send_all: Callable[[bool], bool]) -> None:
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
                wish.complete = self._send_all(wish.everything)
                wish.done.set()
            due = 0.0  # look at once


class _Ticket:
    """An entry in the queue, and its outcome. It prints nothing."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.done = threading.Event()
        self.committed = False


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

    def flush(self, timeout: float, everything: bool) -> bool:
        """Wait until all that was put is committed, and what is due or everything was tried."""
        request = Flush(everything)
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
            if queue.empty():
                self._sender.wake()  # so that it knows when the next report is due

    def _finish(self, ticket: _Ticket) -> None:
        ticket.committed = self._commit(ticket.entry)
        ticket.done.set()


class Life:
    """Watches over a client's device and worker from its making until its end.

    Guarantees: after a fork the child has a thread, queue, locks and connection of its own, and
    what waited in the queue is committed by the parent alone. When the process ends, what waits
    in memory is brought to disk, without waiting for the network.
    """

    def __init__(self, device: Device, worker: Worker) -> None:
        self._device = device
        self._worker = worker
        self._held = False
        self.over = False
        _LIVES.add(self)

    def end(self, timeout: float) -> None:
        """Commit what waits, stop the threads and close the database; safe to call twice."""
        if self.over:
            return
        self.over = True
        _LIVES.discard(self)
        self._worker.stop(timeout)
        self._device.save()
        self._device.database.end()

    def before_fork(self) -> None:
        """Keep the thread out of SQLite, whose global locks must be free in the copy."""
        self._held = self._device.database.hold(_FORK_SECONDS)

    def after_fork_in_parent(self) -> None:
        """Let the thread go on."""
        if self._held:
            self._device.database.release()

    def after_fork_in_child(self) -> None:
        """Start over, with nothing of the parent's."""
        self._device.forget_parent()
        self._worker.reset()


_LIVES: WeakSet[Life] = WeakSet()


def _before_fork() -> None:
    for life in list(_LIVES):
        life.before_fork()


def _after_fork_in_parent() -> None:
    for life in list(_LIVES):
        life.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for life in list(_LIVES):
        life.after_fork_in_child()


def _at_exit() -> None:
    for life in list(_LIVES):
        life.end(_EXIT_SECONDS)


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )

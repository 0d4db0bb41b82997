"""The life of a client: its closing, and the forks and the end of its process."""

from __future__ import annotations

import atexit
import os
from weakref import WeakSet

from deniable.client.device import Device
from deniable.client.worker import Worker

EXIT_SECONDS = 2.0
"""The longest time that the end of the process waits for the thread."""

FORK_SECONDS = 1.0
"""The longest time that a fork waits for the thread to leave the database."""


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
        self._held = self._device.database.hold(FORK_SECONDS)

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
        life.end(EXIT_SECONDS)


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )

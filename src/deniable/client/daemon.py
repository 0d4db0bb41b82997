"""A thread that starts with its first use, ends with the process, and survives a fork."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Daemon:
    """Runs one function in a daemon thread of its own.

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

"""Real processes that can be killed at once, made so quickly that a thousand are no matter.

A server process imports what children need, and makes each of them by a fork. They have memory,
files and locks of their own, and SIGKILL ends one in the middle of whatever it does.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

PATIENCE = 120.0
"""Seconds that a driver waits for something that must happen, on a machine that is busy."""

_PRELOAD = ["faults.collector_child", "faults.store_child", "faults.client_child"]


def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    context.set_forkserver_preload(_PRELOAD)
    return context


class Child:
    """A process that runs `work(choice, tell)`; what it tells is kept, also after its death.

    Its standard error is appended to the file `output`.
    """

    def __init__(self, work: Callable[..., None], output: Path, **choice: Any) -> None:
        context = _context()
        self._receiver, sender = context.Pipe(duplex=False)
        self.told: list[Any] = []
        self._process = context.Process(
            target=_run, args=(work, choice, sender, str(output)), daemon=True
        )
        self._process.start()
        sender.close()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def running(self) -> bool:
        """Whether the process has not ended yet."""
        return self._process is not None and bool(self._process.is_alive())

    def first(self, wanted: Callable[[Any], bool] = lambda _: True) -> Any:
        """Wait for something that it tells, and return it.

        Raises:
            AssertionError: if it ends without, or takes longer than anything should.
        """
        found = wait_for(
            lambda: next((x for x in list(self.told) if wanted(x)), None), lambda: self.running
        )
        if found is None:  # told just before its end, perhaps
            self._listener.join(PATIENCE)
            found = next((x for x in self.told if wanted(x)), None)
        if found is None:
            raise AssertionError("A child ended without saying what was expected of it.")
        return found

    def kill(self) -> bool:
        """End the process at once; True if it was still at work."""
        if self._process is None:
            return False
        alive = self.running
        self._process.kill()
        return self._reap() and alive

    def finish(self, seconds: float = PATIENCE) -> int:
        """Wait for the process to end by itself, and return its exit code."""
        self._process.join(seconds)
        if self._process.is_alive():
            self.kill()
            raise AssertionError(f"A child did not end within {seconds:g} seconds.")
        code = int(self._process.exitcode or 0)
        self._reap()
        return code

    def terminate(self) -> int:
        """Ask the process to end, and return its exit code."""
        self._process.terminate()
        return self.finish()

    def _reap(self) -> bool:
        process, self._process = self._process, None
        if process is None:
            return False
        process.join(PATIENCE)
        self._listener.join(PATIENCE)
        self._receiver.close()
        process.close()
        return True

    def _listen(self) -> None:
        try:
            while True:
                self.told.append(self._receiver.recv())
        except (EOFError, OSError):
            pass  # the process ended; a message is one write, so none is cut in two


def wait_for(
    question: Callable[[], Any], while_true: Callable[[], bool] = lambda: True
) -> Any | None:
    """Ask until the answer is true, and return it; None if `while_true` ended first.

    Raises:
        AssertionError: after PATIENCE.
    """
    end = time.monotonic() + PATIENCE
    while True:
        if answer := question():
            return answer
        if not while_true():
            return question() or None
        if time.monotonic() > end:
            raise AssertionError(f"Nothing happened for {PATIENCE:g} seconds.")
        time.sleep(0.002)


def _run(work: Callable[..., None], choice: dict[str, Any], sender: Any, output: str) -> None:
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 2)
    work(choice, sender.send)

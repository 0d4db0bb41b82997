"""SIGHUP: an operator asks a service to read its files again, or a terminal was closed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

_STDIN = 0


def ignore_hangup() -> None:
    """Let no SIGHUP end a process that is about to read everything anyway."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def follow_hangup(again: Callable[[], object], stop: Callable[[], object]) -> None:
    """From now on, call `again` on SIGHUP; `stop` if the terminal that was there is gone.

    Somebody who closes the window of a collector expects it to end.
    """
    if not hasattr(signal, "SIGHUP"):
        return
    had_terminal = os.isatty(_STDIN)

    def heard() -> None:
        (stop if had_terminal and not os.isatty(_STDIN) else again)()

    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, heard)

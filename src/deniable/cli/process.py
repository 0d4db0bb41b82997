"""A collector in a process of its own, as operators run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from deniable.collector.settings import ENV_PREFIX
from deniable.errors import DeniableError


@dataclass(frozen=True)
class Running:
    """A running collector and its address."""

    process: subprocess.Popen[str]
    address: str

    def wait(self) -> None:
        """Wait until the process ends or the user interrupts."""
        with suppress(KeyboardInterrupt):
            self.process.wait()


@contextmanager
def collector_process(
    survey: Path,
    data: Path,
    port: int = 0,
    *,
    simulated: bool = False,
    plugins: Sequence[Path] = (),
) -> Iterator[Running]:
    """Run `deniable serve` on a loopback port (a free one for 0) until the block ends.

    Guarantees: it ends with the block, also where SIGTERM or SIGINT ends the block. Settings in
    the environment are for the operator's own collector and do not reach this one.

    Args:
        survey: the published survey.
        data: the data directory.
        port: where to listen.
        simulated: mark every report that arrives as simulated, and serve a page /try.
        plugins: the files that register the survey's own mechanisms.
    """
    command = [sys.executable, "-m", "deniable", "serve", "--json", "--host", "127.0.0.1"]
    command += ["--simulated", "--try"] if simulated else []
    command += [word for file in plugins for word in ("--plugin", str(file))]
    command += ["--survey", str(survey), "--data", str(data), "--port", str(port)]
    environment = {name: text for name, text in os.environ.items() if not _is_setting(name)}
    with _signals_end_the_block() as armed:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        with process:
            try:
                armed()
                yield Running(process, _address(process))
            finally:
                process.terminate()


@contextmanager
def _signals_end_the_block() -> Iterator[Callable[[], None]]:
    """Let SIGTERM and SIGINT end the block as an exception, from the call of what is yielded on.

    Python ends at once on SIGTERM and leaves child processes behind. A signal that arrives before
    the block has its child in hand waits until it has.

    Edge cases: only the main thread gets signals; elsewhere nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    waiting: list[int] = []
    ready = False

    def end(number: int, _: object) -> None:
        if not ready:
            waiting.append(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    def arm() -> None:
        nonlocal ready
        ready = True
        for number in waiting:
            end(number, None)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield arm
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_setting(name: str) -> bool:
    return name.startswith(ENV_PREFIX)


def _address(process: subprocess.Popen[str]) -> str:
    """Return the address that the process announces once it answers requests."""
    line = process.stdout.readline() if process.stdout else ""
    try:
        return str(json.loads(line)["address"])
    except (ValueError, KeyError):
        raise DeniableError("The collector did not start; its message stands above.") from None

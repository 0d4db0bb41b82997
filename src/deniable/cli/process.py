"""A collector in a process of its own, as operators run it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import DeniableError

START_SECONDS = 30


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
def collector_process(survey: Path, data: Path, port: int = 0) -> Iterator[Running]:
    """Run `deniable serve` on a loopback port (a free one for 0) until the block ends."""
    command = [sys.executable, "-m", "deniable", "serve", "--json"]
    command += ["--survey", str(survey), "--data", str(data), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            address = _address(process)
            _await_ready(process, address)
            yield Running(process, address)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    try:
        return str(json.loads(line)["address"])
    except (ValueError, KeyError):
        raise DeniableError("The collector did not start; its message stands above.") from None


def _await_ready(process: subprocess.Popen[str], address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):  # noqa: S310
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise DeniableError(f"The collector at {address} did not become ready.")

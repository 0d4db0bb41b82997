"""A collector in a process of its own, as operators run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
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
def collector_process(survey: Path, data: Path, port: int = 0) -> Iterator[Running]:
    """Run `deniable serve` on a loopback port (a free one for 0) until the block ends.

    Settings in the environment are for the operator's own collector and do not reach this one.
    """
    command = [sys.executable, "-m", "deniable", "serve", "--json", "--host", "127.0.0.1"]
    command += ["--survey", str(survey), "--data", str(data), "--port", str(port)]
    environment = {name: text for name, text in os.environ.items() if not _is_setting(name)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield Running(process, _address(process))
        finally:
            process.terminate()


def _is_setting(name: str) -> bool:
    return name.startswith(ENV_PREFIX)


def _address(process: subprocess.Popen[str]) -> str:
    """Return the address that the process announces once it answers requests."""
    line = process.stdout.readline() if process.stdout else ""
    try:
        return str(json.loads(line)["address"])
    except (ValueError, KeyError):
        raise DeniableError("The collector did not start; its message stands above.") from None

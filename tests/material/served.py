"""`deniable serve` with any options, in a process of its own, as an operator runs it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self

from deniable.collector.settings import ENV_PREFIX


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def ask(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request over a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, dict(headers or {}))
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read())
    finally:
        connection.close()


class Serving:
    """The process; leaving the context ends it politely, and shows what it said if it failed."""

    def __init__(self, folder: Path, *options: object, before: tuple[str, ...] = ()) -> None:
        self.folder = folder
        words = [*(before or (sys.executable, "-m", "deniable")), "serve", "--json"]
        self._said = (folder / "said").open("ab")
        self.process = subprocess.Popen(
            [*words, "--port", "0", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=self._said,
            cwd=folder,
            env={k: v for k, v in os.environ.items() if not k.startswith(ENV_PREFIX)},
        )
        self.port = int(self.told()["address"].rpartition(":")[2])

    def told(self) -> dict[str, str]:
        """Wait for the next thing that the process says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, (self.folder / "said").read_text()
        found: dict[str, str] = json.loads(line)
        return found

    def hang_up(self) -> dict[str, str]:
        """Have keys and surveys read again, and wait for it."""
        self.process.send_signal(signal.SIGHUP)
        return self.told()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=30)
        self._said.close()

"""A collector in a process of its own: the script that runs it, and the handle to it."""

from __future__ import annotations

import http.client
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Self

from deniable.authoring import resolve
from deniable.collector import Settings, create_app, http_limits, serve
from deniable.protocol import (
    Field,
    Question,
    RapporParameters,
    Report,
    Strings,
    Survey,
    batch_bytes,
)
from deniable.protocol.epochs import day_number
from deniable.store import SqliteStore

BITS = {"k": 64, "h": 2, "m": 1, "f": 0.5, "p": 0.5, "q": 0.75}
FIELD = Field("value", Strings(), resolve(RapporParameters, BITS, Strings(), False))
EXPIRES = date.today() + timedelta(days=400)
QUESTION = Question("words", 1, "?", "team", EXPIRES, 1, "once", "recorded", (FIELD,))
SURVEY = Survey("test", "team", (QUESTION,))
JSON = {"content-type": "application/json"}
TODAY = day_number()
"""One day for the whole run: a report that is sent again after midnight is still the same."""


def report(number: int) -> Report:
    """Return a report whose record holds its number; the same one every time."""
    record = b"\0\0" + number.to_bytes(8, "little")
    identity = number.to_bytes(16, "big")
    return Report("words", 1, QUESTION.digest, TODAY, identity, record)


def number_of(record: bytes) -> int:
    return int.from_bytes(record[2:], "little")


def batch(numbers: Iterable[int]) -> bytes:
    return batch_bytes(report(number) for number in numbers)


class Running:
    """A collector process; leaving the context ends it politely.

    Its standard output and error go to files in `folder`, beside the data directory.
    """

    def __init__(self, folder: Path, port: int = 0, **options: Any) -> None:
        self.folder = folder
        self.data = folder / "data"
        folder.mkdir(exist_ok=True)
        (folder / "survey.json").write_bytes(SURVEY.published())
        choice = {"folder": str(folder), "port": port, **options}
        with (folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, __file__, json.dumps(choice)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().decode().strip()
        if not self.address:
            raise AssertionError((folder / "output").read_text())
        self.port = int(self.address.rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    def terminate(self) -> bytes:
        """Ask the process to end, and return what it printed after its address."""
        self.process.terminate()
        printed, _ = self.process.communicate(timeout=30)
        return printed or b""

    def kill(self) -> None:
        """End the process at once, in the middle of whatever it does."""
        self.process.kill()
        self.process.communicate()

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def post(self, body: bytes, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        connection = self.connect()
        try:
            connection.request("POST", "/v1/reports", body, {**JSON, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> tuple[int, Any]:
        connection = self.connect()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def main() -> None:
    choice = json.loads(sys.argv[1])
    folder = Path(choice.pop("folder"))
    http_limits.HEAD_SECONDS = choice.pop("head_seconds", http_limits.HEAD_SECONDS)
    server: Any = importlib.import_module("deniable.collector.serve")  # the function hides it
    server.STOPPING_SECONDS = choice.pop("stopping_seconds", server.STOPPING_SECONDS)
    server.END_SECONDS += server.STOPPING_SECONDS
    settings = Settings(folder / "data", folder / "survey.json", **choice)
    with SqliteStore(settings.store_path) as store:
        app = create_app(settings, store, settings.survey_path.read_bytes())
        serve(settings, app, on_listening=lambda address: print(address, flush=True))


if __name__ == "__main__":
    main()

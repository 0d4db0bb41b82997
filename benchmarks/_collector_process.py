"""A real `deniable serve` in a process of its own, with a plain question and others.

The others have segments and levels: `WORDS_BY` is what a batch of load may be about.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Self

from deniable.authoring import resolve
from deniable.protocol import Field, Question, RapporParameters, Report, Strings, Survey
from deniable.protocol.compact import compact_bytes
from deniable.protocol.epochs import day_number
from deniable.protocol.segments import Segment

BITS = {"k": 64, "h": 2, "m": 1, "f": 0.5, "p": 0.5, "q": 0.75}
FIELD = Field("value", Strings(), resolve(RapporParameters, BITS, Strings(), False))
EXPIRES = date.today() + timedelta(days=400)
QUESTION = Question("words", 1, "?", "team", EXPIRES, 1, "once", "recorded", (FIELD,))
_PLATFORM = Segment("platform", ("linux", "mac"))
WORDS_BY = (
    QUESTION,
    replace(QUESTION, id="placed", segments=(_PLATFORM,)),
    replace(QUESTION, id="chosen", level="strict"),
    replace(QUESTION, id="chosen", level="usual"),
)
"""The plain question, one with segments, and the two levels of a third."""
SURVEY = Survey("load", "team", WORDS_BY, people=10**6)
JSON = {"content-type": "application/json"}
START_SECONDS, STOP_SECONDS = 120, 60


def batch(
    count: int, random_bytes: Any = os.urandom, asked: Question = QUESTION, place: int = 0
) -> bytes:
    """Return a batch of new reports, canonical, at little cost: all have the same record."""
    head = f'{{"digest":"{asked.digest.hex()}","epoch":{day_number()},"id":"'
    told = f',"segments":{asked.combinations[place]}' if asked.segments else ""
    tail = f'","question":"{asked.id}","record":"AACq7v-qu-6q7g"{told},"version":1}}'
    ids = random_bytes(16 * count).hex()
    reports = (head + ids[i : i + 32] + tail for i in range(0, 32 * count, 32))
    return f'{{"reports":[{",".join(reports)}]}}'.encode()


def packed_batch(
    count: int, random_bytes: Any = os.urandom, asked: Question = QUESTION, place: int = 0
) -> bytes:
    """Return such a batch in the compact form."""
    record = bytes.fromhex("0000aaeeffaabbeeaaee")
    common = (asked.id, 1, asked.digest, day_number())
    reports = [
        Report(*common, random_bytes(16), record, asked.combinations[place]) for _ in range(count)
    ]
    body = compact_bytes(reports, asked)
    if body is None:
        raise RuntimeError("Combinations of the question's own always have a number.")
    return body


class Serving:
    """`deniable serve` on a free port of 127.0.0.1; leaving the context ends it by its id.

    What it writes to standard error is in `folder / "errors"`.
    """

    def __init__(self, folder: Path, *options: str, environ: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.data = folder / "data"
        (folder / "survey.json").write_bytes(SURVEY.published())
        command = [sys.executable, "-m", "deniable", "serve", "--json", "--port", "0"]
        command += ["--survey", str(folder / "survey.json"), "--data", str(self.data), *options]
        with (folder / "errors").open("ab") as errors:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(environ or {})},
            )
        if self.process.stdout is None:
            raise RuntimeError("The collector has no output.")
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(STOP_SECONDS)
            raise RuntimeError((folder / "errors").read_text())
        self.port = int(json.loads(line)["address"].rpartition(":")[2])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ask the process to end, and wait for it."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=STOP_SECONDS)

    def resident(self) -> int:
        """Return the process's resident memory in bytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE")

    def said(self) -> str:
        """Return what it wrote to standard error."""
        return (self.folder / "errors").read_text(errors="replace")

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 30.0,
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers (lower case) and body of one request on a new connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            named = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, named, answer.read()
        finally:
            connection.close()

    def counters(self) -> dict[tuple[str, str], int]:
        """Return what the collector has counted."""
        status, _, body = self.ask("GET", "/v1/counters")
        if status != 200:
            raise RuntimeError(f"The counters answered {status}.")
        rows = json.loads(body)["counters"]
        return {(row["question"], row["reason"]): row["count"] for row in rows}


def seeded_bytes(seed: int) -> Any:
    """Return random bytes that can be repeated, for load only."""
    return random.Random(seed).randbytes  # noqa: S311

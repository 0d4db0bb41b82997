"""Collecting beside heavy pages: what four at once, over a million reports, take from it.

    python benchmarks/pages.py [--seconds 10] [--people 1000000]

A real `deniable serve --simulated`, and single reports over 64 connections. First as many as are
served; then half of that rate alone, and half of that rate while four readers ask for heavy pages
(two fields together, strings that nobody listed, strings of a list, a plain question), one after
the other without pause. Before each page a report is sent to its question, so that none is answered
from memory. Prints what was accepted per second, the ratio, and the 99th percentile of the time of
an answer. The sender, its readers, collector and pages share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from collector import fresh_body
from deniable.client.encode import encode
from deniable.client.randomness import SystemDraws
from deniable.protocol import Report, Survey
from deniable.protocol.epochs import day_number, epoch_of
from deniable.protocol.report import batch_bytes

JSON = {"content-type": "application/json"}
CONNECTIONS, STOP_SECONDS = 64, 30
AUTHORED = """
name = "pages"
owner = "team"
people = 1_000_000

[[questions]]
id = "plain"
description = "Arrives all the time."
expires = 2099-12-31
domain = {{ type = "categories", values = ["a", "b", "c"] }}
mechanism = "krr"
parameters = {{ epsilon = 1.0 }}

[[questions]]
id = "pair"
description = "Two fields together."
expires = 2099-12-31
[[questions.fields]]
name = "first"
domain = {{ type = "categories", values = [{values}] }}
mechanism = "rappor"
parameters = {{ epsilon = 2.0, epsilon_forever = 6.0 }}
[[questions.fields]]
name = "second"
domain = {{ type = "categories", values = [{values}] }}
mechanism = "rappor"
parameters = {{ epsilon = 2.0, epsilon_forever = 6.0 }}

[[questions]]
id = "found"
description = "Strings that nobody listed."
expires = 2099-12-31
domain = {{ type = "strings", alphabet = "abcdefghijklmnop", length = 6 }}
mechanism = "prefixes"
parameters = {{ epsilon = 2.0 }}

[[questions]]
id = "listed"
description = "Strings of a list."
expires = 2099-12-31
domain = {{ type = "strings", candidates = "listed.txt" }}
mechanism = "rappor"
parameters = {{ k = 128, h = 2, m = 32, f = 0.5, p = 0.5, q = 0.75 }}
"""
PAGES = {
    "pair": "/questions/pair/association.csv?a=first&b=second",
    "found": "/questions/found",
    "listed": "/questions/listed",
    "plain": "/questions/plain",
}


@dataclass(frozen=True)
class Taken:
    """Reports per second that were accepted, and the 99th percentile of an answer's time."""

    per_second: float
    p99: float
    pages: int = 0


def command(*words: str) -> None:
    """Run a command of ours."""
    subprocess.run([sys.executable, "-m", "deniable", *words], check=True, capture_output=True)


def prepare(folder: Path, people: int) -> Survey:
    """Write a survey and the reports of a crowd."""
    values = ", ".join(f'"v{i}"' for i in range(12))
    listed = ["".join(each) for each in itertools.product("abcdefghij", "klm", "nopq", "xyz")]
    found = ["".join(each) for each in itertools.product("abc", "def", "ghi", "jkl", "mn", "op")]
    (folder / "listed.txt").write_text("\n".join(listed) + "\n")
    (folder / "found.txt").write_text("\n".join(found) + "\n")
    (folder / "survey.toml").write_text(AUTHORED.format(values=values))
    os.chdir(folder)
    command("publish", "survey.toml")
    for name in ("pair", "found", "listed"):
        more = [] if name == "pair" else ["--candidates", f"{name}.txt"]
        command("simulate", name, "--people", str(people), "--data", "data", "--seed", "1", *more)
    return Survey.from_published((folder / "survey.json").read_bytes())


VALUES = {
    "pair": {"first": "v1", "second": "v2"},
    "found": "adgjmo",
    "listed": "aknx",
    "plain": "a",
}


class Load:
    """Senders at a rate, and perhaps readers of pages, against a collector."""

    def __init__(self, port: int, survey: Survey) -> None:
        self._port = port
        self._questions = {question.id: question for question in survey.questions}

    def batch(self, name: str, count: int) -> bytes:
        """Return new reports to a question, each encoded as a device does."""
        asked = self._questions[name]
        epoch = epoch_of(day_number(), asked.epoch)
        answer, fresh = VALUES[name], SystemDraws()
        records = (encode(asked, answer, os.urandom(32), fresh) for _ in range(count))
        return batch_bytes(
            Report(asked.id, 1, asked.digest, epoch, os.urandom(16), record) for record in records
        )

    def run(self, seconds: float, per_second: float | None, *, readers: bool = False) -> Taken:
        """Send for some seconds: as fast as answers come, or at a rate in reports per second."""
        pages: list[float] = []
        end = time.perf_counter() + seconds
        work = [partial(self._read, end, name, pages) for name in PAGES] if readers else []
        threads = [threading.Thread(target=each) for each in work]
        for each in threads:
            each.start()
        times: list[float] = []
        pause = 0.0 if per_second is None else CONNECTIONS / per_second

        async def send_all() -> None:
            await asyncio.gather(*(self._send(end, pause, times) for _ in range(CONNECTIONS)))

        uvloop.run(send_all())
        for each in threads:
            each.join()
        return Taken(len(times) / seconds, sorted(times)[int(len(times) * 0.99)] * 1e3, len(pages))

    async def _send(self, end: float, pause: float, times: list[float]) -> None:
        """Send one report after the other; what is late is sent at once, and not left out."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        template = self.batch("plain", 1)
        head = (
            b"POST /v1/reports HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n" % len(template)
        )
        due = time.perf_counter() + random.random() * pause  # noqa: S311 (spreads them out)
        while True:
            await asyncio.sleep(max(0.0, min(due, end) - time.perf_counter()))
            start = time.perf_counter()
            if start >= end:
                break
            due += pause
            writer.write(head + fresh_body(template))
            answer = await reader.readuntil(b'"problems":[]}')
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise SystemExit(f"The collector answered {answer[:40]!r}.")
            times.append(time.perf_counter() - start)
        writer.close()

    def _read(self, end: float, name: str, pages: list[float]) -> None:
        link = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        while (start := time.perf_counter()) < end:
            link.request("POST", "/v1/reports", self.batch(name, 1), JSON)
            link.getresponse().read()
            link.request("GET", PAGES[name])
            answer = link.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"{PAGES[name]} answered {answer.status}.")
            pages.append(time.perf_counter() - start)
        link.close()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement (10)")
    parser.add_argument("--people", type=int, default=10**6, help="of each heavy page (1,000,000)")
    parser.add_argument("--rounds", type=int, default=2, help="of alone and with pages (2)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        survey = prepare(Path(name), chosen.people)
        words = [sys.executable, "-m", "deniable", "serve", "--simulated", "--json", "--port", "0"]
        with subprocess.Popen([*words, "--data", "data"], stdout=subprocess.PIPE) as process:
            try:
                line = process.stdout.readline() if process.stdout else b""
                load = Load(int(json.loads(line)["address"].rpartition(":")[2]), survey)
                measure(load, chosen.seconds, chosen.rounds)
            finally:
                process.terminate()
                process.wait(STOP_SECONDS)
        os.chdir("/")


def measure(load: Load, seconds: float, rounds: int) -> None:
    """Print the rates alone and beside pages, in turn, and their ratios."""
    load.run(min(seconds, 5.0), 1_000, readers=True)  # the first pages load what they are made with
    most = load.run(seconds, None)
    print(f"as fast as it can          {most.per_second:9,.0f}/s   p99 {most.p99:7.1f} ms")
    for _ in range(rounds):
        alone = load.run(seconds, most.per_second / 2)
        beside = load.run(seconds, most.per_second / 2, readers=True)
        print(f"half of that, alone         {alone.per_second:9,.0f}/s   p99 {alone.p99:7.1f} ms")
        print(
            f"half of that, beside pages  {beside.per_second:9,.0f}/s   p99 {beside.p99:7.1f} ms   "
            f"ratio {beside.per_second / alone.per_second:.2f}, {beside.pages} pages"
        )


if __name__ == "__main__":
    main()

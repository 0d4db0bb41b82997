"""A malicious server on this machine, and a real client that refreshes its survey from it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path

from deniable.client import Client, Consent
from deniable.client.consent import invented_people
from deniable.errors import RecordRefused
from deniable.protocol import Report, Survey
from deniable.protocol.compact import MAGIC, NO_COMBINATION, read_compact
from deniable.protocol.epochs import days_of

SECONDS = 20.0


@dataclass
class Malicious:
    """A server that shows any survey it likes, accepts every report, and keeps all it gets.

    Attributes:
        survey: the bytes that it shows now.
        heads: request lines and headers, all but the name of the host and the length.
        batches: bodies of reports that it took.
        refusals: how many uploads it answers with 415, as if it knew no compact form.
    """

    url: str = ""
    survey: bytes = b""
    heads: list[tuple[str, ...]] = field(default_factory=list)
    batches: list[bytes] = field(default_factory=list)
    refusals: int = 0


@contextmanager
def malicious_server() -> Iterator[Malicious]:
    """Run the server in a thread."""
    kept = Malicious()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._keep()
            # A tag and a cookie too, in case somebody gives them back.
            self._answer(kept.survey, ETag='"4711"', Set_Cookie="who=4711")

        def do_POST(self) -> None:
            self._keep()
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if kept.refusals > 0:
                kept.refusals -= 1
                self._answer(b"{}", status=415)
                return
            kept.batches.append(body)
            receipt = {"accepted": len(_reports(body)), "duplicates": 0, "problems": []}
            self._answer(json.dumps(receipt).encode())

        def _keep(self) -> None:
            told = [f"{n}: {v}" for n, v in self.headers.items() if n not in _OF_ANY]
            kept.heads.append((self.requestline, *told))

        def _answer(self, body: bytes, status: int = 200, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        kept.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield kept
        finally:
            server.shutdown()
            thread.join(SECONDS)


def _reports(body: bytes) -> list[tuple[bytes, int, bool]]:
    """Return digest, epoch and whether there are segments, of each report in either form."""
    if body.startswith(MAGIC):
        packed = read_compact(body)
        return [(packed.digest, r.epoch, r.combination != NO_COMBINATION) for r in packed.rows()]
    read = (Report.from_json(item) for item in json.loads(body)["reports"])
    return [(report.digest, report.epoch, bool(report.segments)) for report in read]


_OF_ANY = ("Host", "Content-Length")
_SECRET = bytes(16)
"""The same for all lives, so that a ceiling leaves out the same questions in each."""


@dataclass
class Clock:
    """A clock that stands still until it is turned."""

    moment: datetime

    def __call__(self) -> datetime:
        """Return the time."""
        return self.moment


@dataclass(frozen=True)
class Told:
    """The reports that a device sent to a server, by question.

    Attributes:
        reports: how many.
        micros: the epsilon of their contracts, one report each, summed over all versions.
        last: the last day of the latest epoch.
        labelled: reports with segments.
        digests: of the contracts.
        heads: of the requests.
    """

    reports: Counter[str]
    micros: Counter[str]
    last: dict[str, int]
    labelled: Counter[str]
    digests: frozenset[bytes]
    heads: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Life:
    """How a device lives under attack: for each survey it refreshes, records, sends and waits."""

    own: Survey
    start: datetime
    days: int = 0
    ceiling: float = 1e6
    trust: bool | tuple[str, ...] = False
    refusals: int = 0


def live(folder: Path, life: Life, shown: Sequence[Survey]) -> Told:
    """Let a real client live before a server that shows these surveys in turn."""
    clock = Clock(life.start)
    with invented_people(), malicious_server() as server:
        server.refusals = life.refusals
        for survey in shown:
            server.survey = survey.published()
            Survey.from_published(server.survey)  # one that is refused would be no attempt
            # A new process each time: what comes back must not depend on the memory of one.
            with Client(
                life.own,
                folder,
                server.url,
                consent=Consent.GRANTED,
                ceiling=life.ceiling,
                segments={"platform": "linux"},
                account_secret=_SECRET,
                trust_surveys=life.trust,
                strict=True,
                clock=clock,
            ) as client:
                client.refresh()
                for question in life.own.asked:
                    try:
                        client.record(question.id, True)
                    except RecordRefused:
                        continue
                client.flush()
            clock.moment += timedelta(days=life.days)
    return _told(server, (life.own, *shown))


def _told(server: Malicious, surveys: Sequence[Survey]) -> Told:
    known = {question.digest: question for survey in surveys for question in survey.known}
    told = Told(Counter(), Counter(), {}, Counter(), frozenset(), tuple(server.heads))
    digests = set()
    for digest, epoch, labelled in chain.from_iterable(map(_reports, server.batches)):
        question = known[digest]
        digests.add(digest)
        told.reports[question.id] += 1
        told.micros[question.id] += question.epsilon_once
        day = days_of(epoch, question.epoch)[1]
        told.last[question.id] = max(day, told.last.get(question.id, 0))
        told.labelled[question.id] += labelled
    return Told(told.reports, told.micros, told.last, told.labelled, frozenset(digests), told.heads)

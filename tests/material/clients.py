"""What the client's tests share: surveys, a clock to turn, and a small real HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from deniable.authoring import resolve
from deniable.client import Client, Consent, Request, Response
from deniable.protocol import (
    Boolean,
    Categories,
    Domain,
    Field,
    Question,
    Report,
    Strings,
    Survey,
)
from deniable.protocol.compact import MAGIC, numbers_of, read_compact

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
COLOURS = Categories(("red", "green", "blue"))
PERMANENT = {"f": 0.5, "p": 0.0, "q": 1.0}
"""RAPPOR whose fresh stage does nothing: a report is the permanent response itself."""
BLOOM = {"k": 128, "h": 2, "m": 16, "f": 0.5, "p": 0.5, "q": 0.75}
ONE_TIME = {"epsilon": 1.0}


KNOWN: dict[bytes, Question] = {}
"""Every question that was made here: a compact batch names its question by the digest alone."""


def a_field(
    name: str = "value",
    domain: Domain | None = None,
    mechanism: str = "krr",
    parameters: dict[str, object] | None = None,
    absent: bool = False,
) -> Field:
    domain = domain or Boolean()
    wanted = ONE_TIME if parameters is None else parameters
    return Field(name, domain, resolve(mechanism, wanted, domain, absent))


def question(
    name: str = "q",
    domain: Domain | None = None,
    mechanism: str = "krr",
    parameters: dict[str, object] | None = None,
    *,
    fields: tuple[Field, ...] = (),
    version: int = 1,
    expires: date = date(2099, 12, 31),
    epoch: int = 1,
    repeat: str = "epoch",
    send: str = "recorded",
) -> Question:
    fields = fields or (a_field("value", domain, mechanism, parameters, absent=send == "always"),)
    made = Question(name, version, "Why?", "owner", expires, epoch, repeat, send, fields)
    KNOWN[made.digest] = made
    return made


def strings(name: str = "page", parameters: dict[str, object] = BLOOM, **more: object) -> Question:
    return question(name, Strings(), "rappor", parameters, **more)  # type: ignore[arg-type]


def survey(*questions: Question) -> Survey:
    return Survey("test", "owner", questions)


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, moment: datetime = START) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, days: float = 0, **more: float) -> None:
        self.moment += timedelta(days=days, **more)


def strict(asked: Survey, directory: Path, **more: object) -> Client:
    """A client that does everything in the caller's thread and raises."""
    settings: dict[str, object] = {"consent": Consent.GRANTED, "ceiling": 1e6, "clock": Clock()}
    return Client(asked, directory, strict=True, **{**settings, **more})  # type: ignore[arg-type]


def files(directory: Path) -> bytes:
    """Every byte of every file below a directory, and every file's name."""
    found = [path for path in directory.rglob("*") if path.is_file()]
    return b"\n".join(path.name.encode() + b"\n" + path.read_bytes() for path in found)


def acknowledge(reports: list[Report], problems: Any = None) -> bytes:
    refused = problems or []
    body = {"accepted": len(reports) - len(refused), "duplicates": 0, "problems": refused}
    return json.dumps(body).encode()


def reports_of(body: bytes) -> list[Report]:
    """Read a batch in either form."""
    if not body.startswith(MAGIC):
        return [Report.from_json(item) for item in json.loads(body)["reports"]]
    packed = read_compact(body)
    asked = KNOWN[packed.digest]
    texts = {number: text for text, number in numbers_of(asked)[1].items()}
    return [
        Report(
            asked.id,
            asked.version,
            packed.digest,
            row.epoch,
            row.id,
            row.record,
            texts[row.combination],
        )
        for row in packed.rows()
    ]


Answer = Callable[[list[Report]], Response]


def accept(reports: list[Report]) -> Response:
    return Response(200, {}, acknowledge(reports))


def status(code: int, **headers: str) -> Answer:
    return lambda _: Response(code, headers, b"{}")


@dataclass
class Script:
    """A transport that answers as told, then accepts; it keeps what it was sent."""

    answers: list[Answer] = field(default_factory=list)
    batches: list[list[Report]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        if request.body is None:
            return self.answers.pop(0)([])
        self.batches.append(reports_of(request.body))
        answer = self.answers.pop(0) if self.answers else accept
        return answer(self.batches[-1])

    @property
    def reports(self) -> list[Report]:
        return [report for batch in self.batches for report in batch]


@dataclass
class Served:
    """What a small real collector got, and how it answers: a status per request, then 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


@contextmanager
def collector(*statuses: int, **headers: str) -> Iterator[Served]:
    """Run a real HTTP server on this machine."""
    served = Served(statuses=list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            served.bodies.append(body)
            served.headers.append(dict(self.headers))
            served.paths.append(self.path)
            code = served.statuses.pop(0) if served.statuses else 200
            answer = acknowledge(reports_of(body)) if code == 200 else b"{}"
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

"""A collector with moods: kind, busy, deaf, old, asking for a key, calling reports too early.

It keeps what it was sent and acknowledged, and says afterwards what of it should not be.
"""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from deniable.protocol import Report
from deniable.protocol.compact import MAGIC
from faults.client_material import reports_of
from faults.outcome import Outcome

LINUX = '{"platform":"linux"}'
"""The segments of every client, where a question wants them."""
_MOODS = ("kind", "busy", "deaf", "silent", "key", "early", "old")
_WEIGHTS = (50, 15, 7, 8, 10, 10, 5)


class MoodyCollector:
    """A real HTTP server on this machine. Use it as a context.

    Moods: busy (503), deaf (hangs up before it reads), silent (keeps the reports and hangs up),
    key (401, as while a key is rotated), early (some reports are refused as too early), old (415 to
    the compact form). The mood changes with every request, until `mood` is set to one of them or
    to "kind".
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._lock = rng, threading.Lock()
        self.mood = ""
        self.seen: defaultdict[bytes, set[Report]] = defaultdict(set)
        self.acknowledged: set[bytes] = set()
        self.requests = self.again = self.mixed = 0
        moody = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                moody.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def endpoint(self) -> str:
        """The address for clients."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request as the mood of the moment is."""
        with self._lock:
            mood = self.mood or self._rng.choices(_MOODS, _WEIGHTS)[0]
            self.requests += 1
        handler.close_connection = True
        try:
            if mood != "deaf":
                body = handler.rfile.read(int(handler.headers["content-length"]))
                if mood == "old" and body.startswith(MAGIC):
                    _send(handler, 415, b"{}")
                else:
                    reports = reports_of(body)
                    self.mixed += len({report.digest for report in reports}) != 1
                    self._reply(handler, mood, reports)
        except (OSError, ValueError):
            pass  # the client was killed while it sent

    def _reply(self, handler: BaseHTTPRequestHandler, mood: str, reports: list[Report]) -> None:
        if mood == "busy":
            _send(handler, 503, b"{}")
        elif mood == "key":
            _send(handler, 401, b"<html>Please log in.</html>")
        else:
            with self._lock:
                early = {r.id for r in reports if mood == "early" and self._rng.random() < 0.5}
                kept = [report for report in reports if report.id not in early]
                for report in kept:
                    self.again += report.id in self.seen
                    self.seen[report.id].add(report)
            if mood != "silent":
                with self._lock:
                    self.acknowledged |= {report.id for report in kept}
                _send(handler, 200, _receipt(reports, early))

    def epochs(self) -> dict[tuple[str, int], set[bytes]]:
        """Return the ids under which each question and epoch arrived."""
        found: defaultdict[tuple[str, int], set[bytes]] = defaultdict(set)
        with self._lock:
            for identity, reports in self.seen.items():
                for report in reports:
                    found[report.question, report.epoch].add(identity)
        return dict(found)

    def judge(self, outcome: Outcome) -> None:
        """Count ids of two contents, epochs that were answered twice, permanent answers of two."""
        changed = sum(len(reports) > 1 for reports in self.seen.values())
        outcome.expect(not changed, f"{changed} ids with two different reports")
        for (question, epoch), identities in self.epochs().items():
            extra = len(identities) - 1
            outcome.double(extra, f"epoch {epoch} of {question!r} was answered again")
        permanent = {r.record for rs in self.seen.values() for r in rs if r.question == "same"}
        outcome.expect(len(permanent) <= 1, f"{len(permanent)} different permanent answers")
        outcome.expect(not self.mixed, f"{self.mixed} requests with several questions")
        told = {r.segments for rs in self.seen.values() for r in rs if r.question == "by_platform"}
        outcome.expect(told <= {LINUX}, f"segments {sorted(told - {LINUX})}")
        once = sum(r.question == "first" for reports in self.seen.values() for r in reports)
        outcome.expect(once <= 1, f"a question that is asked once was answered {once} times")


def _receipt(reports: list[Report], early: set[bytes]) -> bytes:
    problems: list[dict[str, Any]] = [
        {
            "type": "urn:deniable:problem:too_early",
            "title": "The epoch has not begun.",
            "status": 422,
            "detail": "The epoch has not begun.",
            "reason": "too_early",
            "index": place,
        }
        for place, report in enumerate(reports)
        if report.id in early
    ]
    body = {"accepted": len(reports) - len(problems), "duplicates": 0, "problems": problems}
    return json.dumps(body).encode()


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes) -> None:
    kind = "application/json" if status == 200 else "text/html"
    handler.send_response(status)
    handler.send_header("content-type", kind)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)

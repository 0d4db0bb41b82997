"""Mutated requests over all routes, sent and judged; shared by the benchmark and a test."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from dataclasses import dataclass, field

from _collector_process import WORDS_BY, Serving, batch, packed_batch, seeded_bytes
from _flood import answer
from deniable.protocol import Question
from deniable.protocol.compact import MEDIA_TYPE as COMPACT
from deniable.store import STORE_FILE, SqliteStore

CONNECTIONS = 16
ANSWER_SECONDS = 60.0
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "BREW")
PATHS = (
    "/v1/reports", "/v1/survey", "/v1/counters", "/healthz", "/readyz", "/openapi.json", "/",
    "/health", "/questions/words", "/questions/words/chart.svg", "/questions/words/record.svg",
    "/questions/words/tree.svg", "/questions/words/result.json", "/questions/words/result.csv",
    "/questions/words/heat-map.svg", "/questions/words/association.json", "/assets/dashboard.css",
    "/questions/none", "/v1/", "/v1/reports/", "//", "/%00", "/..%2f..%2fetc/passwd", "/%ff", "/*",
)  # fmt: skip
NAMES = ("epoch", "version", "n", "field", "theme", "size", "kind", "a", "b", "format", "%00", "")
VALUES = (
    "", "0", "1", "-1", "9999999999", "2147483647", "99999999999999999999", "1.5", "1e9", "%00",
    "value", "light", "wide", "words", "%F0%9F%8D%8A", "%D9%A1", "' OR 1=1 --", "{{7*7}}",
    "a" * 300,
)  # fmt: skip
HEADERS = (
    "content-type: text/plain", "content-type: text/plain;charset=UTF-8", "content-encoding: gzip",
    "expect: 100-continue", "host: evil",
    "authorization: Bearer x", "authorization: Basic !!!", "if-none-match: *", "accept: text/html",
    "x-forwarded-for: 10.0.0.1", "origin: https://evil.example", "upgrade: websocket", "x: \xff",
    "connection: upgrade", "content-length: -1", "content-length: 5", "transfer-encoding: gzip",
    "transfer-encoding: chunked", "cookie: " + "c" * 3_000, "range: bytes=0-1", "te: trailers",
    ": x",
)  # fmt: skip
JSON_TYPES = ("application/json",) * 3 + ("text/plain;charset=UTF-8",)
SEGMENTS = (
    b"null", b"{}", b"[]", b'""', b'{"platform":"amiga"}', b'{"platform":"(small)"}',
    b'{"platform":"linux","platform":"mac"}', b'{"platform":1}', b'{"Platform":"linux"}',
    b'{"platform":"linux","channel":"beta"}', b'{"platform":"' + b"l" * 300 + b'"}', b'{"":""}',
)  # fmt: skip
SEGMENTS_MEMBER = re.compile(rb'"segments":\{[^}]*\}')
EXPECTED = frozenset({200, 204, 304, 400, 401, 403, 404, 405, 408, 413, 415, 421, 503})


@dataclass
class Outcome:
    """The outcome of a run of hostile requests; `wrong` should be empty."""

    sent: int = 0
    accepted: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    unanswered: int = 0
    hung: int = 0
    wrong: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)


class Mutator:
    """Makes requests that are wrong in some way; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311
        self._bytes = seeded_bytes(seed + 1)

    def next(self) -> bytes:
        """Return the bytes of one request."""
        draw = self._draw
        if draw.random() < 0.55:
            method, path = "POST", "/v1/reports"
        else:
            method, path = draw.choice(METHODS), draw.choice(PATHS)
        if draw.random() < 0.3:
            pairs = [
                f"{draw.choice(NAMES)}={draw.choice(VALUES)}" for _ in range(draw.randint(1, 4))
            ]
            path += "?" + "&".join(pairs).replace(" ", "+")
        lines = ["host: localhost"] if draw.random() < 0.97 else []
        packed = draw.random() < 0.4
        if method == "POST" and draw.random() < 0.95:
            honest = draw.random() < 0.95
            json_type = draw.choice(JSON_TYPES)
            lines.append(f"content-type: {COMPACT if packed is honest else json_type}")
        lines += draw.sample(HEADERS, draw.choice((0, 0, 0, 0, 0, 1, 2)))
        body = b""
        if method in ("POST", "PUT", "PATCH") or draw.random() < 0.1:
            body = self._packed() if packed else self._body()
        framing, sent = self._framed(body)
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, *framing, "", ""])
        message = head.encode("latin-1") + sent
        return self._spoilt(message) if draw.random() < 0.1 else message

    def _body(self) -> bytes:
        draw = self._draw
        asked, place = self._asked()
        body = batch(draw.choice((1, 1, 2, 5, 20)), self._bytes, asked, place)
        kind = draw.randrange(11)
        if kind < 3:
            return body
        if kind == 3:
            return self._spoilt(body)
        if kind == 4:
            return body.replace(b'"version":1', b'"version":1,"version":1', 1)
        if kind == 5:
            return body[:-1] + b',"reports":[]}'
        if kind == 6:
            return draw.choice(
                (b"", b"{}", b"[]", b"null", b"[" * 5_000, b"\xff\xfe", b"0" * 3_000)
            )
        if kind == 7:
            return self._resegmented(body)
        wrong = draw.choice(("null", "[]", '"x"', "-1", "1e400", "9" * 40, '"\\ud800"', "true"))
        name = draw.choice((b'"epoch":', b'"version":', b'"id":', b'"record":', b'"digest":'))
        before, _, after = body.partition(name)
        rest = after[min(x for x in (after.find(b","), after.find(b"}")) if x >= 0) :]
        return before + name + wrong.encode() + rest

    def _asked(self) -> tuple[Question, int]:
        """Return a question or a level, and the place of a combination of its segments."""
        asked = self._draw.choice(WORDS_BY)
        return asked, self._draw.randrange(len(asked.combinations))

    def _resegmented(self, body: bytes) -> bytes:
        """Return a batch with other segments, or with segments where none belong."""
        wrong = self._draw.choice(SEGMENTS)
        if b'"segments":' in body:
            return SEGMENTS_MEMBER.sub(b'"segments":' + wrong, body, count=1)
        return body.replace(b'"version"', b'"segments":' + wrong + b',"version"', 1)

    def _packed(self) -> bytes:
        """Return a compact batch, whole or with wrong numbers, places or ends."""
        draw = self._draw
        asked, place = self._asked()
        body = packed_batch(draw.choice((1, 1, 2, 5, 20)), self._bytes, asked, place)
        kind = draw.randrange(8)
        if kind < 3:
            return body
        if kind == 3:
            return self._spoilt(body)
        if kind == 4:
            return body[: draw.randrange(len(body))]
        if kind == 5:
            return body + self._bytes(draw.randint(1, 40))
        changed = bytearray(body)
        if kind == 6:  # the number of groups, an epoch, a combination, the number of reports
            place = draw.randint(40, 48)
            changed[place] = draw.choice((0, 1, 127, 128, 255))
            return bytes(changed)
        changed[draw.choice((0, 3, 4, 36))] ^= 1  # the form, its version, the digest, the numbering
        return bytes(changed)

    def _framed(self, body: bytes) -> tuple[list[str], bytes]:
        draw = self._draw
        if not body and draw.random() < 0.8:
            return [], b""
        kind = draw.random()
        if kind < 0.7:
            return [f"content-length: {len(body)}"], body
        size = draw.randint(1, 400)
        chunks = [body[i : i + size] for i in range(0, len(body), size)]
        sent = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n"
        tail = b"" if kind < 0.9 else draw.choice((b"x: y\r\n", b"authorization: Bearer x\r\n"))
        return ["transfer-encoding: chunked"], sent + tail + b"\r\n"

    def _spoilt(self, data: bytes) -> bytes:
        changed = bytearray(data or b"x")
        for _ in range(self._draw.randint(1, 3)):
            place = self._draw.randrange(len(changed))
            changed[place : place + self._draw.randint(0, 2)] = self._bytes(
                self._draw.randint(0, 2)
            )
        return bytes(changed)


async def _ask(port: int, message: bytes, outcome: Outcome) -> None:
    """Send one request on a connection of its own, and judge the answer."""
    writer = None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
            writer.write(message)
            status, body = 100, b""
            while status == 100:
                status, body = await _answer(reader, head=message.startswith(b"HEAD "))
        outcome.statuses[status] += 1
        if status not in EXPECTED or (status == 503 and b'"busy"' not in body and body):
            outcome.wrong.append(f"{status} to {message[:200]!r}")
        if status == 200 and body.startswith(b'{"accepted":'):
            outcome.accepted += json.loads(body)["accepted"]
    except TimeoutError:
        outcome.hung += 1
    except (OSError, asyncio.IncompleteReadError):
        outcome.unanswered += 1
    finally:
        if writer is not None:
            writer.close()


async def _answer(reader: asyncio.StreamReader, *, head: bool) -> tuple[int, bytes]:
    if head:
        line = await reader.readuntil(b"\r\n\r\n")
        return int(line[9:12]), b""
    status, _, body = await answer(reader)
    return status, body


async def attack(serving: Serving, requests: int, seed: int) -> Outcome:
    """Send a number of mutated requests over some connections at a time, watching the memory."""
    outcome = Outcome()
    mutator = Mutator(seed)
    step = max(1, requests // 20)

    async def work() -> None:
        while outcome.sent < requests:
            if outcome.sent % step == 0:
                outcome.memory.append(serving.resident())
            outcome.sent += 1
            # A request whose end does not come is cut off by an end of the line of its own.
            await _ask(serving.port, mutator.next() + b"\r\n\r\n", outcome)

    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    outcome.memory.append(serving.resident())
    return outcome


def misplaced(serving: Serving) -> list[str]:
    """Return the batches of the store that no report could belong to."""
    allowed = {(asked.id, asked.digest, text) for asked in WORDS_BY for text in asked.combinations}
    with SqliteStore(serving.data / STORE_FILE, create=False) as store:
        found = [tally.batch for tally in store.tallies()]
    return [
        f"A batch of {batch.question!r} has the segments {batch.segments!r}."
        for batch in found
        if (batch.question, batch.digest, batch.segments) not in allowed
    ]


def judge(serving: Serving, outcome: Outcome) -> list[str]:
    """Return everything that is wrong after an attack."""
    wrong = [*outcome.wrong, *misplaced(serving)]
    stored = sum(n for (_, reason), n in serving.counters().items() if reason == "accepted")
    if stored < outcome.accepted:
        wrong.append(f"{outcome.accepted:,} were acknowledged, {stored:,} are counted.")
    if outcome.hung:
        wrong.append(f"{outcome.hung:,} requests had no answer after {ANSWER_SECONDS:g} seconds.")
    if "Traceback" in serving.said():
        wrong.append("There is a traceback on standard error.")
    early = outcome.memory[len(outcome.memory) // 4]
    if outcome.memory[-1] > early + 64 * 2**20:
        wrong.append(f"Memory grew from {early:,} to {outcome.memory[-1]:,} bytes.")
    return wrong

"""A probe: senders who can be known again, and a search for them in all that a collector keeps."""

from __future__ import annotations

import contextlib
import http.client
import io
import ipaddress
import logging
import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from deniable.audit.findings import Finding
from deniable.audit.recording import SECONDS, running_collector
from deniable.protocol import (
    Boolean,
    Field,
    KRRParameters,
    Question,
    Report,
    Survey,
    batch_bytes,
)
from deniable.protocol.epochs import day_number

_FIELD = Field("value", Boolean(), KRRParameters.resolve({"epsilon": 1.0}, Boolean(), False))
_QUESTION = Question("probe", 1, "?", "audit", date(2099, 12, 31), 1, "once", "recorded", (_FIELD,))
SENDERS = 10


@dataclass(frozen=True)
class Sender:
    """Somebody who can be known again.

    Attributes:
        address: where the connection comes from.
        forwarded: the address in headers of proxies.
        agent, cookie: random words.
    """

    address: str
    forwarded: str
    agent: str
    cookie: str

    @classmethod
    def random(cls) -> Sender:
        """Return a sender of random marks, on a loopback address of its own."""
        a, b, c = (1 + secrets.randbelow(250) for _ in range(3))
        return cls(
            f"127.{a}.{b}.{c}",
            f"203.0.113.{a}",
            f"agent-{secrets.token_hex(8)}",
            f"cookie-{secrets.token_hex(8)}",
        )

    def marks(self) -> dict[str, bytes]:
        """Return what would give the sender away, by name."""
        return {
            "the address": self.address.encode(),
            "the address, packed": ipaddress.IPv4Address(self.address).packed,
            "the forwarded address": self.forwarded.encode(),
            "the user agent": self.agent.encode(),
            "the cookie": self.cookie.encode(),
        }


def probe_finding(directory: Path) -> Finding:
    """Send reports as known senders to a real collector, and look for them in all it has left.

    What is looked at: every file of its directory, and everything that it logged or printed.
    """
    senders = [Sender.random() for _ in range(SENDERS)]
    start = int(time.time())
    log = io.StringIO()
    survey = Survey("probe", "audit", (_QUESTION,))
    with _captured(log), running_collector(survey, directory) as (address, _):
        statuses = {_send(address, sender) for sender in senders}
        content = _content(directory)  # the log of the database too, which closing truncates
    content += _content(directory)
    problems = list(_traces(senders, content, "a file"))
    problems += _traces(senders, log.getvalue().encode(), "the log")
    problems += _arrivals(content, start, int(time.time()))
    if statuses != {200}:
        problems.append(f"the collector refused a probe ({sorted(statuses)})")
    good = (
        f"{SENDERS} senders with an address, a user agent, a cookie and a time; none is in "
        f"{len(content):,} bytes of files and {len(log.getvalue()):,} characters of log"
    )
    words = "; ".join(dict.fromkeys(problems)) or good
    return Finding("a probed collector", "nothing about the sender", not problems, words)


def _content(directory: Path) -> bytes:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return b"\n".join(path.read_bytes() for path in files)


def _traces(senders: list[Sender], content: bytes, where: str) -> Iterator[str]:
    for sender in senders:
        for name, mark in sender.marks().items():
            if mark in content or mark.hex().encode() in content:
                yield f"{name} of a sender is in {where}"


def _arrivals(content: bytes, start: int, end: int) -> Iterator[str]:
    """Look for the seconds of arrival, as SQLite, this machine or text would write them."""
    for second in range(start, end + 1):
        forms = (second.to_bytes(4, "big"), second.to_bytes(4, "little"), str(second).encode())
        if any(form in content for form in forms):
            yield "the time of arrival is in a file"


def _send(address: str, sender: Sender) -> int:
    report = Report(
        _QUESTION.id,
        1,
        _QUESTION.digest,
        day_number(),
        os.urandom(16),
        (1).to_bytes(4, "little"),
    )
    connection = _connect(address, sender)
    try:
        connection.request(
            "POST",
            "/v1/reports",
            batch_bytes([report]),
            {
                "Content-Type": "application/json",
                "User-Agent": sender.agent,
                "Cookie": sender.cookie,
                "X-Forwarded-For": sender.forwarded,
                "X-Real-Ip": sender.forwarded,
                "Referer": f"http://{sender.cookie}.example/",
            },
        )
        return connection.getresponse().status
    finally:
        connection.close()


def _connect(address: str, sender: Sender) -> http.client.HTTPConnection:
    host, _, port = address.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(
        host, int(port), timeout=SECONDS, source_address=(sender.address, 0)
    )
    try:
        connection.connect()
    except OSError:  # not every system lets a program choose a loopback address
        connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
    return connection


@contextlib.contextmanager
def _captured(log: io.StringIO) -> Iterator[None]:
    """Write everything that is logged or printed into `log` as well."""
    handler = logging.StreamHandler(log)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with contextlib.redirect_stderr(log), contextlib.redirect_stdout(log):
            yield
    finally:
        root.removeHandler(handler)

"""A probe: recognisable senders, and a search for them in everything that a collector keeps."""

from __future__ import annotations

import contextlib
import http.client
import io
import ipaddress
import logging
import os
import secrets
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from deniable.audit.findings import Finding
from deniable.audit.wire.recording_proxy import SECONDS, running_collector
from deniable.authoring import resolve
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

_FIELD = Field("value", Boolean(), resolve(KRRParameters, {"epsilon": 1.0}, Boolean(), False))
_QUESTION = Question("probe", 1, "?", "audit", date(2099, 12, 31), 1, "once", "recorded", (_FIELD,))
SENDERS = 10
SEVERAL = 5
"""The fewest marks of four bytes that count as a trace: chance makes 5 less than once in 10^12."""


@dataclass(frozen=True)
class Sender:
    """A recognisable sender.

    Attributes:
        address: the source of the connection.
        forwarded, forwarded_6: the addresses in headers of proxies.
        agent, cookie, header, query: random words; the last two name a header, and stand in the
            query string.
    """

    address: str
    forwarded: str
    forwarded_6: str
    agent: str
    cookie: str
    header: str
    query: str

    @classmethod
    def random(cls) -> Sender:
        """Return a sender of random marks, on a loopback address of its own."""
        a, b, c = (1 + secrets.randbelow(250) for _ in range(3))
        words = (
            f"{name}-{secrets.token_hex(8)}" for name in ("agent", "cookie", "x-mark", "query")
        )
        low = secrets.randbits(48)
        return cls(
            f"127.{a}.{b}.{c}",
            f"203.0.113.{a}",
            str(ipaddress.IPv6Address((0x20010DB8 << 96) + low)),
            *words,
        )

    def marks(self) -> dict[str, tuple[bytes, ...]]:
        """Return the marks that identify the sender, by name, each in the forms it may be kept in.

        None of them comes about by chance: every form has 48 random bits or more, or is text.
        """
        long = ipaddress.IPv6Address(self.forwarded_6)
        return {
            "the address": (self.address.encode(), _mapped(self.address)),
            "the forwarded address": (self.forwarded.encode(), _mapped(self.forwarded)),
            "the forwarded IPv6 address": (
                self.forwarded_6.encode(),
                long.exploded.encode(),
                long.packed,
            ),
            "the user agent": (self.agent.encode(),),
            "the cookie": (self.cookie.encode(),),
            "the name of a header": (self.header.encode(),),
            "the query string": (self.query.encode(),),
        }


def _mapped(address: str) -> bytes:
    """Return an IPv4 address as IPv6 sockets know it, in 16 bytes."""
    return bytes(10) + b"\xff\xff" + ipaddress.IPv4Address(address).packed


def probe_finding(directory: Path) -> Finding:
    """Send reports to a real collector as recognisable senders, and search for their traces.

    The search covers every file of its directory, and everything that it logged or printed.
    """
    senders = [Sender.random() for _ in range(SENDERS)]
    start = int(time.time())
    log = io.StringIO()
    survey = Survey("probe", "audit", (_QUESTION,))
    with _captured(log), running_collector(survey, directory) as (address, _):
        statuses = {_send(address, sender, path) for sender in senders for path in _paths(sender)}
        content = _content(directory)  # the log of the database too, which closing truncates
    content += _content(directory)
    problems = list(_traces(senders, content, "a file"))
    problems += _traces(senders, log.getvalue().encode(), "the log")
    problems += _arrivals(content, start, int(time.time()))
    if statuses != {200}:
        problems.append(f"the collector refused a probe ({sorted(statuses)})")
    good = (
        f"{SENDERS} senders with addresses, a user agent, a cookie, a header, a query and a time; "
        f"none is in {len(content):,} bytes of files and {len(log.getvalue()):,} characters of log"
    )
    words = "; ".join(dict.fromkeys(problems)) or good
    return Finding("a probed collector", "nothing about the sender", not problems, words)


def _content(directory: Path) -> bytes:
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return b"\n".join(path.read_bytes() for path in files)


def _traces(senders: list[Sender], content: bytes, where: str) -> Iterator[str]:
    for sender in senders:
        for name, forms in sender.marks().items():
            if any(_kept(form, content) for form in forms):
                yield f"{name} of a sender is in {where}"
    # Four bytes turn up by chance, but not those of SEVERAL senders.
    packed = [ipaddress.IPv4Address(sender.address).packed for sender in senders]
    if sum(_kept(form, content) for form in packed) >= SEVERAL:
        yield f"the address, packed, of a sender is in {where}"


def _kept(form: bytes, content: bytes) -> bool:
    """Tell whether the content has a mark: as it is, in hexadecimal, or in another case."""
    lower = form.lower() if form.isascii() else form
    return form in content or form.hex().encode() in content or lower in content.lower()


def _arrivals(content: bytes, start: int, end: int) -> Iterator[str]:
    """Search for the seconds of arrival, as SQLite, this machine or text would write them.

    One match in text is enough; numbers of four bytes turn up by chance, but not SEVERAL times.
    """
    seconds = range(start, end + 1)
    if any(str(second).encode() in content for second in seconds):
        yield "the time of arrival is in a file"
        return
    forms = {
        form
        for second in seconds
        for form in (
            second.to_bytes(4, "big"),
            second.to_bytes(4, "little"),
            struct.pack(">d", second)[:5],
            struct.pack("<d", second)[-5:],
        )
    }
    if sum(content.count(form) for form in forms) >= SEVERAL:
        yield "the time of arrival is in a file"


def _paths(sender: Sender) -> tuple[str, str]:
    """Return the ways in: a plain request, which the server itself answers, and any other one."""
    return "/v1/reports", f"/v1/reports?{sender.query}=1"


def _send(address: str, sender: Sender, path: str) -> int:
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
            path,
            batch_bytes([report]),
            {
                "Content-Type": "application/json",
                "User-Agent": sender.agent,
                "Cookie": sender.cookie,
                "X-Forwarded-For": f"{sender.forwarded}, {sender.forwarded_6}",
                "X-Real-Ip": sender.forwarded,
                sender.header: "1",
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

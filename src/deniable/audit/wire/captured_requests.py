"""Requests as they came over a socket, and the reports in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from deniable.errors import InvalidReport
from deniable.protocol import Report, Survey


@dataclass(frozen=True)
class Exchange:
    """One request as it came over the socket.

    Attributes:
        head: the request line and the headers.
        body: the bytes after the head.
        sender: the device that was sending at that time, as the audit knows it.
        fate: "answered"; "dropped" before the collector saw it; "lost" after it had.
    """

    head: bytes
    body: bytes
    sender: str
    fate: str

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers, names in lower case."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines if line)
        return [(name.strip().lower(), value.strip()) for name, _, value in pairs]


@dataclass(frozen=True)
class Captured:
    """The evidence of an audit of the wire.

    Attributes:
        survey: as the clients had it.
        exchanges: every request, in the order of arrival.
        times: of the clients' clock while they were sending, and of the real one.
        accepted, duplicates: the collector's counts.
    """

    survey: Survey
    exchanges: Sequence[Exchange]
    times: tuple[datetime, ...]
    accepted: int
    duplicates: int


def bodies(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, object]]:
    """Yield every request with its body as JSON; None where it is none."""
    for exchange in exchanges:
        try:
            yield exchange, json.loads(exchange.body)
        except ValueError:
            yield exchange, None


def sent_reports(exchanges: Sequence[Exchange]) -> list[tuple[str, Report]]:
    """Return every report that was sent, retries included, with its sender.

    Items that are no reports are left out; a finding of its own looks at them.
    """
    found = []
    for exchange, body in bodies(exchanges):
        items = body.get("reports", []) if isinstance(body, dict) else []
        for item in items:
            try:
                found.append((exchange.sender, Report.from_json(item)))
            except InvalidReport:
                continue
    return found

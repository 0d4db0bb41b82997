"""Requests as they came over a socket, and the reports in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from deniable.errors import InvalidReport
from deniable.protocol import Report, Survey
from deniable.protocol.compact import numbers_of, read_compact


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


def batch_of(exchange: Exchange, survey: Survey) -> list[Report] | None:
    """Return the reports of a request; None if its body is anything but a compact batch of some.

    The digest names the question: one that the survey has not is called "".
    """
    try:
        packed = read_compact(exchange.body)
    except InvalidReport:
        return None
    asked = next((q for q in survey.known if q.digest == packed.digest), None)
    name = ("", 0) if asked is None else (asked.id, asked.version)
    numbering, numbers = numbers_of(asked)
    if packed.numbering != numbering:
        return None
    texts = {number: text for text, number in numbers.items()}
    return [
        Report(*name, packed.digest, row.epoch, row.id, row.record, texts.get(row.combination, "?"))
        for row in packed.rows()
    ]


def sent_reports(captured: Captured) -> list[tuple[Exchange, Report]]:
    """Return every report that was sent, retries included, with its request.

    Bodies that are no batches are left out; a finding of its own looks at them.
    """
    return [
        (exchange, report)
        for exchange in captured.exchanges
        for report in batch_of(exchange, captured.survey) or ()
    ]

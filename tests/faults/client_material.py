"""What clients are asked in these tests, and what their folder says of itself."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from deniable.authoring import resolve
from deniable.client import Client, Limits, Transport
from deniable.protocol import (
    Boolean,
    Domain,
    Field,
    Question,
    Report,
    Strings,
    Survey,
)
from deniable.protocol.compact import MAGIC, NO_COMBINATION, read_compact
from deniable.protocol.segments import Segment

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
VALUES: dict[str, object] = {
    "same": "mail",
    "fresh": True,
    "weekly": False,
    "first": True,
    "by_platform": True,
    "by_level": False,
}
"""What is recorded, the same on every day; "always" is also sent when nothing is recorded."""

LIMITS = Limits(retry_base_seconds=0.01, retry_cap_seconds=0.05, busy_seconds=60.0)
"""Tries again soon; waits long for other processes, since the machine may be busy."""


def _question(
    name: str,
    domain: Domain,
    mechanism: str,
    parameters: dict[str, object],
    epoch: int = 1,
    repeat: str = "epoch",
    send: str = "recorded",
    **more: Any,
) -> Question:
    field = Field("value", domain, resolve(mechanism, parameters, domain, send == "always"))
    until = date(2099, 12, 31)
    return Question(name, 1, "?", "team", until, epoch, repeat, send, (field,), **more)


_BLOOM: dict[str, object] = {"k": 64, "h": 2, "m": 4, "f": 0.5, "p": 0.5, "q": 0.75}
_PLAIN: dict[str, object] = {"epsilon": 1.0}
_STRICT: dict[str, object] = {"epsilon": 0.5}
PLATFORM = Segment("platform", ("linux", "mac"))
LEVELS = ("strict", "usual")
SURVEY = Survey(
    "faults",
    "team",
    (
        _question("same", Strings(), "rappor", _BLOOM, repeat="permanent"),
        _question("fresh", Boolean(), "krr", _PLAIN),
        _question("weekly", Boolean(), "krr", _PLAIN, epoch=7),
        _question("first", Boolean(), "krr", _PLAIN, repeat="once"),
        _question("always", Boolean(), "krr", _PLAIN, send="always"),
        _question("by_platform", Boolean(), "krr", _PLAIN, segments=(PLATFORM,)),
        _question("by_level", Boolean(), "krr", _STRICT, level=LEVELS[0]),
        _question("by_level", Boolean(), "krr", _PLAIN, level=LEVELS[1]),
    ),
    people=10**6,
)


_BY_DIGEST = {question.digest: question for question in SURVEY.questions}


def reports_of(body: bytes) -> list[Report]:
    """Read a batch in either form."""
    if not body.startswith(MAGIC):
        return [Report.from_json(item) for item in json.loads(body)["reports"]]
    packed = read_compact(body)
    asked = _BY_DIGEST[packed.digest]
    texts = asked.combinations if asked.segments else ("",) * (NO_COMBINATION + 1)
    common = (asked.id, asked.version, packed.digest)
    return [
        Report(*common, row.epoch, row.id, row.record, texts[row.combination])
        for row in packed.rows()
    ]


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        """Return the time."""
        return self.moment


def a_client(
    folder: Path,
    clock: Clock,
    *,
    endpoint: str | None = None,
    transport: Transport | None = None,
    strict: bool = True,
) -> Client:
    """Return a client whose ceiling stops nothing."""
    return Client(
        SURVEY,
        folder,
        endpoint,
        transport=transport,
        strict=strict,
        clock=clock,
        ceiling=1e6,
        limits=LIMITS,
        segments={"platform": "linux"},
    )


def has_book(folder: Path) -> bool:
    """Tell whether a client has got as far as making its tables."""
    if not (folder / "client.sqlite3").exists():
        return False
    with closing(sqlite3.connect(folder / "client.sqlite3")) as connection:
        found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'used'")
        return bool(found.fetchone()[0])


class Book:
    """What a client's database says: read directly, without the client."""

    def __init__(self, folder: Path) -> None:
        with closing(sqlite3.connect(folder / "client.sqlite3")) as connection:
            self.damage = connection.execute("PRAGMA integrity_check").fetchone()[0]
            rows = connection.execute("SELECT question, epoch FROM used").fetchall()
            self.used = {(question, epoch) for question, epoch in rows}
            rows = connection.execute("SELECT question, reports, micros FROM ledger").fetchall()
            self.reports = {question: reports for question, reports, _ in rows}
            self.micros = sum(micros for _, _, micros in rows)
            rows = connection.execute("SELECT question, epoch, id, record FROM outbox").fetchall()
            self.waiting = {(q, epoch): (bytes(i), bytes(r)) for q, epoch, i, r in rows}
            rows = connection.execute("SELECT question, count FROM counters WHERE reason = 'stale'")
            self.stale: Counter[str] = Counter(dict(rows.fetchall()))
            (charged,) = connection.execute("SELECT sum(micros) FROM charges").fetchone()
            self.charged = charged or 0

    def problem(self) -> str:
        """Return in what the ledger, the used epochs and the outbox disagree; "" if in nothing."""
        used = Counter(question for question, _ in self.used)
        if dict(used) != self.reports:
            return f"used epochs {dict(used)}, ledger {self.reports}"
        if self.charged != self.micros:
            return f"charges of {self.charged}, ledger of {self.micros} micros"
        if not self.waiting.keys() <= self.used:
            return f"{sorted(self.waiting.keys() - self.used)} wait, and are not used"
        return ""

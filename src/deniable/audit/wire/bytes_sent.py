"""The bytes that a real client sends to a real collector, captured between them.

    six devices, three epochs -> client -> recording proxy -> collector

The first upload is dropped, the second is lost after the collector has taken it. So reports are
sent again, and a retry must have the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from deniable.audit.findings import Audit
from deniable.audit.wire import checks
from deniable.audit.wire.captured_requests import Captured
from deniable.audit.wire.made_up_values import two_answers
from deniable.audit.wire.recording_proxy import Tape, recording_proxy, running_collector
from deniable.client import Client, Consent
from deniable.client.consent import invented_people
from deniable.errors import RecordRefused
from deniable.protocol import Survey
from deniable.protocol.epochs import day_number
from deniable.protocol.levels import level_names
from deniable.store.base import ACCEPTED, DUPLICATE

DEVICES = ("first", "second", "third", "fourth", "fifth", "sixth")


def audit_wire(survey: Survey) -> Audit:
    """Let real clients answer every question of a survey, and check every byte that they send.

    Guarantees: nothing leaves this machine, and no directory of the caller is written.

    Cost: some seconds; databases of six clients and of a collector, all temporary.
    """
    with TemporaryDirectory(prefix="deniable-audit-") as folder:
        captured = capture(survey, Path(folder))
    return Audit("wire", tuple(checks.findings(captured)), NOTES)


def capture(survey: Survey, folder: Path) -> Captured:
    """Return the requests of six devices over three epochs."""
    longest = max(question.epoch for question in survey.questions)
    start = datetime.now(UTC)
    last = (start + timedelta(days=3 * longest)).date()
    asked = replace(
        survey,
        questions=tuple(replace(q, expires=max(q.expires, last)) for q in survey.questions),
    )
    clock = _Clock(start)
    tape = Tape()
    with (
        invented_people(),
        running_collector(asked, folder / "collector", lambda: day_number(clock())) as (url, store),
        recording_proxy(url, tape) as address,
    ):
        clients = {name: _client(asked, folder / name, address, clock) for name in DEVICES}
        levels = level_names(asked.questions)
        for place, client in enumerate(clients.values() if levels else ()):
            client.choose(levels[place % len(levels)])
        for epoch in range(3):
            for place, (name, client) in enumerate(clients.items()):
                tape.sender, tape.fates = name, ["dropped", "lost"] if epoch == 0 else []
                _answer(client, place, record=epoch < 2)
            clock.forward(longest)
        for name, client in clients.items():
            tape.sender = name
            client.close()
        counters = store.counters()
    moments = (start, start + timedelta(days=longest), start + timedelta(days=2 * longest))
    return Captured(
        asked,
        tuple(tape.exchanges),
        (*moments, datetime.now(UTC)),
        sum(count for (_, reason), count in counters.items() if reason == ACCEPTED),
        sum(count for (_, reason), count in counters.items() if reason == DUPLICATE),
    )


def _client(survey: Survey, directory: Path, address: str, clock: _Clock) -> Client:
    return Client(
        survey,
        directory,
        address,
        consent=Consent.GRANTED,
        strict=True,
        ceiling=1e6,
        clock=clock,
    )


def _answer(client: Client, place: int, record: bool) -> None:
    """Record every question three times, with changing values, and send the due reports."""
    for question in client.survey.questions if record else ():
        values = two_answers(question)
        for turn in range(3):
            try:
                client.record(question.id, values[(place + turn) % 2])
            except RecordRefused:
                continue  # answered in this epoch, or ever: as it should be
    for _ in range(4):
        if client.flush():
            return


class _Clock:
    """A clock that stands still until it is turned."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def __call__(self) -> datetime:
        return self._moment

    def forward(self, days: int) -> None:
        self._moment += timedelta(days=days)


NOTES = (
    "Six devices with different values over three epochs; every question is recorded three times "
    "per epoch. The first upload of a device is dropped, the second is lost after the collector "
    "took it.",
    "The operating system shows the collector an address, a time and a port with every connection: "
    "no client can prevent that. `deniable audit store` checks that the collector keeps none.",
    "A cohort is part of a record and permanent; `deniable audit attack` says what it gives away.",
)

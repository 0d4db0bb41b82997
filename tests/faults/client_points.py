"""Power cuts of the client: record, upload, its acknowledgement, opting out."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from deniable.client import Client, Consent, Request, Response
from deniable.errors import RecordRefused
from deniable.protocol.epochs import day_number
from faults.client_material import START, VALUES, Book, Clock, a_client, reports_of
from faults.outcome import Outcome
from faults.recording import Event, record

Key = tuple[str, int]
"""A question and an epoch of it."""

_LATER = timedelta(days=90)


def recorded(root: Path, rounds: int, careless: bool = False) -> list[Event]:
    """Return the writes and syncs of a client at work."""
    root.mkdir(parents=True)
    how = "careless" if careless else "careful"
    return record("faults.client_workload", root, str(rounds), how)


@dataclass
class Story:
    """What was promised to the app, and what the collector has seen, before the power cut."""

    recorded: set[Key] = field(default_factory=set)
    sent: dict[Key, tuple[str, str]] = field(default_factory=dict)
    permanent: set[str] = field(default_factory=set)
    wiped: set[Key] = field(default_factory=set)
    """What was recorded before an opting out: it may have destroyed them."""

    state: str = ""
    """The last of: enter (about to opt in), in, out (about to opt out), outside."""

    @classmethod
    def of(cls, said: tuple[str, ...]) -> Story:
        """Read the lines of the workload."""
        story = cls()
        for word, *more in (line.split() for line in said):
            if word == "recorded":
                story.recorded.add((more[0], int(more[1])))
            elif word == "sent":
                story.sent[more[0], int(more[1])] = (more[2], more[3])
                if more[0] == "same":
                    story.permanent.add(more[3])
            else:
                story.state = word
                if word == "out":  # the secret may be gone from here on
                    story.permanent.clear()
                    story.wiped |= story.recorded
        return story


class _Witness:
    """A collector that takes everything, and remembers it."""

    def __init__(self) -> None:
        self.seen: list[tuple[Key, tuple[str, str]]] = []

    def send(self, request: Request) -> Response:
        reports = reports_of(request.body or b"")
        for one in reports:
            text = one.as_json()
            self.seen.append(((one.question, one.epoch), (str(text["id"]), str(text["record"]))))
        receipt = {"accepted": len(reports), "duplicates": 0, "problems": []}
        return Response(200, {"content-type": "application/json"}, json.dumps(receipt).encode())


def check(place: Path, said: tuple[str, ...], outcome: Outcome) -> None:
    """Start a client on what was left, let it go on, and compare with what the world knows.

    What the collector has seen is in the ledger, and is never answered again by another report.
    What the app was promised is in the outbox or was seen. Permanent answers stay the same.
    After opting out there is neither secret nor outbox.
    """
    story, folder = Story.of(said), place / "state"
    outcome.acknowledged += len(story.recorded)
    clock, witness = Clock(START), _Witness()
    with a_client(folder, clock, transport=witness) as client:
        _check_consent(client, folder, story, outcome)
        if (folder / "client.sqlite3").exists():
            _check_book(Book(folder), story, outcome)
        else:
            outcome.lose(len(story.recorded | story.sent.keys()), "the database is not there")
        client.opt_in()
        _go_on(client, clock, story, outcome)
    _check_seen(witness, story, outcome)
    book = Book(folder)
    outcome.expect(not book.problem(), f"after going on: {book.problem()}")
    outcome.damage(None if book.damage == "ok" else book.damage)


def _check_consent(client: Client, folder: Path, story: Story, outcome: Outcome) -> None:
    consent = client.consent
    if story.state in ("in", "outside"):
        wanted = Consent.GRANTED if story.state == "in" else Consent.DENIED
        outcome.expect(consent is wanted, f"consent is {consent.value} after {story.state!r}")
    if consent is Consent.DENIED:
        outcome.expect(not (folder / "secret").exists(), "opted out, and the secret is there")
        outcome.expect(not client.pending(), "opted out, and reports wait")
    secret = folder / "secret"
    zeros = secret.exists() and not any(secret.read_bytes())
    outcome.expect(not zeros, "the secret is all zeros, which everybody knows")


def _check_book(book: Book, story: Story, outcome: Outcome) -> None:
    outcome.expect(not book.problem(), book.problem())
    unknown = (story.sent.keys() | story.recorded) - book.used
    outcome.lose(len(unknown), f"sent or recorded, and not in the ledger: {sorted(unknown)[:3]}")
    if story.state == "in":
        gone = story.recorded - story.sent.keys() - book.waiting.keys() - story.wiped
        outcome.lose(len(gone), f"recorded, and neither waiting nor sent: {sorted(gone)[:3]}")
    for key, (identity, kept) in book.waiting.items():
        text = (identity.hex(), base64.urlsafe_b64encode(kept).decode().rstrip("="))
        outcome.expect(story.sent.get(key, text) == text, f"{key} waits in another form")


def _go_on(client: Client, clock: Clock, story: Story, outcome: Outcome) -> None:
    """Record the first and the last days again, and a new one; what was answered is refused."""
    last = len({epoch for name, epoch in story.recorded if name == "fresh"})
    for day in sorted({0, last - 1, last, last + 1, _LATER.days} - {-1}):
        clock.moment = START + timedelta(days=day)
        for name, value in VALUES.items():
            try:
                client.record(name, value)
            except RecordRefused as refusal:
                outcome.expect(refusal.reason == "answered", f"refused as {refusal.reason}")
    clock.moment += timedelta(days=2)
    client.flush(5.0)


def _check_seen(witness: _Witness, story: Story, outcome: Outcome) -> None:
    known, permanent = dict(story.sent), set(story.permanent)
    for key, report in witness.seen:
        if key[0] == "same":
            permanent.add(report[1])
        outcome.double(known.setdefault(key, report) != report, f"{key} was answered again")
    if story.permanent:
        outcome.expect(len(permanent) == 1, f"{len(permanent)} different permanent answers")
    later = ("fresh", day_number(START + _LATER))
    outcome.expect(later in known, "a new report after the cut did not arrive")

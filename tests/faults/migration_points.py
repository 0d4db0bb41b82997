"""Power cuts of a client that opens a folder of the first version: its ledger is whole or whole."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from faults.client_material import Book
from faults.migration_workload import ADDED, V1, a_client
from faults.outcome import Outcome
from faults.recording import Event, record

_CLIENT = json.loads((V1 / "expected.json").read_text("utf-8"))["client"]
BEFORE = {
    name: (reports, answers, micros) for name, reports, answers, micros in _CLIENT["disclosed"]
}
"""What each question had disclosed: reports, answers, micros."""

WAITING = {str(report["id"]) for report in _CLIENT["waiting"]}
_MICROS = 1_000_000
"""The cost of what is recorded after the migration."""


def recorded(root: Path) -> list[Event]:
    """Return the writes and syncs of the migration, and of a report after it."""
    root.mkdir(parents=True)
    return record("faults.migration_workload", root)


def charges(folder: Path) -> dict[tuple[int, int], int]:
    """Return the micros by days, in whichever version's tables."""
    with closing(sqlite3.connect(folder / "client.sqlite3")) as connection:
        rows = connection.execute("SELECT first, last, micros FROM charges").fetchall()
    return {(first, last): micros for first, last, micros in rows}


def check(place: Path, said: tuple[str, ...], outcome: Outcome) -> None:
    """Open what was left, and compare every number with those of the fixtures."""
    if "copied" not in said:  # there is no client yet
        return
    folder = place / "state"
    with a_client(folder) as client:
        found = {q.question: (q.reports, q.answers, q.micros) for q in client.disclosed().questions}
        waiting = {report.id.hex() for report in client.pending()}
    reports, answers, micros = BEFORE[ADDED]
    after = {**BEFORE, ADDED: (reports + 1, answers + 1, micros + _MICROS)}
    outcome.expect(found in (BEFORE, after), f"disclosed {found}")
    outcome.lose("recorded" in said and found != after, "the report that was recorded")
    outcome.lose(len(WAITING - waiting), "reports that waited")
    days = charges(folder)
    for day, spent in charges(V1 / "client").items():
        outcome.expect(days.pop(day, 0) == spent, f"the charge of {day}")
    outcome.expect(sum(days.values()) == (found == after) * _MICROS, f"charges {days} more")
    book = Book(folder)
    outcome.expect(not book.problem(), book.problem())
    outcome.damage(None if book.damage == "ok" else book.damage)

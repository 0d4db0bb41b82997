"""What one statement says of the database is what the statements of each part say."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from deniable.client import consent, history, ledger, outbox
from deniable.client.database import MIGRATIONS
from deniable.client.ledger import Charge
from deniable.client.recorder import Standing, standing_of
from deniable.protocol import Question, Report
from material.clients import COLOURS, question

BASE = bytes(32)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        for step in MIGRATIONS:
            made.executescript(step.read_text("utf-8"))
        yield made


def one_by_one(
    connection: sqlite3.Connection, asked: Question, epoch: int, mark: bytes
) -> Standing:
    """The slow twin: each fact by a statement of its own."""

    def first(statement: str, *values: object) -> object:
        row = connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    name = f"{asked.id} {asked.level}" if asked.level else asked.id
    return Standing(
        first("SELECT value FROM meta WHERE name = 'consent'"),  # type: ignore[arg-type]
        int(bool(history.fetched_ones(connection, BASE))),
        first("SELECT digest FROM pins WHERE question = ? AND version = ?", name, asked.version),  # type: ignore[arg-type]
        int(history.is_used(connection, asked, epoch)),
        len(outbox.pending(connection)),
        sum(line.micros for line in ledger.disclosed(connection, 1.0).questions),
        int(ledger.is_known(connection, mark)),
    )


@pytest.mark.parametrize("repeat", ["epoch", "once"])
def test_all_facts_at_once(connection: sqlite3.Connection, repeat: str) -> None:
    mine = question("mine", COLOURS, repeat=repeat)
    other = question("other", COLOURS, repeat=repeat)
    newer = question("mine", COLOURS, repeat=repeat, version=2)
    epochs = (0,) if repeat == "once" else (4, 5)
    seen = set[Standing]()

    def same() -> None:
        for asked in (mine, other, newer):
            for epoch in epochs:
                for mark in (b"", bytes(16), asked.digest[:16]):
                    found = standing_of(connection, asked, epoch, mark)
                    assert found == one_by_one(connection, asked, epoch, mark)
                    seen.add(found)

    same()
    for number, asked in enumerate((mine, other, newer)):
        report = Report(asked.id, asked.version, asked.digest, epochs[0], bytes([number] * 16), b"")
        history.check_pin(connection, asked, None)
        same()
        history.mark_used(connection, asked, epochs[0])
        same()
        ledger.add(connection, asked, epochs[0], Charge(3 + number, 1))
        same()
        outbox.put(connection, asked, report, 7)
        same()
        ledger.mark_paid(connection, asked.digest[:16])
        same()
    connection.execute("INSERT INTO meta VALUES ('consent', 'granted')")
    same()
    history.check_versions(connection, other, frozenset(), BASE, frozenset())
    same()
    assert standing_of(connection, mine, epochs[0], b"")[:2] == (consent.Consent.GRANTED.value, 1)
    assert len(seen) > 12

"""A client's folder of the second schema is opened as it is, by this code and all later.

tests/fixtures/v2 has a client with a budget per window of days, which refused some values: its
sums are in one table. `fixtures/made_v2.py` made it, once. One of the first version becomes such a
folder, with the same sums under every budget.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from deniable.client import Client, Consent
from deniable.client.database import MIGRATIONS
from deniable.errors import RecordRefused
from deniable.protocol.windows import Span, Window
from fixtures import made_v2
from fixtures.looking import NOW, survey_of
from fixtures.made_v2 import LAST, facts, open_client

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
EXPECTED = json.loads((FIXTURES / "v2" / "expected.json").read_text("utf-8"))
WINDOWS = ((0.5, 1), (40.0, 1), (6.0, 7), (40.0, 14), (40.0, 15), (1_000.0, 400))


def copied(name: str, tmp_path: Path) -> Path:
    """A copy that may be written to, with the modes that the files had."""
    copy = tmp_path / name
    shutil.copytree(FIXTURES / name, copy)
    for path in copy.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return copy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied("v2", tmp_path)


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_the_client_says_what_it_said(folder: Path) -> None:
    assert facts(folder) == EXPECTED


def test_the_days_are_those_that_were_charged(folder: Path) -> None:
    path = folder / "client" / "client.sqlite3"
    assert rows(path, "PRAGMA user_version") == [(2,)]
    days = rows(path, "SELECT first, last, micros FROM charges")
    assert sum(row[2] for row in days) == sum(line[3] for line in EXPECTED["disclosed"])  # type: ignore[misc]
    assert len({row[1] - row[0] for row in days}) == 2  # type: ignore[operator]
    fullest = [
        Window.of(*window).fullest(Span(*row) for row in days)  # type: ignore[arg-type]
        for window in (made_v2.WINDOW, *made_v2.OTHERS)
    ]
    assert fullest == EXPECTED["fullest"]


def test_the_budget_goes_on_where_it_was(folder: Path) -> None:
    """What was refused is refused still; days later there is room, and the old days count."""

    def refusal(client: Client, name: str) -> str:
        try:
            client.record(name, made_v2.value_of(name, made_v2.DAYS - 1))
        except RecordRefused as caught:
            return caught.reason
        return ""

    moment = [LAST]

    def clock() -> datetime:
        return moment[0]

    with open_client(folder, clock) as client:
        before = client.disclosed()
        assert refusal(client, "dark") in ("window", "answered")
        moment[0] = LAST + timedelta(days=7)
        assert refusal(client, "dark") == ""
        after = client.disclosed()
    assert after.fullest >= before.fullest
    assert sum(q.micros for q in after.questions) == 10**6 + sum(q.micros for q in before.questions)
    assert sum(q.reports for q in after.questions) == 1 + sum(q.reports for q in before.questions)


def test_a_folder_of_the_first_version_says_the_same_under_every_budget(tmp_path: Path) -> None:
    folder = copied("v1", tmp_path)
    path = folder / "client" / "client.sqlite3"
    statements = ["SELECT * FROM ledger ORDER BY 1", "SELECT * FROM charges ORDER BY 1, 2"]
    before = [rows(path, statement) for statement in statements]
    assert rows(path, "PRAGMA user_version") == [(1,)]
    for window in WINDOWS:
        with Client(
            survey_of(folder),
            folder / "client",
            consent=Consent.GRANTED,
            window=window,
            strict=True,
            clock=lambda: NOW,
        ) as client:
            told = client.disclosed()
        lines = [(q.question, q.reports, q.answers, q.micros) for q in told.questions]
        assert lines == before[0]
        spans = [Span(*row) for row in before[1]]  # type: ignore[arg-type]
        assert told.fullest == Window.of(*window).fullest(spans)
    assert rows(path, "PRAGMA user_version") == [(len(MIGRATIONS),)]
    assert [rows(path, statement) for statement in statements] == before

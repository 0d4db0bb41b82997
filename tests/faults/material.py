"""Questions of several epoch lengths, and reports whose record holds their number."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from deniable.protocol import (
    Field,
    Question,
    RapporParameters,
    Report,
    Strings,
    Survey,
    batch_bytes,
)
from deniable.protocol.epochs import day_number, epoch_of
from deniable.store import Store

BITS = {"k": 64, "h": 2, "m": 1, "f": 0.5, "p": 0.5, "q": 0.75}
FIELD = Field("value", Strings(), RapporParameters.resolve(BITS, Strings(), False))
EXPIRES = date.today() + timedelta(days=4_000)
SIZE = 10
"""The bytes of a record: a cohort of 16 bits, which is 0, and a number of 64."""


def question(name: str, epoch: int) -> Question:
    """Return a question whose record has room for a number."""
    return Question(name, 1, "?", "team", EXPIRES, epoch, "epoch", "recorded", (FIELD,))


QUESTIONS = (question("daily", 1), question("weekly", 7), question("third", 3))
SURVEY = Survey("faults", "team", QUESTIONS)
OTHER_SURVEY = Survey("other", "team", (question("elsewhere", 1),))
EPOCH_DAYS = {(asked.id, asked.version): asked.epoch for asked in QUESTIONS}
TODAY = day_number()
"""One day for the whole run: a report that is sent again after midnight is still the same."""


def asked(number: int) -> Question:
    """Return the question that the report with this number answers."""
    return QUESTIONS[number % len(QUESTIONS)]


def report(number: int, day: int = TODAY) -> Report:
    """Return the report with this number about this day; the same one every time."""
    question = asked(number)
    record = b"\0\0" + number.to_bytes(8, "little")
    identity = number.to_bytes(16, "big")
    epoch = epoch_of(day, question.epoch)
    return Report(question.id, 1, question.digest, epoch, identity, record)


def reports(numbers: Iterable[int], day: int = TODAY) -> list[Report]:
    """Return the reports with these numbers about one day."""
    return [report(number, day) for number in numbers]


def body(numbers: Iterable[int], day: int = TODAY) -> bytes:
    """Return what a sender posts."""
    return batch_bytes(reports(numbers, day))


def numbers_in(store: Store) -> Counter[int]:
    """Return how often each number is readable in a store."""
    parts = [
        np.frombuffer(chunk.records, dtype=np.uint8).reshape(-1, SIZE)[:, 2:]
        for question in QUESTIONS
        for chunk in store.read(question.id)
    ]
    if not parts:
        return Counter()
    column = np.ascontiguousarray(np.concatenate(parts)).view("<u8").ravel()
    values, counts = np.unique(column, return_counts=True)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def damage_of(path: Path) -> str | None:
    """Return what SQLite's integrity check says of a file, None if it is sound."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            said = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.Error as error:
        return f"{path.name}: {error}"
    return None if said == [("ok",)] else f"{path.name}: {said[:2]}"

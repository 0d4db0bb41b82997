"""Questions of several epoch lengths, and reports whose record holds their number.

One question has segments and one has levels, so that batches are joined when epochs close, and a
report travels in every form that the wire has.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from deniable.authoring import resolve
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
from deniable.protocol.segments import Segment
from deniable.store import Batch, Store
from deniable.store.small import is_small

BITS = {"k": 64, "h": 2, "m": 1, "f": 0.5, "p": 0.5, "q": 0.75}
FIELD = Field("value", Strings(), resolve(RapporParameters, BITS, Strings(), False))
EXPIRES = date.today() + timedelta(days=4_000)
SIZE = 10
"""The bytes of a record: a cohort of 16 bits, which is 0, and a number of 64."""


FLOOR = 20
"""Combinations of a week's reports are below and above it."""
PLATFORM = Segment("platform", ("linux", "mac"))


def question(
    name: str, epoch: int, segments: tuple[Segment, ...] = (), level: str = ""
) -> Question:
    """Return a question whose record has room for a number."""
    asked = Question(name, 1, "?", "team", EXPIRES, epoch, "epoch", "recorded", (FIELD,))
    return replace(asked, segments=segments, level=level)


QUESTIONS = (
    question("daily", 1),
    question("weekly", 7, (PLATFORM,)),
    question("third", 3, level="strict"),
    question("third", 3, level="usual"),
)
SURVEY = Survey("faults", "team", QUESTIONS, people=10**6, floor=FLOOR)
RETENTION = {"weekly": 7, "third": 9}
"""Days, by question: shorter than late reports are taken for. Those to `daily` stay."""
SHORT_SURVEY = replace(
    SURVEY,
    questions=tuple(replace(q, retention_days=RETENTION.get(q.id)) for q in QUESTIONS),
)
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
    return Report(question.id, 1, question.digest, epoch, identity, record, combination(number))


def combination(number: int) -> str:
    """Return the segments of the report with this number; the last one is rare."""
    texts = asked(number).combinations
    return texts[-1 if number % 37 == 0 else (number // len(QUESTIONS)) % len(texts)]


def reports(numbers: Iterable[int], day: int = TODAY) -> list[Report]:
    """Return the reports with these numbers about one day."""
    return [report(number, day) for number in numbers]


def body(numbers: Iterable[int], day: int = TODAY) -> bytes:
    """Return what a sender posts."""
    return batch_bytes(reports(numbers, day))


def numbers_in(store: Store) -> Counter[int]:
    """Return how often each number is readable in a store."""
    found = Counter[int]()
    for _, numbers in _chunks(store):
        found.update(numbers)  # a sum of counters would copy all that was found for every chunk
    return found


def misplaced_in(store: Store) -> int:
    """Return how many reports lie under another question, level or combination than their own.

    Small combinations may have lost their name.
    """
    return sum(
        count
        for batch, numbers in _chunks(store)
        for number, count in numbers.items()
        if asked(number).digest != batch.digest
        or not (is_small(batch.segments) or batch.segments == combination(number))
    )


def _chunks(store: Store) -> Iterator[tuple[Batch, Counter[int]]]:
    """Yield the numbers of each chunk with its batch."""
    for name in dict.fromkeys(question.id for question in QUESTIONS):
        for chunk in store.read(name):
            rows = np.frombuffer(chunk.records, dtype=np.uint8).reshape(-1, SIZE)[:, 2:]
            column = np.ascontiguousarray(rows).view("<u8").ravel()
            yield chunk.batch, Counter(column.tolist())


def damage_of(path: Path) -> str | None:
    """Return what SQLite's integrity check says of a file, None if it is sound."""
    try:
        with closing(sqlite3.connect(path)) as connection:
            said = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.Error as error:
        return f"{path.name}: {error}"
    return None if said == [("ok",)] else f"{path.name}: {said[:2]}"
